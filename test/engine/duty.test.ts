/** Which process does the upkeep that one does for all, and how soon another does when it is gone. In virtual time. */
import { describe, expect, it } from 'vitest'
import { Duty, type Notch, TAKEN_OVER_ROUNDS } from '../../src/engine/duty.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { retention } from '../../src/engine/retention.ts'
import { RETENTION_DEFAULTS } from '../../src/engine/retention-options.ts'
import { TICKER_DEFAULTS, ticker } from '../../src/engine/ticker.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { silentLog } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import type { Service } from '../../src/system/service.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import { Between } from './between.ts'
import { kindOf } from './engine-fixture.ts'

const EVERY_MS = TICKER_DEFAULTS.everyMs
const TAKEN_OVER_MS = TAKEN_OVER_ROUNDS * EVERY_MS + 500

/** Processes on one store, which tells when it was last asked what is due, as one that many processes have does. */
class House {
  readonly time = new VirtualTime(Date.UTC(2030, 0, 1))
  readonly store = openMemoryStore({ clock: this.time, timers: this.time })
  readonly rounds: { readonly by: number; readonly at: number }[] = []
  looks = 0
  #processes = 0

  process(isOwner?: () => boolean) {
    this.#processes += 1
    const by = this.#processes
    const { time, store, rounds } = this
    const due: Store['due'] = (limit) => {
      rounds.push({ by, at: time.now() })
      return store.due(limit)
    }
    const own: Store = { ...new Between().wrap(store), due }
    const engine = new LocalEngine({ store: own, clock: time, random: realRandom, timers: time })
    const lastNotch = async (): Promise<Notch> => {
      this.looks += 1
      const last = rounds.at(-1)
      return { now: time.now(), at: last?.at ?? 0, isOwn: last?.by === by }
    }
    const duty = new Duty({ lastNotch, random: realRandom, everyMs: EVERY_MS })
    const tick = (limit: number) => engine.tick(limit)
    const service = ticker({ tick, timers: time, log: silentLog, duty, isOwner })
    service.start()
    return { by, engine, service }
  }
}

const stopAll = (services: readonly Service[]) => Promise.all(services.map((service) => service.stop()))

