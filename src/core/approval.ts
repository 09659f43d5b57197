/** What the admission of a job leaves in its record: the terms it was let in under, and what a person was asked before. */
import type { Time } from './job.ts'

/** Under which a job was let in, where those are narrower than its policy. */
export interface Terms {
  readonly attemptMs: number | undefined
  readonly maxAttempts: number | undefined
}

/** What a person is asked before a job is let in, and the answer. */
export interface Approval {
  readonly rule: string
  readonly policyHash: string
  /** Of what the job says: the answer is for that and for nothing else. */
  readonly jobHash: string
  /** Without an answer until then, the job is denied; with one, it must have been let in. */
  readonly expiresAt: Time
  /** Who may not answer: whoever enqueued the job, where the rule wants another pair of eyes. */
  readonly notBy: string | undefined
  /** Why it is asked. */
  readonly reason: string | undefined
  readonly given: { readonly by: string; readonly at: Time; readonly reason: string | undefined } | undefined
}
