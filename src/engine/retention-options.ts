/** What can be said about how long ended jobs are kept, and what is beside them. */
import { Checker } from '../core/checker.ts'
import type { TerminalState } from '../core/job.ts'
import { MAX_DURATION_MS } from '../core/limits.ts'
import { statesBefore } from '../core/transitions.ts'

const DAY = 24 * 60 * 60 * 1_000

export const RETENTION_DEFAULTS = {
  everyMs: 60_000,
  batch: 500,
  succeededMs: 7 * DAY,
  /** Every other ending. */
  endedMs: 30 * DAY,
  compact: true,
  verboseMs: 0,
} as const

export interface RetentionOptions {
  /**
   * Milliseconds between two rounds.
   * @default 60000
   */
  readonly everyMs?: number | undefined
  /**
   * Jobs removed in one commit at most.
   * @default 500
   */
  readonly batch?: number | undefined
  /**
   * How long a job that succeeded is kept, in milliseconds from its end.
   * @default 604800000; jobs bound to document 004 are kept until this is given
   */
  readonly succeededMs?: number | undefined
  /**
   * How long a job that ended in any other way is kept, in milliseconds from its end.
   * @default 2592000000; jobs bound to document 004 are kept until this is given
   */
  readonly endedMs?: number | undefined
  /**
   * Whether the logs of jobs that have ended are shortened: heartbeats and progress become one entry.
   * @default true; not those of jobs bound to document 004 until this or how long to keep them is given
   */
  readonly compact?: boolean | undefined
  /**
   * How long after the end of a job its log is kept in full: what is verbose in it (progress, checkpoints, records of steps)
   * is told one by one until then, and from then on as what it came to. Transitions, signals, cancels and what `ctx.record`
   * noted stay as long as the job; logs of fewer than 20 revisions are not worth shortening.
   * @default 0: logs are shortened in the first round after the end
   */
  readonly verboseMs?: number | undefined
  /**
   * The same for single job types, by name.
   * @default none: `verboseMs` holds for all
   */
  readonly verboseMsByType?: Readonly<Record<string, number>> | undefined
  /**
   * How long after the end of a job its bodies are kept: its input and output, memos of steps, the checkpoint, what signals
   * brought, stacks of errors. Up to a tenth later they are removed; the job and its log stay, and say so (`strippedAt`,
   * `stripped`). Jobs that could be reopened keep theirs, unless their state is in `bodiesEvenOf`; so do those whose parent has not ended.
   * @default none: bodies are kept as long as their jobs
   */
  readonly bodiesMs?: number | undefined
  /**
   * The same for single job types, by name.
   * @default none: `bodiesMs` holds for all
   */
  readonly bodiesMsByType?: Readonly<Record<string, number>> | undefined
  /**
   * States, by name, whose jobs lose their bodies although they could be reopened, and cannot be afterwards: `failed`, `dead_lettered`,
   * `timed_out`, `cancelled`.
   * @default none: what can be redriven keeps what it needs for that
   */
  readonly bodiesEvenOf?: readonly TerminalState[] | undefined
}

const SETTINGS: Readonly<Record<keyof RetentionOptions, (c: Checker, field: string, value: unknown) => void>> = {
  everyMs: (c, field, value) => c.whole(field, value, 1, MAX_DURATION_MS),
  batch: (c, field, value) => c.whole(field, value, 1, MOST_AT_ONCE),
  succeededMs: (c, field, value) => c.durationMs(field, value),
  endedMs: (c, field, value) => c.durationMs(field, value),
  compact: (c, field, value) => c.flag(field, value),
  verboseMs: (c, field, value) => c.durationMs(field, value),
  verboseMsByType: (c, field, value) => agesByType(c, field, value),
  bodiesMs: (c, field, value) => c.durationMs(field, value),
  bodiesMsByType: (c, field, value) => agesByType(c, field, value),
  bodiesEvenOf: (c, field, value) => {
    if (!Array.isArray(value)) return c.fail(field, 'must be a list of states')
    for (const [i, state] of value.entries()) c.oneOf(`${field}[${i}]`, state, statesBefore('reopen'))
  },
}

const MOST_AT_ONCE = 100_000
/** Each age is a walk of its own. */
const MOST_TYPES = 1_000

const agesByType = (c: Checker, field: string, value: unknown): void =>
  c.table(field, value, MOST_TYPES, (name, age) => c.durationMs(name, age))

/** What is removed is gone: a setting that means nothing is refused before anything begins, and so is a name that nobody knows. */
export function demandRetention(options: RetentionOptions | false = {}): void {
  const checker = new Checker()
  for (const [name, value] of Object.entries(options || {})) {
    const check = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof RetentionOptions] : undefined
    if (check === undefined) checker.fail(`retention.${name}`, `is none of ${Object.keys(SETTINGS).join(', ')}`)
    else if (value !== undefined) check(checker, `retention.${name}`, value)
  }
  const [first] = checker.found
  if (first !== undefined) throw new TypeError(`${first.field} ${first.rule}`)
}