describe('of many tickers', () => {
  it('one asks what is due, once in each round, and the others look a few times less often', async () => {
    const house = new House()
    const processes = Array.from({ length: 20 }, () => house.process())
    await house.time.advance(20_000)
    house.rounds.length = 0
    house.looks = 0
    await house.time.advance(60_000)
    expect(new Set(house.rounds.map(({ by }) => by)).size).toBe(1)
    expect(house.rounds).toHaveLength(60)
    expect(house.looks - house.rounds.length).toBeLessThan((19 * 60_000) / (2.5 * EVERY_MS))
    await stopAll(processes.map(({ service }) => service))
  })

  it.each([2, 8])('of %i, another goes on where the one on duty dies, however often', async (count) => {
    const house = new House()
    const processes = Array.from({ length: count }, () => house.process())
    await house.time.advance(10_000)
    for (let death = 1; death < count; death += 1) {
      const dead = processes.find(({ by }) => by === house.rounds.at(-1)?.by)
      const diedAt = house.time.now()
      await dead?.service.stop()
      await house.time.advance(TAKEN_OVER_MS)
      const next = house.rounds.find(({ at }) => at > diedAt)
      expect(next?.by).not.toBe(dead?.by)
      expect(next?.at).toBeLessThanOrEqual(diedAt + TAKEN_OVER_MS)
      await house.time.advance(10_000)
    }
    await stopAll(processes.map(({ service }) => service))
  })

  it('a job is given back within a round of its lease’s end while the one on duty lives, within the bound where it does not', async () => {
    const house = new House()
    const processes = [house.process(), house.process()]
    const [{ engine }] = processes as [ReturnType<House['process']>]
    const kind = kindOf({ lease: '1s' })
    await house.time.advance(10_000)
    for (const isKilled of [false, true]) {
      const [answer] = await engine.enqueue([{ actor: 'producer', kind, priority: 5, input: '1' }])
      if (answer?.ok !== true) throw new Error('not enqueued')
      const { id } = answer.job
      const lanes = [{ tenant: 't', queue: 'q', priority: 5 }]
      const [claimed] = await engine.claim({ requestId: id, workerId: 'w', lanes, limit: 1 })
      const endsAt = claimed?.leaseExpiresAt ?? Number.NaN
      const onDuty = house.rounds.at(-1)?.by
      if (isKilled) await processes.find(({ by }) => by === onDuty)?.service.stop()
      const stateAt = async () => (await house.store.load([{ id }])).items[0]?.job.state
      await house.time.advance(endsAt - house.time.now() + (isKilled ? TAKEN_OVER_MS : EVERY_MS))
      expect(await stateAt()).toBe('queued')
      await engine.claim({ requestId: `${id}/again`, workerId: 'w', lanes, limit: 1 })
    }
    await stopAll(processes.map(({ service }) => service))
  })

  it('one whose process has jobs looks at the clock in each round, on duty or not', async () => {
    const house = new House()
    const processes = [house.process(() => true), house.process(() => true)]
    await house.time.advance(10_000)
    const before = house.looks
    await house.time.advance(60_000)
    expect(house.looks - before).toBeGreaterThanOrEqual(120)
    await stopAll(processes.map(({ service }) => service))
  })

  it('a slow one gives way to one that was told to be faster', async () => {
    const house = new House()
    const slow = house.process()
    await house.time.advance(5_000)
    const quick: number[] = []
    const lastNotch = async (): Promise<Notch> => {
      const last = house.rounds.at(-1)
      return { now: house.time.now(), at: last?.at ?? 0, isOwn: last?.by === 0 }
    }
    const duty = new Duty({ lastNotch, random: realRandom, everyMs: 100 })
    const tick = async () => {
      quick.push(house.time.now())
      house.rounds.push({ by: 0, at: house.time.now() })
      return { due: 0, moved: 0 }
    }
    const fast = ticker({ tick, timers: house.time, log: silentLog, duty }, { everyMs: 100 })
    fast.start()
    await house.time.advance(10_000)
    quick.length = 0
    await house.time.advance(10_000)
    expect(quick).toHaveLength(100)
    await stopAll([slow.service, fast])
  })
})

describe('of many that do retention', () => {
  const EVERY = RETENTION_DEFAULTS.everyMs

  it('one of those that were told the same does, and another when it is gone', async () => {
    const time = new VirtualTime(Date.UTC(2030, 0, 1))
    const store = openMemoryStore({ clock: time, timers: time })
    const rounds: { readonly by: number; readonly at: number }[] = []
    const engine = new LocalEngine({ store, clock: time, random: realRandom, timers: time })
    const told = [{}, {}, {}, { succeededMs: 1_000 }]
    const services = told.map((options, by) => {
      const find: Store['find'] = (query) => {
        if (query.longEnded !== undefined) rounds.push({ by, at: time.now() })
        return store.find(query)
      }
      const own = { ...new Between().wrap(store), find }
      const service = retention({ store: own, engine, timers: time, log: silentLog, random: realRandom }, options)
      service.start()
      return service
    })
    const since = (at: number) => new Set(rounds.filter((round) => round.at > at).map(({ by }) => by))
    await time.advance(10 * EVERY)
    const before = time.now()
    await time.advance(10 * EVERY)
    const atIt = since(before)
    expect(atIt.size).toBe(2)
    expect(atIt.has(3)).toBe(true)
    const [first] = [...atIt].filter((by) => by !== 3)
    await services[first as number]?.stop()
    const diedAt = time.now()
    await time.advance(TAKEN_OVER_ROUNDS * EVERY + 500)
    const next = [...since(diedAt)].filter((by) => by !== 3)
    expect(next).toHaveLength(1)
    expect(next[0]).not.toBe(first)
    await stopAll(services)
  })
})
