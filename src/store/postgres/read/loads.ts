/**
 * Loads that come together are read together: of a hundred jobs that go on at once, or are signalled at once, each asks for itself, and
 * a statement for each costs the server more than what it finds. A load that comes while a batch is read rides in the next one, so that
 * nobody is answered with what was read before it asked. What may take long (logs, checks) is read by itself.
 */
import type { Time } from '../../../core/job.ts'
import type { Loaded, LoadItem } from '../../store.ts'
import { Batcher } from '../batch/batcher.ts'
import { mayBreakUp } from '../batch/broken-up.ts'
import { type Found, type LoadParts, load } from './load.ts'

type Answer = { readonly found: Loaded | undefined; readonly now: Time | undefined } | { readonly error: unknown }

export class Loads {
  readonly #parts: LoadParts
  readonly #batcher: Batcher<LoadItem, Answer>

  constructor(parts: LoadParts) {
    this.#parts = parts
    const run = (items: readonly LoadItem[]) => this.#together(items)
    // A load of more than a batch is not refused for that: nothing is kept of it but the question.
    this.#batcher = new Batcher({ run, sizeOf: () => 1, atOnce: 2, maxWaiting: Infinity })
  }

  async load(items: readonly LoadItem[]): Promise<Found> {
    if (items.some(mayTakeLong)) return load(this.#parts, items)
    const found: (Loaded | undefined)[] = []
    let latest: Time | undefined
    for (const answer of await this.#batcher.add(items)) {
      if ('error' in answer) throw answer.error
      found.push(answer.found)
      if (answer.now !== undefined) latest = Math.max(latest ?? 0, answer.now)
    }
    return { items: found, now: latest }
  }

  close(): Promise<void> {
    return this.#batcher.close()
  }

  /** A load that cannot be read fails alone: those it came with are answered. */
  async #together(items: readonly LoadItem[]): Promise<readonly Answer[]> {
    try {
      const { items: found, now } = await load(this.#parts, items)
      return found.map((each) => ({ found: each, now }))
    } catch (error) {
      if (items.length === 1 || !mayBreakUp(error)) throw error
    }
    const answers: Answer[] = []
    for (const item of items) answers.push(...(await this.#together([item]).catch((error: unknown) => [{ error }])))
    return answers
  }
}

const mayTakeLong = ({ log, check }: LoadItem): boolean => log !== undefined || check === true
