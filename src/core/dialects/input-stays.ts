/** What no document has a word for: an input that changes, and a job that is there because another has ended. */
import type { Forbidden } from './dialect.ts'

export const INPUT_STAYS: Forbidden = {
  field: 'dedupe.onDuplicate',
  asksFor: ({ onDuplicate }) => onDuplicate !== undefined,
  why: 'a job keeps the input that it was enqueued with; leave it at keep',
}
