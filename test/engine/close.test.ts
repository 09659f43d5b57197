import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { openOn } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Hint, Store } from '../../src/store/store.ts'
import { realClock } from '../../src/system/clock.ts'
import { realTimers, type Timers } from '../../src/system/timers.ts'
import { freshDatabase } from '../support/postgres.ts'
import { openAt, PLACES, STORES } from './opened.ts'

/** Counts what has been started and not ended. */
class Ledger implements Timers {
  sleeping = 0
  pending = 0
  listening = 0

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeping += 1
    await realTimers.sleep(ms, signal)
    this.sleeping -= 1
  }

  after(ms: number, fn: () => void): Disposable {
    this.pending += 1
    let done = false
    const end = () => {
      if (!done) this.pending -= 1
      done = true
    }
    const timer = realTimers.after(ms, () => {
      end()
      fn()
    })
    return {
      [Symbol.dispose]: () => {
        end()
        timer[Symbol.dispose]()
      },
    }
  }

  watch(store: Store): Store {
    const subscribe = async (wake: (hint: Hint) => void) => {
      const subscription = await store.subscribe(wake)
      this.listening += 1
      return {
        [Symbol.asyncDispose]: async () => {
          this.listening -= 1
          await subscription[Symbol.asyncDispose]()
        },
      }
    }
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'subscribe') return subscribe
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
}

const echo = defineJob({ type: 'echo', run: (text: string) => text })

describe('closing', () => {
  it('leaves no timer, no pause and no listener behind, whatever was under way', async () => {
    const ledger = new Ledger()
    const pawl = openOn(ledger.watch(openMemoryStore({ clock: realClock })), { timers: ledger })
    pawl.work([echo])
    expect(await (await pawl.enqueue(echo, 'hello')).result({ timeout: '20s' })).toBe('hello')
    const waiting = (await pawl.enqueue(echo, 'later', { delay: '1h' })).result({ timeout: '1h' })
    const settled = waiting.catch((error: unknown) => String(error))
    await pawl.find()
    await pawl.close()
    expect(await settled).toBe('Error: pawl was closed')
    expect({ ...ledger }).toEqual({ sleeping: 0, pending: 0, listening: 0 })
  })

  it('watches for results only while somebody waits', async () => {
    const ledger = new Ledger()
    const options = { timers: ledger, ticker: false, retention: false } as const
    await using pawl = openOn(ledger.watch(openMemoryStore({ clock: realClock })), options)
    const job = await pawl.enqueue(echo, 'x')
    const result = job.result({ timeout: '1h' }).catch(() => undefined)
    await pawl.find()
    await job.cancel()
    await result
    // The pause of the loop that looked is cut short, which takes a turn.
    for (let n = 0; n < 10 && ledger.sleeping > 0; n += 1) await new Promise((resolve) => setImmediate(resolve))
    expect({ ...ledger }).toEqual({ sleeping: 0, pending: 0, listening: 0 })
  })

  it.each(STORES)('may be done twice (%s)', async (name) => {
    await using place = await PLACES[name]()
    const pawl = await openAt(place)
    pawl.work([echo])
    await pawl.close()
    await pawl.close()
  })

  it('refuses stores it does not know', async () => {
    await expect(openAt({ url: 'mysql://x', [Symbol.asyncDispose]: async () => {} })).rejects.toThrow(
      /no store is known/,
    )
  })

  it('asks for a migration on Postgres instead of making one', async () => {
    await using empty = await freshDatabase()
    await expect(openAt(empty, { migrate: false })).rejects.toThrow(/migrate/)
  })
})
