/** Calls of one turn as one: callers of the same turn share a script, and what it costs to call one. */
import type { Time } from '../../../core/job.ts'
import { lastly } from '../../../system/turn.ts'

export interface Answered<Each> {
  readonly now: Time
  readonly each: readonly Each[]
}

interface Waiting<Item, Each> {
  readonly items: readonly Item[]
  readonly resolve: (answer: Answered<Each>) => void
  readonly reject: (error: unknown) => void
}

export class Gathered<Item, Each> {
  readonly #send: (items: readonly Item[]) => Promise<Answered<Each>>
  /** Those of this turn. */
  #waiting: Waiting<Item, Each>[] = []

  constructor(send: (items: readonly Item[]) => Promise<Answered<Each>>) {
    this.#send = send
  }

  ask(items: readonly Item[]): Promise<Answered<Each>> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) lastly(() => void this.#flush())
      this.#waiting.push({ items, resolve, reject })
    })
  }

  async #flush(): Promise<void> {
    const all = this.#waiting
    this.#waiting = []
    try {
      const { now, each } = await this.#send(all.flatMap(({ items }) => items))
      let from = 0
      for (const { items, resolve } of all) {
        resolve({ now, each: each.slice(from, from + items.length) })
        from += items.length
      }
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }
}
