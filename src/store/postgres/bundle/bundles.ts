/**
 * The claims of this process whose jobs have no leases of their own (`schema/0001_tables.sql`), by the fence all of their
 * jobs have in common. Whoever ends such jobs says which claim they are from; where that was forgotten, or somebody else
 * claimed them, the database finds it out, which is dearer.
 */
import type { Job } from '../../../core/job.ts'

/**
 * So many untouched jobs, claimed at once, are a bundle: its own row costs fewer more than it saves. A database may have another
 * number (`alter database … set pawl_bundle.least = 1`), which is how tests have nothing but bundles.
 */
export const BUNDLE_FROM = 16

/** More than a process has under way. */
const REMEMBERED = 1_000

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

  /** They have leases now. */
  forget({ lease }: Job): void {
    if (lease !== undefined) this.#claims.delete(lease.fence)
  }

  of({ lease }: Job): number | undefined {
    return lease === undefined ? undefined : this.#claims.get(lease.fence)
  }
}
