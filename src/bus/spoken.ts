/** A message as those see it who do what it says, and what became of it. */
import type { Refused } from './messages.ts'

export interface Spoken {
  readonly subject: string
  readonly text: string
}

export type Outcome = { readonly ok: true } | Refused
