/** What may be done to a job: the words there are for people, whether the table allows them now, and who may say them. */
import type { Session } from '../api/session.tsx'
import type { Job, Machine } from '../api/wire.ts'

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
  /** What it is said with, where nothing is asked. */
  readonly body?: Readonly<Record<string, unknown>>
}

export const ACTIONS: readonly ActionSpec[] = [
  { command: 'admit', word: 'admit', text: 'Admit', asks: false, key: 'a' },
  { command: 'deny', word: 'deny', text: 'Deny…', asks: true, key: 'd' },
  { command: 'cancel', word: 'cancel', text: 'Cancel…', asks: true, key: 'c' },
  { command: 'signal', word: 'signal', text: 'Signal…', asks: true, key: 's' },
  { command: 'reschedule', word: 'reschedule', text: 'Run now', asks: false, key: '!', body: { delay: 0 } },
  { command: 'reopen', word: 'reopen', text: 'Reopen', asks: false, key: 'r' },
  { command: 'deadLetter', word: 'deadletter', text: 'Dead letter…', asks: true },
]

export interface Action extends ActionSpec {
  /** Why it cannot be done now; undefined where it can. */
  readonly forbidden: string | undefined
}

export function actionsFor(job: Job, machine: Machine, session: Session): readonly Action[] {
  return ACTIONS.map((spec) => ({ ...spec, forbidden: forbiddenBy(spec, job, machine, session) }))
}

export function forbiddenBy(
  { command, word }: ActionSpec,
  job: Pick<Job, 'state'>,
  machine: Machine,
  session: Session,
): string | undefined {
  const cells = machine.commands[command]
  if (cells?.[job.state] === undefined) {
    const from = machine.states.filter((state) => cells?.[state] !== undefined)
    return `Not from ${job.state}. ${command} works on ${listed(from)} jobs. (ILLEGAL_TRANSITION)`
  }
  if (!session.can(`${word}Job`))
    return `Your token is of scope ${session.scope}, which may not ${word}. Ask an operator.`
  return undefined
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
