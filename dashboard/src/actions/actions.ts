/** What may be done to a job: the words there are for people, whether the table allows them now, and who may say them. */
import { serverNow } from '../api/http.ts'
import type { Rules } from '../api/queries.ts'
import type { Session } from '../api/session.tsx'
import { approvalAmiss, type Job, type RefusedCells } from '../api/wire.ts'
import { reachOf } from '../words/told.ts'

export interface ActionSpec {
  /** The command of the table. */
  readonly command: string
  /** The word of the route: `POST /v1/jobs/{id}/{word}`. */
  readonly word: string
  readonly text: string
  /** Asked before it is done. */
  readonly asks: boolean
  /** On the page of a job. */
  readonly key?: string
  /** What it is said with, whatever else is asked. */
  readonly bodyOf?: (job: Job) => Readonly<Record<string, unknown>>
}

/** An approval names what was looked at, so that nobody approves what they did not see. */
function namedIn({ approval }: Job): Readonly<Record<string, unknown>> {
  return { policyHash: approval?.policyHash, jobHash: approval?.jobHash }
}

export const ACTIONS: readonly ActionSpec[] = [
  { command: 'approve', word: 'approve', text: 'Approve', asks: false, key: 'a', bodyOf: namedIn },
  { command: 'admit', word: 'admit', text: 'Admit', asks: false, key: 'a' },
  { command: 'deny', word: 'deny', text: 'Deny…', asks: true, key: 'd' },
  { command: 'cancel', word: 'cancel', text: 'Cancel…', asks: true, key: 'c' },
  { command: 'signal', word: 'signal', text: 'Signal…', asks: true, key: 's' },
  { command: 'reschedule', word: 'reschedule', text: 'Run now', asks: false, key: '!', bodyOf: () => ({ delay: 0 }) },
  { command: 'reopen', word: 'reopen', text: 'Reopen', asks: false, key: 'r' },
  { command: 'deadLetter', word: 'deadletter', text: 'Dead letter…', asks: true },
]

export interface Action extends ActionSpec {
  /** Why it cannot be done now; undefined where it can. */
  readonly forbidden: string | undefined
}

export function actionsFor(job: Job, rules: Rules, session: Session): readonly Action[] {
  return ACTIONS.map((spec) => ({ ...spec, forbidden: forbiddenBy(spec, job, rules, session) }))
}

export function forbiddenBy(
  { command, word }: ActionSpec,
  job: Job,
  { machine, forbids }: Rules,
  session: Session,
): string | undefined {
  const cells = machine.commands[command]
  if (cells?.[job.state] === undefined) {
    const from = machine.states.filter((state) => cells?.[state] !== undefined)
    return `Not from ${job.state}. ${command} works on ${listed(from)} jobs. (ILLEGAL_TRANSITION)`
  }
  // Who has been asked to stop may be asked again.
  const isRepeated = command === 'cancel' && job.cancel !== undefined
  const byDocument =
    job.dialect === undefined || isRepeated ? undefined : refusedIn(forbids.get(job.dialect)?.[command], job)
  if (byDocument !== undefined) return `Bound to document ${job.dialect}: ${byDocument} (DIALECT_FORBIDS)`
  if (!session.can(`${word}Job`))
    return `Your token is of scope ${session.scope}, which may not ${word}. Ask an operator.`
  if (job.isBehind === true && LETS_IN.has(command))
    return 'A duplicate has brought another input, which is on its way: look at it first.'
  return command === 'approve' ? unapprovable(job, session) : undefined
}

/** What is said of a job for what it carries. */
const LETS_IN: ReadonlySet<string> = new Set(['approve', 'admit'])

/** In which state it is, and how far it has come: what a document refuses depends on nothing else that a page knows. */
function refusedIn(cells: RefusedCells | undefined, job: Job): string | undefined {
  if (cells === undefined || typeof cells === 'string') return cells
  return cells[job.state]?.[reachOf(job)]
}

/** Whether a person is asked about it, and has not answered. */
export const isAskedAbout = ({ approval }: Job): boolean => approval !== undefined && approval.given === undefined

/** The engine's own rule, asked before it is said: four eyes, and the time there is. */
function unapprovable({ id, approval, newer }: Job, { actor }: Session): string | undefined {
  const asked = approval && {
    ...approval,
    expiresAt: Date.parse(approval.expiresAt),
    notBy: approval.notBy,
    reason: approval.reason,
    given: approval.given && {
      by: approval.given.by,
      at: Date.parse(approval.given.at),
      reason: approval.given.reason,
    },
  }
  const { policyHash = '', jobHash = '' } = approval ?? {}
  return approvalAmiss({ id, approval: asked, newer }, { actor, policyHash, jobHash }, serverNow())
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
