/**
 * What a job type that is bound to a document may not do. A command the document does not know is refused; so is whatever
 * would need an entry in its log that nobody caused.
 *
 * What an owner notes down changes no status, so no document can mind it. And strictness never keeps a job from
 * ending: what time does to a job (stall, requeue, expire, a soft cancel that turns hard) is never refused, because
 * policies that would need such an entry are (`forbids`), and because core asks the document before it chooses
 * (`canTell`). Admission is not refused where the job type asked for it. That a claim after a closed attempt carries a
 * higher one (000) needs no check here: every claim does.
 */
import type { Command } from '../command.ts'
import type { Event, TransitionType } from '../event.ts'
import { isTerminal, type Job, type State } from '../job.ts'
import type { RefusalCode } from '../refusal.ts'
import type { CommandType } from '../verb.ts'
import { bondOf } from './bond.ts'
import type { Dialect, Reach } from './dialect.ts'
import { shownAs } from './path.ts'
import { reachOf } from './reach.ts'
import { DIALECTS } from './registry.ts'
import { tellsFrom, type Untold, untold, untoldMove } from './telling.ts'

export interface Prohibition {
  readonly code: RefusalCode
  readonly message: string
}

export function prohibitedCommand(job: Job, command: Command): Prohibition | undefined {
  const { policy } = job.spec.kind
  if (policy.dialect === undefined) return undefined
  const why = whyNot(DIALECTS[policy.dialect], job, command)
  if (why !== undefined) return forbids(job, why)
  if (bondOf(policy).exactRevision && command.expectedRev === undefined && command.type !== 'claim') {
    return {
      code: 'REV_REQUIRED',
      message: `Job ${job.id} is bound to document ${policy.dialect}: ${command.type} needs expectedRev.`,
    }
  }
  return undefined
}

/** The same of what a command has come to. */
export function prohibitedEvents(job: Job, { type }: Command, events: readonly Event[]): Prohibition | undefined {
  const { dialect } = job.spec.kind.policy
  if (dialect === undefined) return undefined
  const mute = untold(DIALECTS[dialect], job, events)
  return mute && forbids(job, noMove(type, mute))
}

const forbids = ({ id, spec }: Job, why: string): Prohibition => ({
  code: 'DIALECT_FORBIDS',
  message: `Job ${id} is bound to document ${spec.kind.policy.dialect}: ${why}`,
})

/** What time does to a job, during its life and long after, and what its owner notes down (undoing its steps included). */
export const EVERYWHERE: ReadonlySet<CommandType> = new Set([
  'stall',
  'requeue',
  'expire',
  'heartbeat',
  'progress',
  'checkpoint',
  'record',
  'compensated',
  'strip',
])

/** A job that waits to be admitted may be, whatever its document calls that. */
const ADMITTING: ReadonlySet<CommandType> = new Set(['admit', 'deny', 'askApproval', 'approve'])

/** Where the commands that are judged by the document's table lead, now or later. */
const TARGETS: Readonly<Partial<Record<CommandType, { readonly event: TransitionType; readonly state: State }>>> = {
  cancel: { event: 'cancelled', state: 'cancelled' },
  deadLetter: { event: 'dead_lettered', state: 'dead_lettered' },
  reopen: { event: 'reopened', state: 'queued' },
}

function whyNot(dialect: Dialect, job: Job, command: Command): string | undefined {
  const { type } = command
  const later = whatItLeadsTo(dialect, job, command)
  if (later !== undefined) return later
  if (type === 'cancel' && job.cancel !== undefined) return undefined
  return refusedAt(dialect, type, job.state, reachOf(job))
}

/** Why a command is refused of a job that has come so far, whatever it is said with; undefined where it is not. */
export function refusedAt(dialect: Dialect, type: CommandType, state: State, far: Reach): string | undefined {
  if (EVERYWHERE.has(type) || (ADMITTING.has(type) && state === 'pending')) return undefined
  const knows = dialect.knows[type]
  if (knows === undefined) return `it knows no ${type}.${INSTEAD[type] ?? ''}`
  const target = TARGETS[type]
  if (target === undefined || knows === 'always') return undefined
  // An ended job has a refusal of its own, which says more.
  if (isTerminal(state) && type !== 'reopen') return undefined
  const to = shownAs(dialect, target.state, type === 'reopen' ? 'new' : far)
  const mute = untoldMove(dialect, target.event, shownAs(dialect, state, far), to)
  return mute && noMove(type, mute)
}

/** What is said now and needs a move later, when nobody is there to be refused. */
function whatItLeadsTo(dialect: Dialect, job: Job, command: Command): string | undefined {
  if ((command.type === 'complete' || command.type === 'fail') && job.state === 'claimed') {
    return bondOf(job.spec.kind.policy).endsOnlyWhileRunning
      ? `it has no ${command.type} while claimed. Say start first.`
      : undefined
  }
  if (command.type === 'record' && command.step?.compensate === true) {
    return tellsFrom(dialect, 'compensating', 'running', 'queued')
      ? undefined
      : 'it has no way back by which steps could be undone.'
  }
  const endsByWaiting = command.type === 'wait' && command.onTimeout === 'timed_out' && dialect.knows.wait !== undefined
  return endsByWaiting && !tellsFrom(dialect, 'timed_out', 'waiting', 'timed_out')
    ? 'it has no move by which a wait ends the job. Let it resume, and fail then.'
    : undefined
}

/** What comes of a denial, which is judged by that and not by its word: a job that waits to be admitted may be denied. */
export function refusedDenial(dialect: Dialect, state: State): string | undefined {
  const denied = shownAs(dialect, 'denied', 'new')
  const from = shownAs(dialect, state, 'new')
  if (state !== 'pending' || !bondOf({ dialect: dialect.name }).deniesScheduledOnly)
    return muteDenial(untoldMove(dialect, 'denied', from, denied))
  const queued = shownAs(dialect, 'queued', 'new')
  return muteDenial(untoldMove(dialect, 'admitted', from, queued) ?? untoldMove(dialect, 'denied', queued, denied))
}

const muteDenial = (mute: Untold | undefined): string | undefined => mute && noMove('deny', mute)

const noMove = (type: CommandType, { from, to }: Untold): string =>
  `it has no ${type} while ${from}: nothing leads from there to ${to} but what nobody has done.${INSTEAD[type] ?? ''}`

const INSTEAD: Readonly<Partial<Record<CommandType, string>>> = {
  deadLetter: ' Say fail.',
  release: ' Let the lease expire.',
  reopen: ' Its endings are final: enqueue a new job.',
}
