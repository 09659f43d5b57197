/** How much of everything. Ratios are what counts; `quick` finds them with less certainty. */
export interface Size {
  readonly rounds: number
  readonly jobs: number
  readonly singlesMs: number
  readonly togetherMs: number
  readonly latencyMs: number
  /** Finished, delayed, parked or queued jobs to drain beside. */
  readonly beside: number
  readonly running: number
  readonly heartbeatsMs: number
  /** No cell takes longer. */
  readonly cellMs: number
}

export const FULL: Size = {
  rounds: 3,
  jobs: 100_000,
  singlesMs: 5_000,
  togetherMs: 30_000,
  latencyMs: 15_000,
  beside: 1_000_000,
  running: 10_000,
  heartbeatsMs: 40_000,
  cellMs: 60_000,
}

export const QUICK: Size = {
  ...FULL,
  jobs: 30_000,
  singlesMs: 1_500,
  togetherMs: 4_000,
  latencyMs: 4_000,
  beside: 50_000,
  heartbeatsMs: 12_000,
}

/** To see that everything runs; the figures mean nothing. */
export const TINY: Size = {
  ...QUICK,
  rounds: 1,
  jobs: 2_000,
  singlesMs: 300,
  togetherMs: 1_000,
  latencyMs: 1_000,
  beside: 2_000,
  running: 200,
  heartbeatsMs: 2_000,
}
