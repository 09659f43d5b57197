/**
 * What may happen to NATS and to the way there while jobs go through the bus: nothing is lost, nothing that has finished runs again, and
 * nothing is dispatched twice at the same time, by the account of the store. Two schedulers and two reconcilers are at it throughout.
 */
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { startNatsRelay, troubled } from '../support/nats-relay.ts'
import { startProxy } from '../support/proxy.ts'
import { freshPrefix } from '../support/redis.ts'
import { scaled, soaking } from '../support/scale.ts'
import { mountSmall, smallDiskMissing } from '../support/small-disk.ts'
import { itOnRedis } from '../support/with-redis.ts'
import { type Flow, openFlow, twoAt } from './flow.ts'

const LONG_MS = scaled(100_000, 1_500_000)

/** A full disk takes a file system of its own, and some starts of NATS: it is the soak's. */
const disk = soaking ? smallDiskMissing() : undefined
if (disk !== undefined) console.warn(disk)

/** Something has gone through, and something is still to come. */
const inTheMiddle = (flow: Flow, jobs: number) =>
  eventually('some are through', async () => (await flow.ended()) >= Math.min(5, jobs / 4))

describeOnNats('jobs through a bus', () => {
  it(
    'arrive once though five messages in a hundred are lost, doubled or late',
    async () => {
      await using nats = await startNats()
      await using relay = await startNatsRelay(nats.url)
      const { url } = relay
      const jobs = scaled(60, 10_000)
      await using flow = await openFlow({ platform: twoAt(url, url), outside: url, jobs, workers: scaled(12, 200) })
      relay.decide(troubled(20_261_118))
      await flow.submit()
      await flow.settled(LONG_MS)
      const { drop, twice, late } = relay.counts
      for (const count of [drop, twice, late]) expect(count).toBeGreaterThan(0)
      if (jobs > 1_000) console.log(`${jobs} jobs; ${JSON.stringify(relay.counts)}`)
    },
    LONG_MS,
  )

  const goesOn = async (flow: Flow, jobs: number) => {
    const before = await flow.ended()
    await eventually('it goes on', async () => (await flow.ended()) > before || before === jobs, { withinMs: 60_000 })
  }
  const throughKills = async (store: string | undefined, jobs: number, kills: number) => {
    await using nats = await startNats()
    await using relay = await startNatsRelay(nats.url)
    const { url } = relay
    const platform = twoAt(url, url)
    await using flow = await openFlow({ platform, store, outside: url, jobs, workers: scaled(8, 40) })
    const submitting = flow.submit()
    for (let n = 0; n < kills; n += 1) {
      relay.decide((subject) => (subject.startsWith('$JS.ACK.') ? 'drop' : 'pass'))
      await eventually('confirmations are lost', () => relay.counts.drop > n)
      await nats.kill()
      relay.decide(() => 'pass')
      await nats.restart()
      await goesOn(flow, jobs)
    }
    await submitting
    await flow.settled(LONG_MS)
  }

  it(
    'go on when NATS is killed and comes back, its confirmations lost before',
    () => throughKills(undefined, scaled(40, 4_000), scaled(1, 20)),
    LONG_MS,
  )

  it(
    'go on when NATS is killed and comes back, on Postgres, with its two schedulers and reconcilers',
    async () => {
      await using database = await migratedDatabase()
      await throughKills(database.url, scaled(24, 4_000), scaled(1, 20))
    },
    LONG_MS,
  )

  // What is said to Redis is said in the conformance of its store: a share of the gate's time would tell nothing more.
  ;(soaking ? itOnRedis : it.skip)(
    'go on when NATS is killed and comes back, on Redis, with its two schedulers and reconcilers',
    async () => {
      await using prefix = await freshPrefix()
      await throughKills(prefix.url, 4_000, 20)
    },
    LONG_MS,
  )

  it(
    'go on when a process is cut off for a moment, and when the workers are',
    async () => {
      await using nats = await startNats()
      await using one = await startProxy(nats.url)
      await using workers = await startProxy(nats.url)
      const jobs = scaled(40, 4_000)
      const platform = twoAt(one.url, nats.url)
      await using flow = await openFlow({ platform, outside: workers.url, jobs, workers: scaled(8, 40) })
      const times = scaled(1, 10)
      const share = jobs / (2 * times)
      for (let n = 0; n < times; n += 1) {
        one.fresh('refuse')
        one.reset()
        await flow.submit(2 * n * share, (2 * n + 1) * share)
        await goesOn(flow, jobs)
        one.fresh('pass')
        workers.fresh('refuse')
        workers.reset()
        const submitting = flow.submit((2 * n + 1) * share, (2 * n + 2) * share)
        const { refused } = workers
        await eventually('they try to come back', () => workers.refused >= refused + 3)
        workers.fresh('pass')
        await submitting
        await goesOn(flow, jobs)
      }
      await flow.settled(LONG_MS)
    },
    LONG_MS,
  )

  // A silence is noticed after ten seconds: the soak has the time.
  it.runIf(soaking).each(['one of two processes', 'the workers'] as const)(
    'go on when the way of %s falls silent, and as before when it is back',
    async (whose) => {
      await using nats = await startNats()
      await using proxy = await startProxy(nats.url)
      const jobs = scaled(40, 4_000)
      const areWorkers = whose === 'the workers'
      const platform = twoAt(areWorkers ? nats.url : proxy.url, nats.url)
      const outside = areWorkers ? proxy.url : nats.url
      await using flow = await openFlow({ platform, outside, jobs, workers: scaled(8, 40) })
      const submitting = flow.submit()
      await inTheMiddle(flow, jobs)
      for (let n = 0; n < scaled(1, 5); n += 1) {
        proxy.fresh(areWorkers ? 'pass' : 'refuse')
        proxy.swallow()
        await goesOn(flow, jobs)
        proxy.fresh('pass')
      }
      await submitting
      await flow.settled(LONG_MS)
    },
    LONG_MS,
  )

  it.runIf(soaking && disk === undefined)(
    'go on when the disk of NATS was full, once there is room again and it was started anew',
    async () => {
      await using small = mountSmall(64)
      await using nats = await startNats('', { folder: small.path, mostBytes: 1024 ** 3 })
      const jobs = scaled(40, 4_000)
      const { url } = nats
      await using flow = await openFlow({ platform: twoAt(url, url), outside: url, jobs, workers: scaled(8, 40) })
      const submitting = flow.submit()
      await inTheMiddle(flow, jobs)
      for (let n = 0; n < scaled(1, 5); n += 1) {
        small.fill()
        await eventually('NATS takes nothing any more', async () => !(await flow.takes()), { withinMs: 60_000 })
        small.free()
        await nats.kill()
        await nats.restart()
        await goesOn(flow, jobs)
      }
      await submitting
      await flow.settled(LONG_MS)
    },
    LONG_MS,
  )
})
