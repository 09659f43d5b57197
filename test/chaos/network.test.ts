import { describe, expect, it, vi } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { redisMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startProxy, type TcpProxy } from '../support/proxy.ts'
import { startRedis } from '../support/redis.ts'
import { scaled, soaking } from '../support/scale.ts'
import { Stream } from './stream.ts'

vi.setConfig({ testTimeout: scaled(240_000, 7_200_000) })

/** Behind a gateway each takes longer: how long something may be silent is not for tests to choose there. */
const CYCLES: Readonly<Record<string, number>> = { Postgres: scaled(2, 50), 'a gateway': scaled(1, 10) }
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

interface Place extends AsyncDisposable {
  /** By the ways that can be made bad. */
  readonly url: string
  readonly ways: readonly TcpProxy[]
}

/** Where jobs can be, with ways in between. */
const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async Postgres() {
    const stack = new AsyncDisposableStack()
    const database = stack.use(await migratedDatabase())
    const proxy = stack.use(await startProxy(database.url))
    return { url: proxy.url, ways: [proxy], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  },
  async 'a gateway'() {
    const stack = new AsyncDisposableStack()
    const home = stack.use(await open('memory:', { log: 'silent' }))
    const gateway = stack.use(await startGateway({ engine: home.engine, auth: false, port: 0 }))
    const proxy = stack.use(await startProxy(gateway.url))
    return { url: proxy.url, ways: [proxy], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  },
  async Redis() {
    const stack = new AsyncDisposableStack()
    const server = stack.use(await startRedis())
    const proxy = stack.use(await startProxy(server.url))
    return { url: proxy.url, ways: [proxy], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  },
  async 'a ledger behind Redis'() {
    const stack = new AsyncDisposableStack()
    const server = stack.use(await startRedis())
    const database = stack.use(await freshDatabase())
    const proxy = stack.use(await startProxy(database.url))
    const url = `${server.url}?ledger=${encodeURIComponent(proxy.url)}`
    return { url, ways: [proxy], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  },
  async 'Redis and the ledger behind it'() {
    const stack = new AsyncDisposableStack()
    const server = stack.use(await startRedis())
    const database = stack.use(await freshDatabase())
    const near = stack.use(await startProxy(server.url))
    const far = stack.use(await startProxy(database.url))
    const url = `${near.url}?ledger=${encodeURIComponent(far.url)}`
    return { url, ways: [near, far], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  },
}

const missing = redisMissing()

describe.each(Object.entries(PLACES))('%s', (place, start) => {
  it.skipIf(missing !== undefined && place.includes('Redis')).each([
    ['is silent', 'swallow'],
    ['is refused', 'refuse'],
  ] as const)('whose way %s can be closed: drain and five seconds at most', async (_, fate) => {
    await using at = await start()
    // Nothing is given up before it is closed: whoever waits for that waits for ever.
    const pawl = await open(at.url, { migrate: true, retryFor: '1h', log: 'silent' })
    const stuck = defineJob({ type: 'stuck', run: (__: undefined, ctx) => new Promise(() => ctx.signal) })
    const worker = pawl.work([stuck], { drain: '1s', poll: '100ms' })
    const job = await pawl.enqueue(stuck)
    await eventually('it to run', () => worker.running === 1)
    for (const way of at.ways) {
      way.fresh(fate)
      if (fate === 'swallow') way.swallow()
      else way.reset()
    }
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
    for (const way of at.ways) await eventually('nothing to be left', () => way.open === 0)
  })
})

it.each(
  Object.entries(CYCLES).flatMap(([place, cycles]) =>
    Object.keys(ACCIDENTS).map((accident) => [place, accident, cycles] as const),
  ),
)('the way to %s that %s costs time, and nothing that was acknowledged', async (place, accident, cycles) => {
  await using at = await PLACES[place]?.()
  const [proxy] = at?.ways ?? []
  if (at === undefined || proxy === undefined) throw new Error(`there is no ${place}`)
  await using stream = await Stream.open(at.url, { answerWithin: ANSWER_WITHIN })
  await stream.flows(GOES_ON_WITHIN_MS)
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await ACCIDENTS[accident]?.(proxy)
    await stream.flows(GOES_ON_WITHIN_MS)
  }
  const { acknowledged, refused } = await stream.done(GOES_ON_WITHIN_MS)
  expect(acknowledged).toBeGreaterThan(20 * cycles)
  expect(refused, 'whoever has patience is not even told').toBe(0)
})
