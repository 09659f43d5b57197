/** Whether somebody looks at what has come due, as it is told to whoever watches. */
import { describe, expect, it } from 'vitest'
import { Upkeep } from '../../src/engine/upkeep.ts'
import { readiness } from '../../src/gateway/handlers/health.ts'
import { open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { VirtualClock } from './virtual-clock.ts'

describe('who looks', () => {
  it('is late when its own rounds stop, and not any more with the next', async () => {
    const clock = new VirtualClock()
    const upkeep = new Upkeep({ clock, everyMs: 1_000, lastNotch: undefined, hasTicker: true })
    clock.advance(29_000)
    expect(await upkeep.lateMs()).toBe(0)
    clock.advance(13_000)
    expect(await upkeep.lateMs()).toBe(42_000)
    upkeep.looked()
    expect(await upkeep.lateMs()).toBe(0)
  })

  it('may be another process: its notch says when, but nothing of the time before this one came', async () => {
    const clock = new VirtualClock()
    const notch = { now: 1_000_000, at: 0 }
    const upkeep = new Upkeep({ clock, everyMs: 1_000, lastNotch: async () => notch, hasTicker: false })
    clock.advance(10_000)
    expect(await upkeep.lateMs()).toBe(0)
    clock.advance(50_000)
    expect(await upkeep.lateMs()).toBe(60_000)
    notch.at = notch.now - 900
    expect(await upkeep.lateMs()).toBe(0)
  })

  it('gives a slow pace its time', async () => {
    const clock = new VirtualClock()
    const upkeep = new Upkeep({ clock, everyMs: 60_000, lastNotch: undefined, hasTicker: true })
    clock.advance(10 * 60_000)
    expect(await upkeep.lateMs()).toBe(0)
    clock.advance(5 * 60_000)
    expect(await upkeep.lateMs()).toBe(15 * 60_000)
  })
})

describe('a gateway', () => {
  const checksOf = async (pawl: Awaited<ReturnType<typeof open>>) =>
    readiness({ engine: pawl.engine, clock: realClock, timers: realTimers, upkeep: pawl.below.upkeep })

  it('says that it is looked, and stays ready where it is not: what it is asked it can answer', async () => {
    let ahead = 0
    const clock = { now: realClock.now, monotonicMs: () => realClock.monotonicMs() + ahead }
    await using pawl = await open('memory:', { log: 'silent', clock, ticker: { everyMs: 100_000 } })
    expect(await checksOf(pawl)).toMatchObject({ ready: true, checks: { ticker: 'ok' } })
    ahead = 2_000_000
    expect(await checksOf(pawl)).toMatchObject({
      ready: true,
      checks: { store: 'ok', ticker: 'nobody has looked at what is due for 2000 s' },
    })
  })

  it('hears of each round of its own ticker', async () => {
    let ahead = 0
    const clock = { now: realClock.now, monotonicMs: () => realClock.monotonicMs() + ahead }
    await using pawl = await open('memory:', { log: 'silent', clock, ticker: { everyMs: 20 } })
    ahead = 2_000_000
    await eventually('a round after that', async () => (await checksOf(pawl)).checks['ticker'] === 'ok')
  })

  it('says nothing of it where it cannot know', async () => {
    await using pawl = await open('memory:', { log: 'silent', ticker: false })
    expect((await checksOf(pawl)).checks).not.toHaveProperty('ticker')
  })
})
