/**
 * What may happen to NATS and to the way there while jobs go through the bus: nothing is lost, nothing that has finished runs again, and
 * nothing is dispatched twice at the same time, by the account of the store. Two schedulers and two reconcilers are at it throughout.
 */
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { startNatsRelay, troubled } from '../support/nats-relay.ts'
import { startProxy } from '../support/proxy.ts'
import { scaled, soaking } from '../support/scale.ts'
import { mayMount, mountSmall } from '../support/small-disk.ts'
import { type Flow, openFlow, twoAt } from './flow.ts'

const LONG_MS = scaled(100_000, 1_500_000)

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

  it(
    'go on when NATS is killed and comes back, its confirmations lost before',
    async () => {
      await using nats = await startNats()
      await using relay = await startNatsRelay(nats.url)
      const { url } = relay
      const [jobs, kills] = [scaled(40, 4_000), scaled(1, 20)]
      await using flow = await openFlow({ platform: twoAt(url, url), outside: url, jobs, workers: scaled(8, 40) })
      const submitting = flow.submit()
      for (let n = 0; n < kills; n += 1) {
        relay.decide((subject) => (subject.startsWith('$JS.ACK.') ? 'drop' : 'pass'))
        await eventually('confirmations are lost', () => relay.counts.drop > n)
        await nats.kill()
        relay.decide(() => 'pass')
        await nats.restart()
        const before = await flow.ended()
        await eventually('it goes on', async () => (await flow.ended()) > before || before === jobs, {
          withinMs: 60_000,
        })
      }
      await submitting
      await flow.settled(LONG_MS)
    },
    LONG_MS,
  )

  // A silence is noticed after ten seconds: the soak has the time.
  it.runIf(soaking)(
    'go on by the other process when the way of one falls silent, and by both when it is back',
    async () => {
      await using nats = await startNats()
      await using proxy = await startProxy(nats.url)
      const jobs = scaled(40, 4_000)
      const platform = twoAt(proxy.url, nats.url)
      await using flow = await openFlow({ platform, outside: nats.url, jobs, workers: scaled(8, 40) })
      const submitting = flow.submit()
      await inTheMiddle(flow, jobs)
      for (let n = 0; n < scaled(1, 5); n += 1) {
        proxy.fresh('refuse')
        proxy.swallow()
        const before = await flow.ended()
        await eventually('the other goes on', async () => (await flow.ended()) > before || before === jobs, {
          withinMs: 60_000,
        })
        proxy.fresh('pass')
      }
      await submitting
      await flow.settled(LONG_MS)
    },
    LONG_MS,
  )

  // It takes a file system of its own, and some starts of NATS.
  it.runIf(soaking && mayMount)(
    'go on when the disk of NATS was full, once there is room again and it was started anew',
    async () => {
      await using disk = mountSmall(64)
      await using nats = await startNats('', { folder: disk.path, mostBytes: 1024 ** 3 })
      const jobs = scaled(40, 4_000)
      const { url } = nats
      await using flow = await openFlow({ platform: twoAt(url, url), outside: url, jobs, workers: scaled(8, 40) })
      const submitting = flow.submit()
      await inTheMiddle(flow, jobs)
      for (let n = 0; n < scaled(1, 5); n += 1) {
        disk.fill()
        await eventually('NATS takes nothing any more', async () => !(await flow.takes()), { withinMs: 60_000 })
        disk.free()
        await nats.kill()
        await nats.restart()
        const before = await flow.ended()
        await eventually('it goes on', async () => (await flow.ended()) > before || before === jobs, {
          withinMs: 60_000,
        })
      }
      await submitting
      await flow.settled(LONG_MS)
    },
    LONG_MS,
  )
})
