/** A message as those see it who do what it says, and what became of it. */
import type { Refusal } from '../core/refusal.ts'

export interface Spoken {
  readonly subject: string
  readonly text: string
  /** How often it has come, this time included. */
  readonly times: number
}

export type Outcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly refusal: Refusal; readonly jobId?: string | undefined }
