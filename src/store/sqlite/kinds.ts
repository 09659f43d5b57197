import { assert } from '../../core/assert.ts'
import type { Kind } from '../../core/job.ts'
import { leaseWindowMs } from '../../core/timers.ts'
import { kindOf, kindText } from '../codec/kind.ts'
import { storable } from '../codec/text.ts'
import type { KindRef, KindRow } from './rows.ts'

/**
 * The main thread's kinds by number, as the writing and the reading thread have sent them, each with the first answer that
 * mentions it. A kind never changes, and its number is sent only once it is committed (`KindsToSend.forget`), so what is
 * known once stays true.
 */
export class Kinds {
  readonly #numbers = new Map<string, number>()
  readonly #kinds = new Map<number, Kind>()

  learn(known: readonly (readonly [number: number, text: string])[]): void {
    for (const [number, text] of known) {
      if (this.#kinds.has(number)) continue
      this.#numbers.set(text, number)
      this.#kinds.set(number, kindOf(text))
    }
  }

  get(number: number): Kind {
    const kind = this.#kinds.get(number)
    assert(kind !== undefined, `kind ${number} was told before it was used`)
    return kind
  }

  /** A kind's number, or its place in `unknown`, to which it is added. */
  reference(kind: Kind, unknown: KindRow[]): KindRef {
    const text = kindText(kind)
    const number = this.#numbers.get(text)
    if (number !== undefined) return number
    const place = unknown.findIndex(([known]) => known === text)
    if (place >= 0) return -place - 1
    const { tenant, queue, type, policy } = kind
    const names = [storable(tenant), storable(queue), storable(type)] as const
    return -unknown.push([text, ...names, leaseWindowMs(policy)])
  }
}
