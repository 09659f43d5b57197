/** What is said about the policies that a tenant has set. */
import { z } from 'zod'
import { membersOnly } from './collections.ts'
import { expectedRev } from './fields.ts'

/** Every rule of it is looked at by the handler, which says where it is broken. Room for its letters, each of them escaped. */
export const policyText = membersOnly({
  text: z.string().min(1).max(50_000).describe('YAML or JSON: `rules:` and `routes:` (docs/policy.md)'),
  rev: expectedRev.describe('refused unless this revision is replaced; 0: unless there is none'),
})

export const policyRemoval = membersOnly({
  rev: z.coerce.number().int().min(1).optional().describe('refused unless it is still at this revision'),
})
