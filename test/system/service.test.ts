import { describe, expect, it } from 'vitest'
import type { Log, LogFields } from '../../src/system/log.ts'
import { silentLog } from '../../src/system/log.ts'
import { type ServiceOptions, service } from '../../src/system/service.ts'
import type { Timers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'

/** Sleeps end when they are aborted or when the test says so. */
function heldTimers() {
  const sleeping: { ms: number; end: () => void }[] = []
  const timers: Timers = {
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        signal?.addEventListener('abort', () => resolve())
        sleeping.push({ ms, end: resolve })
      }),
    after: () => ({ [Symbol.dispose]() {} }),
  }
  return { timers, sleeping }
}

const make = (round: ServiceOptions['round'], log: Log = silentLog) => {
  const held = heldTimers()
  return { ...held, loop: service({ name: 'test', everyMs: 1000, timers: held.timers, log, round }) }
}

describe('a service', () => {
  it('runs rounds one at a time with its pause in between', async () => {
    let rounds = 0
    const { loop, sleeping } = make(async () => {
      rounds += 1
    })
    loop.start()
    loop.start()
    await eventually('the first pause', () => sleeping.length === 1)
    expect(rounds).toBe(1)
    expect(sleeping[0]?.ms).toBe(1000)
    sleeping[0]?.end()
    await eventually('the second pause', () => sleeping.length === 2)
    expect(rounds).toBe(2)
    await loop.stop()
    expect(rounds).toBe(2)
  })

  it('takes the pause that a round asks for', async () => {
    const { loop, sleeping } = make(async () => 5)
    loop.start()
    await eventually('a pause', () => sleeping.length === 1)
    expect(sleeping[0]?.ms).toBe(5)
    await loop.stop()
  })

  it('is woken from its pause, and by a wake-up during a round', async () => {
    let rounds = 0
    const { loop, sleeping } = make(async () => {
      rounds += 1
      if (rounds === 1) loop.wake()
    })
    loop.start()
    await eventually('two rounds without a pause', () => sleeping.length === 1)
    expect(rounds).toBe(2)
    loop.wake()
    await eventually('a third', () => rounds === 3)
    await loop.stop()
  })

  it('goes on after a round that throws, and says so', async () => {
    const lines: [string, LogFields | undefined][] = []
    const log: Log = { ...silentLog, error: (message, fields) => lines.push([message, fields]) }
    const { loop, sleeping } = make(async () => {
      throw new Error('no\nway')
    }, log)
    loop.start()
    await eventually('the pause after it', () => sleeping.length === 1)
    expect(lines).toEqual([['round failed', { service: 'test', reason: 'no\nway' }]])
    await loop.stop()
  })

  it('stops only when the round under way has ended, and tells the round', async () => {
    let finish = () => {}
    let told: AbortSignal | undefined
    const { loop } = make((signal) => {
      told = signal
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    loop.start()
    await eventually('a round', () => told !== undefined)
    let stopped = false
    const stopping = loop.stop().then(() => {
      stopped = true
    })
    await Promise.resolve()
    expect(stopped).toBe(false)
    expect(told?.aborted).toBe(true)
    finish()
    await stopping
  })

  it('can be started again, and never overlaps itself', async () => {
    let inside = 0
    let most = 0
    let rounds = 0
    const { loop } = make(async () => {
      inside += 1
      most = Math.max(most, inside)
      await Promise.resolve()
      inside -= 1
      rounds += 1
    })
    loop.start()
    void loop.stop()
    loop.start()
    await eventually('a round of the second life', () => rounds >= 1)
    await loop.stop()
    expect(most).toBe(1)
  })

  it('gives its errors to whoever runs a round by hand', async () => {
    const { loop } = make(async () => {
      throw new Error('mine')
    })
    await expect(loop.runOnce()).rejects.toThrow('mine')
  })
})
