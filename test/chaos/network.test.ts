import { expect, it, vi } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { startProxy, type TcpProxy } from '../support/proxy.ts'
import { scaled, soaking } from '../support/scale.ts'
import { Stream } from './stream.ts'

vi.setConfig({ testTimeout: scaled(240_000, 7_200_000) })

const CYCLES = scaled(2, 50)
/** The gate has little time: there a silent way is found out sooner. */
const ANSWER_WITHIN = soaking ? '5s' : '1s'
const GOES_ON_WITHIN_MS = 60_000

/** What happens to a way, again and again. */
const ACCIDENTS: Readonly<Record<string, (proxy: TcpProxy) => Promise<void>>> = {
  async 'resets all connections'(proxy) {
    proxy.reset()
  },
  async 'swallows what is sent on all connections'(proxy) {
    proxy.swallow()
  },
  async 'swallows everything, until somebody has knocked in vain'(proxy) {
    const { accepted } = proxy
    proxy.fresh('swallow')
    proxy.swallow()
    await eventually('somebody to knock', () => proxy.accepted > accepted + 1, { withinMs: GOES_ON_WITHIN_MS })
    proxy.fresh('pass')
  },
}

it.each([
  ['is silent', 'swallow'],
  ['is refused', 'refuse'],
] as const)('a store whose way %s can be closed: drain and five seconds at most', async (_, fate) => {
  await using database = await migratedDatabase()
  await using proxy = await startProxy(database.url)
  const pawl = await open(proxy.url, { migrate: true })
  const stuck = defineJob({ type: 'stuck', run: (__: undefined, ctx) => new Promise(() => ctx.signal) })
  const worker = pawl.work([stuck], { drain: '1s', poll: '100ms' })
  const job = await pawl.enqueue(stuck)
  await eventually('it to run', () => worker.running === 1)
  proxy.fresh(fate)
  if (fate === 'swallow') proxy.swallow()
  else proxy.reset()
  // Under way, all of them, when it is closed.
  const asked = [pawl.enqueue(stuck), pawl.find(), job.result(), job.cancel(), pawl.pause('q')]
  const told = Promise.all(
    asked.map((each) =>
      each.then(
        () => 'answered',
        (error: unknown) => error,
      ),
    ),
  )
  const beganMs = performance.now()
  await pawl.close()
  if (soaking) expect(performance.now() - beganMs).toBeLessThan(6_000)
  for (const each of await told) expect(each).toBeInstanceOf(Error)
  await eventually('nothing to be left', () => proxy.open === 0)
})

it.each(Object.entries(ACCIDENTS))(
  'a way that %s costs time, and nothing that was acknowledged',
  async (_, happens) => {
    await using database = await migratedDatabase()
    await using proxy = await startProxy(database.url)
    await using stream = await Stream.open(proxy.url, { answerWithin: ANSWER_WITHIN })
    await stream.flows(GOES_ON_WITHIN_MS)
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await happens(proxy)
      await stream.flows(GOES_ON_WITHIN_MS)
    }
    const { acknowledged, refused } = await stream.done(GOES_ON_WITHIN_MS)
    expect(acknowledged).toBeGreaterThan(20 * CYCLES)
    expect(refused, 'whoever has patience is not even told').toBe(0)
  },
)
