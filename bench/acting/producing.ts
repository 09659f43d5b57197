/** What a producer does when it is told to. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, FULL_KEY, inParallel, nowMs, payload, textOf } from '../contender.ts'
import type { BulkOrder, PacedOrder } from '../orders.ts'

/** Handed over at a time: enough that batches in flight have no gaps between them, and no more than fits in memory. */
const BULK = 20_000
const BULK_BYTES = 32 * 2 ** 20

export class Producing {
  readonly #connection: Connection
  /** What another process has handled of what came from here. */
  handledElsewhere = 0
  #made = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Answers with the names of some of them. */
  async bulk({ count, keys, limitKeys, bytes, places, names = 0, ...options }: BulkOrder): Promise<readonly string[]> {
    const size = bytes === undefined ? BULK : Math.max(1, Math.min(BULK, Math.floor(BULK_BYTES / bytes)))
    const text = bytes === undefined ? {} : { text: textOf(bytes) }
    const every = names === 0 ? Number.POSITIVE_INFINITY : count / names
    const kept: string[] = []
    for (let done = 0; done < count; done += size) {
      const at = nowMs()
      const some = Array.from({ length: Math.min(size, count - done) }, (_, i) => {
        const n = done + i
        const key = keys === undefined ? {} : { key: `${keys} ${n}` }
        const place = places === undefined ? {} : { place: n % places }
        const shared = limitKeys === undefined ? {} : { limitKey: limitKeys === 0 ? FULL_KEY : `key ${n % limitKeys}` }
        return payload(at, { n: this.#made + n, ...text, ...key, ...shared, ...place })
      })
      const called = await this.#connection.bulk(some, options)
      for (let i = 0; i < called.length; i += 1) {
        const name = called[i]
        if (name !== undefined && kept.length * every <= done + i) kept.push(name)
      }
    }
    this.#made += count
    return kept
  }

  async singles(ms: number, inFlight: number): Promise<number> {
    const until = nowMs() + ms
    let count = 0
    const lane = async () => {
      while (nowMs() < until) {
        await this.#connection.one(payload(nowMs()))
        count += 1
      }
    }
    await Promise.all(Array.from({ length: inFlight }, lane))
    return count
  }

  /** Sends when it is time to, whether or not the one before has been acknowledged. */
  async paced({ ms, perSecond, bytes }: PacedOrder): Promise<number> {
    const from = nowMs()
    const text = bytes === undefined ? {} : { text: textOf(bytes) }
    const under: Promise<void>[] = []
    for (let due = 0; due < ms; due = (under.length * 1_000) / perSecond) {
      const waitMs = from + due - nowMs()
      if (waitMs > 0) await sleep(waitMs)
      under.push(this.#connection.one(payload(nowMs(), { n: this.#made, ...text })))
      this.#made += 1
    }
    await Promise.all(under)
    return under.length
  }

  async produce(ms: number, ahead: number): Promise<number> {
    const until = nowMs() + ms
    const batch = Math.ceil(ahead / 10)
    let count = 0
    while (nowMs() < until) {
      if (count - this.handledElsewhere + batch > ahead) {
        await sleep(1)
        continue
      }
      await this.#connection.bulk(
        Array.from({ length: batch }, () => payload(nowMs())),
        {},
      )
      count += batch
    }
    return count
  }

  async signal(names: readonly string[], inFlight: number): Promise<number> {
    const { signal } = this.#connection
    if (signal === undefined) throw new Error('it has no signals')
    await inParallel(names, inFlight, (name) => signal(name))
    return names.length
  }
}
