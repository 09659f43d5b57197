import { assert } from '../../../core/assert.ts'
import type { Kind } from '../../../core/job.ts'
import { kindOf, kindText } from '../../codec/kind.ts'
import type { Calls } from '../connection/calls.ts'
import { word } from '../connection/reply.ts'

/**
 * Kinds and their numbers, as this life of the server has given them: what siblings share is written once. A kind never changes;
 * after a server has come back with nothing, or another one in its place, all is asked again.
 */
export class Kinds {
  readonly #calls: Calls
  readonly #numbers = new Map<string, string>()
  readonly #kinds = new Map<string, Kind>()

  constructor(calls: Calls) {
    this.#calls = calls
  }

  forget(): void {
    this.#numbers.clear()
    this.#kinds.clear()
  }

  /** Gives numbers to those that have none yet; until then `numberOf` knows them all. */
  async intern(kinds: Iterable<Kind>): Promise<void> {
    const unknown = new Set<string>()
    for (const kind of kinds) {
      const text = kindText(kind)
      if (!this.#numbers.has(text)) unknown.add(text)
    }
    if (unknown.size === 0) return
    const texts = [...unknown]
    const [, ...numbers] = await this.#calls.call('intern', texts)
    for (const [i, text] of texts.entries()) this.#learn(word(numbers[i]), text)
  }

  numberOf(kind: Kind): string | undefined {
    return this.#numbers.get(kindText(kind))
  }

  /** Asks for those that are not known yet. */
  async learn(numbers: Iterable<string>): Promise<void> {
    const unknown = [...new Set(numbers)].filter((number) => !this.#kinds.has(number))
    if (unknown.length === 0) return
    const [, , ...texts] = await this.#calls.call('kinds', unknown)
    for (const [i, number] of unknown.entries()) {
      const text = texts[i]
      assert(typeof text === 'string', `kind ${number} is there`)
      this.#learn(number, text)
    }
  }

  get(number: string): Kind {
    const kind = this.#kinds.get(number)
    assert(kind !== undefined, `kind ${number} was asked for before it was used`)
    return kind
  }

  #learn(number: string, text: string): void {
    this.#numbers.set(text, number)
    if (!this.#kinds.has(number)) this.#kinds.set(number, kindOf(text))
  }
}
