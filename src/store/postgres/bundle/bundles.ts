/**
 * Jobs that were claimed many at a time are a bundle: the claim's row has their numbers, and none of them has a row in `lease`
 * until a heartbeat, a change or its end as a single job needs one, because most end without anything else having been heard of them.
 *
 * Modes of a job that was claimed in a bundle:
 *   bundled  neither in `claim.loose` nor in `past`. Its record is the fold of its birth and the claim, its lease ends when the
 *            claim says. Leaves by ending (`settle_bundles`), by going back to its lane (`put_back`), or by being given a lease (`loosen_from`).
 *   loose    in `claim.loose`: like any other job that has a lease, or had one.
 *   ended    in `past`, or gone back to its lane, with the end of its attempt there.
 * A claim is an open bundle while `low`, `high` and `open` are there; `open` is how many of its jobs are bundled at most.
 *
 * Invariant: nobody gives a job a lease that is just ending, nor ends one that is just given a lease. A statement that ends jobs of a bundle
 * shares its advisory lock, one that gives leases has it alone; and should that ever fail, `past` is unique by the revision that
 * a commit follows. A count that is too high is mended when the leases would end (`due`), one that is too low cannot be.
 *
 * Who may know of it: this folder; the claim that makes one; and, by asking for a lease first (`loosen` and its kin) or by reading
 * `owned`, everybody.
 */
import type { Job } from '../../../core/job.ts'

/**
 * So many untouched jobs, claimed at once, are a bundle: its own row costs fewer more than it saves. A database may have another
 * number (`alter database … set pawl_bundle.least = 1`), which is how tests have nothing but bundles.
 */
export const BUNDLE_FROM = 16

/** Of a job that was untouched when it was claimed: its birth is the first, the claim the second. */
const CLAIMED_REV = 2

/** Bundles remembered: more than one process has under way. */
const REMEMBERED = 1_000

/**
 * The bundles of this process, by the fence that all of their jobs have in common. A settle of such jobs says which bundle they are
 * in; where that was forgotten, or another process claimed them, they are given leases to end, which is dearer.
 */
export class Bundles {
  /** The oldest first. */
  readonly #claims = new Map<string, number>()

  remember(fence: string, claim: number): void {
    this.#claims.set(fence, claim)
    if (this.#claims.size <= REMEMBERED) return
    for (const oldest of this.#claims.keys()) {
      this.#claims.delete(oldest)
      return
    }
  }

  /** Jobs of this bundle have leases now: all of them are settled as leases from here on. */
  forget({ lease }: Job): void {
    if (lease !== undefined) this.#claims.delete(lease.fence)
  }

  /** A job of which more was heard than its birth and its claim has a lease of its own. */
  of({ lease, rev }: Job): number | undefined {
    return lease === undefined || rev > CLAIMED_REV ? undefined : this.#claims.get(lease.fence)
  }
}
