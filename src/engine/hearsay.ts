/**
 * What flow keys hear only after the ends it is about. An end and what its key hears of it are one commit, as long as nobody else changes
 * the key between the look and the commit. Where others do so again and again (numbers that are set all the time, a hundred
 * processes under one key that is pushed back), the end goes first, because a job that has ended must not run into its lease's
 * end for its key's sake; its key hears of it right behind, all that has gathered in one change. Should the process die in
 * between, a signal is lost, and the next attempt gives another: a key lives by many.
 *
 * Invariant: `#underWay` is present exactly while something is being told; `#pending` has what has yet to be.
 */
import { decodeKey } from '../core/flow/document.ts'
import type { Heard } from '../core/flow/heard.ts'
import type { Log } from '../system/log.ts'
import { changeKey, type KeyWordParts } from './key-words.ts'

export interface HearsayParts extends KeyWordParts {
  readonly log: Log
}

interface Told {
  readonly tenant: string
  readonly heard: Heard
}

/** An end that has met so many others at its key goes before what the key hears of it. */
export const MET_AT_KEY = 5

export class Hearsay implements AsyncDisposable {
  readonly #parts: HearsayParts
  #pending: Told[] = []
  #underWay: Promise<void> | undefined

  constructor(parts: HearsayParts) {
    this.#parts = parts
  }

  /** An end was committed, and its key has not heard of it. */
  note(tenant: string, heard: Heard): void {
    this.#pending.push({ tenant, heard })
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

  async #tell(together: readonly Told[]): Promise<void> {
    const [{ tenant, heard }] = together as [Told]
    const { key } = heard
    const inputs = together.map((each) => each.heard.input)
    try {
      await changeKey(this.#parts, { tenant, key }, (view) => view && { document: decodeKey(key, view.text), inputs })
    } catch (error) {
      const fields = { key, tenant, attempts: inputs.length, reason: String(error) }
      this.#parts.log.warn('a key did not hear how attempts under it ended', fields)
    }
  }
}
