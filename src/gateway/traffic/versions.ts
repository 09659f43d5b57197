/**
 * Versions that workers say they are of, and since when each has been there: one that is seen for the first time is a deployment. Of those
 * that were there before anybody looked nobody knows since when, and no deployment is told.
 */
import type { Time } from '../../core/job.ts'

export interface Deploy {
  readonly version: string
  readonly at: Time
}

/** As it is written down; no time where it was there before anybody looked. */
export type PackedVersions = readonly (readonly [version: string, at: number | null])[]

/** Of a tenant, the newest: one that comes back after as many others is taken for new, which is a mark too many and nothing else. */
const VERSIONS_MOST = 100

export class Versions {
  readonly #since = new Map<string, Time | null>()

  static from(packed: PackedVersions): Versions {
    const versions = new Versions()
    for (const [version, at] of packed) versions.see(version, at)
    return versions
  }

  packed(): PackedVersions {
    return [...this.#since]
  }

  /** Whether it is new. */
  see(version: string, at: Time | null): boolean {
    if (this.#since.has(version)) return false
    this.#since.set(version, at)
    if (this.#since.size > VERSIONS_MOST) this.#since.delete(this.#since.keys().next().value as string)
    return true
  }

  /** Oldest first. */
  since(from: Time): readonly Deploy[] {
    return [...this.#since].flatMap(([version, at]) => (at === null || at < from ? [] : [{ version, at }]))
  }
}
