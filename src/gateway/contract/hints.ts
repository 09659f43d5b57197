/** What `GET /hints` tells, frame by frame: where to look, and never what is to be seen there. */
export interface HintFrame {
  /** The tenant that all of it is about. */
  readonly tenant: string
  /** Queues that there may be work in. */
  readonly work: readonly string[]
  /** Jobs with news, by queue: they have ended, or are not their owner's as they were. */
  readonly jobs: Readonly<Record<string, readonly string[]>>
  /** Hints may have been lost. */
  readonly anything: boolean
}
