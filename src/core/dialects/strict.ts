/**
 * What a job type that is bound to a document may not do. A command the document does not know is refused; one it
 * knows only from some states is refused from the others.
 *
 * What an owner notes down changes no status, so no document can mind it. And strictness never keeps a job from
 * ending: what time does to a job (stall, requeue, expire, a soft cancel that turns hard) is never refused, and
 * admission is not where the job type asked for it. That a claim after a closed attempt carries a higher one (000)
 * needs no check here: every claim does.
 */
import type { Command } from '../command.ts'
import { isEnded, type Job, type State } from '../job.ts'
import type { Policy } from '../policy.ts'
import type { RefusalCode } from '../refusal.ts'
import type { CommandType } from '../verb.ts'
import type { Dialect } from './dialect.ts'
import { shownAs } from './path.ts'
import { DIALECTS } from './registry.ts'
import { statusOf } from './view.ts'

export interface StrictRefusal {
  readonly code: RefusalCode
  readonly message: string
}

export function dialectRefusal(job: Job, command: Command): StrictRefusal | undefined {
  const { dialect: name } = job.spec.kind.policy
  if (name === undefined) return undefined
  const dialect = DIALECTS[name]
  const forbidden = whyNot(dialect, job, command)
  if (forbidden !== undefined) {
    return { code: 'DIALECT_FORBIDS', message: `Job ${job.id} is bound to document ${name}: ${forbidden}` }
  }
  if (name === '001' && command.expectedRev === undefined && command.type !== 'claim') {
    return {
      code: 'REV_REQUIRED',
      message: `Job ${job.id} is bound to document 001: ${command.type} needs expectedRev.`,
    }
  }
  return undefined
}

/** Whether the owner of a job of this policy can hand it back, or has to do it or let its lease expire. */
export const isReturnable = ({ dialect }: Pick<Policy, 'dialect'>): boolean =>
  dialect === undefined || DIALECTS[dialect].knows.release !== undefined

/** What time does to a job, and what its owner notes down (undoing its steps included). */
export const EVERYWHERE: ReadonlySet<CommandType> = new Set([
  'stall',
  'requeue',
  'expire',
  'heartbeat',
  'progress',
  'checkpoint',
  'record',
  'compensated',
])

/** Where the commands that are judged by the document's table lead. */
const TARGETS: Readonly<Partial<Record<CommandType, State>>> = {
  cancel: 'cancelled',
  deadLetter: 'dead_lettered',
  reopen: 'queued',
}

function whyNot(dialect: Dialect, job: Job, command: Command): string | undefined {
  const { type } = command
  if (EVERYWHERE.has(type)) return undefined
  if ((type === 'admit' || type === 'deny') && job.state === 'pending') return undefined
  if (type === 'cancel' && job.cancel !== undefined) return undefined
  const knows = dialect.knows[type]
  if (knows === undefined) return `it knows no ${type}.${INSTEAD[type] ?? ''}`
  const target = TARGETS[type]
  if (target === undefined || knows === 'always') return undefined
  // An ended job has a refusal of its own, which says more.
  if (isEnded(job) && type !== 'reopen') return undefined
  const from = statusOf(job, dialect)
  const to = shownAs(dialect, target, 'new')
  return dialect.table.some((row) => row.from === from && row.to === to)
    ? undefined
    : `it has no ${type} while ${from}.${INSTEAD[type] ?? ''}`
}

const INSTEAD: Readonly<Partial<Record<CommandType, string>>> = {
  deadLetter: ' Say fail.',
  release: ' Let the lease expire.',
  reopen: ' Its endings are final: enqueue a new job.',
}
