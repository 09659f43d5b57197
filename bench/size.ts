/** How much of everything. Ratios are what counts; `quick` finds them with less certainty. */
export interface Size {
  readonly rounds: number
  /**
   * Jobs that a process has enqueued or handled before anything is counted. Node compiles what is hot on threads of its
   * own, which on two cores takes from everybody: pawl drained 35,000/s in its first second and 55,000/s after it.
   */
  readonly warm: number
  /** Jobs that count. */
  readonly jobs: number
  /** The same where time is what is given, not jobs. */
  readonly warmMs: number
  readonly singlesMs: number
  readonly togetherMs: number
  readonly latencyMs: number
  /** Finished, delayed, parked or queued jobs to drain beside. */
  readonly beside: number
  readonly running: number
  readonly heartbeatsMs: number
  /** Of a long job. */
  readonly steps: number
  /** Workers, and queues each of a tenant of its own, where there are many. */
  readonly claimers: number
  readonly queues: number
  readonly idleMs: number
  /** No fewer jobs than this, however slow a contender is. */
  readonly least: number
  /** No cell takes longer. */
  readonly cellMs: number
}

export const FULL: Size = {
  rounds: 3,
  warm: 100_000,
  jobs: 200_000,
  warmMs: 3_000,
  singlesMs: 4_000,
  togetherMs: 30_000,
  latencyMs: 10_000,
  beside: 1_000_000,
  running: 10_000,
  heartbeatsMs: 30_000,
  steps: 10_000,
  claimers: 100,
  queues: 1_000,
  idleMs: 30_000,
  least: 500,
  cellMs: 60_000,
}

export const QUICK: Size = {
  ...FULL,
  jobs: 100_000,
  warmMs: 2_000,
  singlesMs: 1_000,
  togetherMs: 4_000,
  latencyMs: 4_000,
  beside: 100_000,
  heartbeatsMs: 12_000,
  idleMs: 15_000,
}

/** To see that everything runs; the figures mean nothing. */
export const TINY: Size = {
  ...QUICK,
  rounds: 1,
  warm: 1_000,
  jobs: 2_000,
  warmMs: 300,
  singlesMs: 300,
  togetherMs: 1_000,
  latencyMs: 1_000,
  beside: 2_000,
  running: 200,
  heartbeatsMs: 2_000,
  steps: 100,
  claimers: 8,
  queues: 20,
  idleMs: 1_000,
}
