/** A key and what happens to it: every step is folded again and judged by the invariants, so each test proves more than it names. */
import { expect } from 'vitest'
import { decideKey } from '../../../src/core/flow/decide.ts'
import type { KeyEvent } from '../../../src/core/flow/event.ts'
import { evolveKey } from '../../../src/core/flow/evolve.ts'
import { keyBreaches } from '../../../src/core/flow/invariants.ts'
import {
  atRest,
  type KeyCause,
  type KeyRecord,
  type KeyState,
  keyStateAt,
  type Limit,
} from '../../../src/core/flow/key.ts'
import type { KeyInput, Signal } from '../../../src/core/flow/signal.ts'

export const T0 = 1_000_000
export const CAUSE: KeyCause = { job: 'pj_1', attempt: 2, code: 'captcha', actor: 'worker:w', requestId: 'r1' }

export class KeyLife {
  key: KeyRecord = atRest('example.com')
  now = T0
  limit: Limit
  taken = 0
  readonly events: KeyEvent[] = []

  constructor(limit: Limit = { concurrency: 8 }) {
    this.limit = limit
  }

  get state(): KeyState {
    return keyStateAt(this.key, this.now)
  }

  after(ms: number): this {
    this.now += ms
    return this
  }

  /** The signal of an attempt that was claimed now, or earlier. */
  hears(signal: Signal, claimedAt: number = this.now): this {
    return this.#take({ ...signal, claimedAt, cause: CAUSE }, claimedAt)
  }

  /** Somebody sets its limit, and what it was before is known. */
  sets(limit: Limit): this {
    const limitBefore = this.limit
    this.limit = limit
    return this.#take({ type: 'set', cause: { ...CAUSE, job: undefined, actor: 'operator:o' } }, undefined, limitBefore)
  }

  told(type: 'set' | 'reset' | 'probe'): this {
    return this.#take({ type, cause: { ...CAUSE, job: undefined, actor: 'operator:o' } }, undefined)
  }

  #take(input: KeyInput, claimedAt: number | undefined, limitBefore?: Limit): this {
    const around = { limit: this.limit, limitBefore, taken: this.taken }
    const { event, events, key } = decideKey(this.key, input, around, this.now)
    if (event === undefined) {
      expect(key).toBe(this.key)
      return this
    }
    expect(keyBreaches(this.key, event, key, around, claimedAt)).toEqual([])
    expect(events.reduce(evolveKey, this.key)).toEqual(key)
    this.events.push(...events)
    this.key = key
    return this
  }
}

export const THROTTLED: Signal = { type: 'throttled' }
export const UNAVAILABLE: Signal = { type: 'unavailable' }
export const SUCCEEDED: Signal = { type: 'succeeded' }
export const retryAfter = (retryAfterMs: number): Signal => ({ type: 'retry_after', retryAfterMs })
