import fc from 'fast-check'
import type { Policy } from '../../../src/core/policy.ts'
import { COMMANDS, type CommandType } from '../../../src/core/verb.ts'
import { policyOf } from '../../../src/store/conformance/policy.ts'

/** What one program does: fifty intents about two jobs that want the same key. */
export interface Program {
  readonly policy: Policy
  /** Still: the store's own clock rules. Else the program lives in the past and makes time pass as it likes. */
  readonly still: boolean
  readonly intents: readonly Intent[]
}

/** What is wanted. What it comes to depends on the state the job is in by then. */
export interface Intent {
  readonly verb: CommandType | 'sensible' | 'tick' | 'purge' | 'compact'
  readonly slot: 0 | 1
  /** Chooses among whatever there is to choose from. */
  readonly n: number
  readonly passMs: number
  readonly twist: Twist
}

/** `repeat`: an earlier request again; `reuse`: its id for something else; the others come from the wrong time. */
export type Twist = 'none' | 'repeat' | 'reuse' | 'stale fence' | 'stale rev' | 'late'

export const INTENTS = 50

const HOUR = 3_600_000
const of = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** Document 002's retry, under a policy that it can tell. */
const AS_NEW_JOB = {
  dialect: '002',
  idempotent: false,
  admission: true,
  deadlineMs: undefined,
  onStall: 'timed_out',
} as const satisfies Partial<Policy>

const policy: fc.Arbitrary<Policy> = fc
  .record({
    leaseMs: of(1_000, 60_000, 60_000, 24 * HOUR, 24 * HOUR),
    attemptMs: of(5_000, 24 * HOUR, 24 * HOUR),
    deadlineMs: of(undefined, undefined, 600_000),
    startWithinMs: of(undefined, undefined, 30_000),
    parkAfterMs: of(0, 60_000),
    cancelGraceMs: of(0, 10_000, HOUR),
    compensateWithinMs: of(60_000, 24 * HOUR),
    maxAttempts: of(1, 2, 3),
    maxStalls: of(0, 1, 2),
    budget: of<Policy['budget']>('separate', 'shared'),
    onExhausted: of<Policy['onExhausted']>('failed', 'dead_lettered'),
    onInvalid: of<Policy['onInvalid']>('failed', 'dead_lettered'),
    onAttemptTimeout: of<Policy['onAttemptTimeout']>('fail', 'timed_out'),
    onStall: of<Policy['onStall']>('requeue', 'requeue', 'retry', 'timed_out'),
    onNotStarted: of<Policy['onNotStarted']>('stalled', 'timed_out'),
    onWaitTimeout: of<Policy['onWaitTimeout']>('resume', 'timed_out'),
    admission: of(false, false, true),
    dedupe: of<Policy['dedupe']>('live', 'live', 'forever', 1, HOUR),
    asNewJob: of(false, false, false, true),
  })
  .map(({ asNewJob, ...rest }) => policyOf({ ...rest, ...(asNewJob && AS_NEW_JOB) }))

const intent: fc.Arbitrary<Intent> = fc.record({
  verb: fc.oneof(
    { weight: 20, arbitrary: of<Intent['verb']>('sensible') },
    { weight: 5, arbitrary: of<Intent['verb']>(...COMMANDS) },
    { weight: 2, arbitrary: of<Intent['verb']>('claim', 'start', 'heartbeat', 'tick') },
    { weight: 1, arbitrary: of<Intent['verb']>('purge', 'compact', 'tick') },
  ),
  slot: of<0 | 1>(0, 0, 1),
  n: fc.nat(999),
  passMs: of(0, 0, 0, 0, 10, 10, 500, 1_500, 20_000, 120_000),
  twist: fc.oneof(
    { weight: 16, arbitrary: of<Twist>('none') },
    { weight: 4, arbitrary: of<Twist>('repeat', 'reuse', 'stale fence', 'stale rev', 'late') },
  ),
})

export const program: fc.Arbitrary<Program> = fc.record({
  policy,
  still: fc.boolean(),
  intents: fc.array(intent, { minLength: INTENTS, maxLength: INTENTS, size: 'max' }),
})

export const programs = (count: number, seed: number): readonly Program[] =>
  fc.sample(program, { numRuns: count, seed })
