/**
 * Business identity. At most one job holds a dedupe key (I12): while it lives, for a window from its enqueue, or for
 * ever, as its policy says. Which of its keys a job takes or gives up with a change is decided here, kept by stores.
 */
import { isTerminal, type Job, type Spec, type Time } from './job.ts'
import { askedOf } from './recast.ts'

export interface DedupeKey {
  readonly purpose: 'dedupe'
  /** Unique per tenant. The type's length keeps (type, key) pairs apart whatever characters they contain. */
  readonly key: string
  readonly until: Time | undefined
}

/** The key a job holds from its enqueue on. */
export function keyOf(job: Job): DedupeKey | undefined {
  const { dedupeKey, kind, createdAt } = askedOf(job)
  if (dedupeKey === undefined) return undefined
  const { dedupe } = kind.policy
  const until = typeof dedupe === 'number' ? createdAt + dedupe : undefined
  return { purpose: 'dedupe', key: `${kind.type.length}:${kind.type}:${dedupeKey}`, until }
}

export interface KeyChange {
  readonly give: readonly DedupeKey[]
  readonly take: readonly DedupeKey[]
}

const NONE: KeyChange = { give: [], take: [] }

/** Its key, if any, is free as soon as it has ended; others are held for a window from the enqueue, or for ever. */
export const isHeldForLife = ({ kind }: Spec): boolean => kind.policy.dedupe === 'live'

/** A job that ends gives up a key it held for its life only; a reopened one must get it back. */
export function keyChange(before: Job, after: Job): KeyChange {
  const ended = isTerminal(after.state)
  if (isTerminal(before.state) === ended || !isHeldForLife(after.spec)) return NONE
  const key = keyOf(after)
  if (key === undefined) return NONE
  return ended ? { give: [key], take: [] } : { give: [], take: [key] }
}
