/** Every bound in one place. A value outside is refused by name; nothing is silently clamped. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

export interface Bound {
  readonly min: number
  readonly max: number
}

/** Far enough for any wait that is not a mistake, near enough that sums of times stay exact. */
export const MAX_DURATION_MS = 3_650 * DAY
export const MAX_TIME = 253_402_300_799_000
/** The one bound that shortens instead of refusing: a stranger's `Retry-After` must neither end a job nor put it off for ever. */
export const RETRY_AFTER_MAX_MS = DAY

export const DURATIONS = {
  leaseMs: { min: SECOND, max: DAY },
  heartbeatMs: { min: 100, max: 60 * MINUTE },
  attemptMs: { min: 1, max: 30 * DAY },
  deadlineMs: { min: 1, max: MAX_DURATION_MS },
  startWithinMs: { min: 1, max: MAX_DURATION_MS },
  parkAfterMs: { min: 0, max: MAX_DURATION_MS },
  cancelGraceMs: { min: 0, max: DAY },
  compensateWithinMs: { min: SECOND, max: 30 * DAY },
  dedupe: { min: 1, max: MAX_DURATION_MS },
  within: { min: 1, max: MAX_DURATION_MS },
  atMost: { min: 1, max: MAX_DURATION_MS },
  baseMs: { min: 1, max: DAY },
  maxMs: { min: 1, max: 30 * DAY },
} as const satisfies Record<string, Bound>

export const COUNTS = {
  maxAttempts: { min: 1, max: 10_000 },
  maxStalls: { min: 0, max: 10_000 },
  missedHeartbeats: { min: 1, max: 100 },
  factor: { min: 1, max: 100 },
  priority: { min: 0, max: 9 },
} as const satisfies Record<string, Bound>

/** What may be set for a flow key. */
export const LIMITS = {
  concurrency: { min: 1, max: 1_000_000 },
  /** Each claim within the window is counted whenever somebody waits. */
  rate: { min: 1, max: 10_000 },
  rateMs: { min: 1, max: DAY },
  amount: { min: 0, max: Number.MAX_SAFE_INTEGER },
  budgetMs: { min: SECOND, max: 366 * DAY },
  weight: { min: 0.001, max: 1_000 },
} as const satisfies Record<string, Bound>

/** Lengths in UTF-16 code units. */
export const LENGTHS = {
  id: 256,
  /** It acts as `worker:` and its id, which is an actor like any other. */
  worker: 256 - 'worker:'.length,
  name: 128,
  key: 512,
  pointer: 2_048,
  message: 2_000,
  entry: 512,
  /** What is told of an error besides its message: stacks and causes. */
  description: 262_144,
  /** Of a result that stands in a document's record; of a longer one there is a pointer. */
  shownResult: 65_536,
  /** Of a schedule's input: whoever looks after schedules reads all of them every second. */
  scheduleInput: 16_384,
} as const

export const SIZES = {
  inbox: 100,
  recent: 8,
  counters: 64,
  artifacts: 64,
  compensations: 64,
  labels: 8,
  /** What a job may ask of its worker: each set of them has a side lane of its own. */
  requires: 8,
  /** What a worker may tell that it can do. */
  capabilities: 64,
  env: 64,
  context: 16,
  errors: 256,
  /** Limits of one job, and codes that tell of what is behind their keys. */
  limits: 4,
  breaking: 64,
  /** Progress, checkpoints, steps, artifacts and stored signals of one job, whatever became of them. */
  observations: 100_000,
  /** Of one job: its checkpoint, memos and signals, in code units. Ten thousand steps have 13,000 each. */
  bodySize: 128 * 1024 * 1024,
} as const

/** How many a single request may name. */
export const AT_ONCE = {
  jobs: 1_000,
  words: 1_000,
  lanes: 1_000,
  queues: 100,
  types: 2_000,
  names: 100,
} as const

/** Allowance for a heartbeat that is on its way when the missed ones are counted. */
export const LEASE_MARGIN_MS = SECOND
