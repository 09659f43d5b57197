/** What reports read of jobs, as the fold writes it: the columns of the views, by no rule but what each text says. */

export interface ReportedJob {
  readonly id: number
  readonly tenant: string
  readonly queue: string
  readonly type: string
  readonly state: string
  readonly generation: number
  readonly attempt: number
  readonly rev: number
  readonly priority: number
  readonly createdAt: number
  readonly readyAt: number | undefined
  readonly worker: string | undefined
  readonly leaseExpiresAt: number | undefined
  /** Of a claim that the log does not tell yet. */
  readonly claimedAt: number | undefined
  readonly endedAt: number | undefined
  readonly correlation: string | undefined
  /** Where they are small; else they are in the image, under the key of its bodies. */
  readonly input: string | undefined
  readonly output: string | undefined
  readonly bodies: string | undefined
}

/** What one commit has told of a job. */
export interface ReportedStretch {
  readonly job: number
  readonly rev: number
  readonly at: number
  /** Of the claim that it tells. */
  readonly claimedAt: number | undefined
  /** The letters of its events, in order. */
  readonly letters: string
}

export interface Report {
  readonly jobs: readonly ReportedJob[]
  readonly stretches: readonly ReportedStretch[]
  /** Jobs of which nothing is left. */
  readonly purged: readonly number[]
  /** Jobs whose log was written again: what was told of them before is in it. */
  readonly rewritten: readonly number[]
  /** Jobs that have left the server, and jobs that have come back. */
  readonly evicted: readonly number[]
  readonly restored: readonly number[]
}
