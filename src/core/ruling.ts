import type { Enqueue } from './command.ts'
import type { RefusalCode } from './refusal.ts'

/** What a command's own rules say: nothing (the draft holds the events), a successor to enqueue, or why not. */
export type Ruling =
  | undefined
  | { readonly successor: Omit<Enqueue, 'id'> }
  | { readonly code: RefusalCode; readonly message: string; readonly retryAfterMs?: number }
