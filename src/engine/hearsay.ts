/**
 * What flow keys hear only after the ends it is about. An end and what its key hears of it are one commit, as long as nobody else changes
 * the key between the look and the commit. Where others do so again and again (numbers that are set all the time, a hundred
 * processes under one key that is pushed back), the end goes first, because a job that has ended must not run into its lease's
 * end for its key's sake; its key hears of it right behind, all that has gathered in one change. What it is owed is noted before
 * (`owed.ts`): should the process die in between, another tells it.
 *
 * Invariant: `#underWay` is present exactly while something is being told; `#pending` has what has yet to be.
 */
import type { Heard } from '../core/flow/heard.ts'
import type { Log } from '../system/log.ts'
import { announce, type Ended, type OwedParts, tell } from './owed.ts'
import type { Segment } from './segment.ts'

export interface HearsayParts extends OwedParts {
  readonly log: Log
}

/** An end that has met so many others at its key goes before what the key hears of it. */
export const MET_AT_KEY = 5

export class Hearsay implements AsyncDisposable {
  readonly #parts: HearsayParts
  #pending: Ended[] = []
  #underWay: Promise<void> | undefined

  constructor(parts: HearsayParts) {
    this.#parts = parts
  }

  /** Ends are about to be committed of which their keys hear behind. */
  async announce(ends: readonly { readonly segment: Pick<Segment, 'before' | 'heard'> }[]): Promise<void> {
    const owing = ends.flatMap(({ segment: { before, heard } }) =>
      heard === undefined ? [] : [{ tenant: before.spec.kind.tenant, heard }],
    )
    if (owing.length > 0) await announce(this.#parts, owing)
  }

  /** An end was committed, and its key has not heard of it. */
  note(tenant: string, heard: Heard): void {
    this.#pending.push({ tenant, heard, endedAt: this.#parts.now() })
    this.#underWay ??= this.#tellAll()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#underWay
  }

  async #tellAll(): Promise<void> {
    // After the commit under way was judged: what it leaves is told together.
    await Promise.resolve()
    while (this.#pending.length > 0) {
      const all = this.#pending
      this.#pending = []
      const byKey = Map.groupBy(all, ({ tenant, heard }) => JSON.stringify([tenant, heard.key]))
      for (const together of byKey.values()) await this.#tell(together)
    }
    this.#underWay = undefined
  }

  async #tell(together: readonly Ended[]): Promise<void> {
    const [{ tenant, heard }] = together as [Ended]
    try {
      await tell(this.#parts, together)
    } catch (error) {
      const fields = { key: heard.key, tenant, attempts: together.length, reason: String(error) }
      this.#parts.log.warn('a key did not hear yet how attempts under it ended', fields)
    }
  }
}
