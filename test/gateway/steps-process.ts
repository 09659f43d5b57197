/** Counts the steps of requests, each alone in this process; what it finds goes to standard output as JSON. */
import { settled, steps } from './step-counter.ts'

const { z } = await import('zod')
const { ROUTES } = await import('../../src/gateway/contract/routes.ts')
const { BOUNDLESS, openGatewayFixture } = await import('./gateway-fixture.ts')
const { placesOf } = await import('./places.ts')

export interface Counted {
  readonly place: string
  readonly n: number
  readonly once: number
  readonly twice: number
}

/** Beyond whatever is allowed. */
const BEYOND = 1_000

interface Asked {
  readonly place: string
  readonly n: number
  readonly once: () => Promise<string>
  readonly twice: () => Promise<string>
  /** The same two, to be asked again. */
  again(): Pick<Asked, 'once' | 'twice'>
}

/** A place that seems steep is counted again, so many times at most. */
const AGAIN = 4
/** It seems so where twice as much takes more than this many times the steps. */
const STEEP = 2.2

// Nothing goes on here but what is asked for.
await using fixture = await openGatewayFixture({ caps: BOUNDLESS }, undefined, { ticker: false, retention: false })
const { body: job } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'other' })

// All requests are made, and each place asked for as much as it will be, before anything is counted: what is done for the first time,
// also for a name, is done then, and nothing but requests lies between one count and the next.
const asked: Asked[] = []
for (const route of ROUTES) {
  if (route.scopes === 'open') continue
  const path = route.path.replace('{id}', String(job['id'])).replaceAll(/\{\w+\}/g, 'none')
  for (const place of placesOf(route)) {
    const ask = (n: number) => {
      const made = place.request(n)
      const headers = { authorization: `Bearer ${fixture.secrets['acme']?.admin}`, 'content-type': 'application/json' }
      const url = `http://localhost${path}${place.in === 'query' ? `?${made}` : ''}`
      const request = new Request(url, {
        method: route.method,
        headers,
        ...(place.in === 'body' ? { body: made } : {}),
      })
      return async () => (await fixture.gateway.fetch(request)).text()
    }
    const half = place.most === undefined ? BEYOND : Math.floor(place.most / 2)
    for (const n of new Set([half, BEYOND])) {
      if (n < 20) continue
      await ask(n)()
      await ask(2 * n)()
      const again = () => ({ once: ask(n), twice: ask(2 * n) })
      asked.push({ place: place.name, n, ...again(), again })
    }
  }
}

const found: Counted[] = []
await settled()
for (const { place, n, once, twice } of asked)
  found.push({ place, n, once: await steps(once), twice: await steps(twice) })

// What else a busy machine lets happen meanwhile, a timer that runs out or a connection that is looked after, can only add: where twice as
// much seems to take too many steps, both are counted again, and the least of each counts.
for (const [i, { again }] of asked.entries()) {
  for (let n = 0; n < AGAIN; n += 1) {
    const before = found[i]
    if (before === undefined || before.twice <= STEEP * before.once) break
    const { once, twice } = again()
    await settled()
    const counted = { once: await steps(once), twice: await steps(twice) }
    found[i] = {
      ...before,
      once: Math.min(before.once, counted.once),
      twice: Math.min(before.twice, counted.twice),
    }
  }
}

/** What the counter must see: a list copied for each of its elements, and a library that merges by looking up names. */
const merged = z.record(z.string(), z.number()).and(z.custom<object>(() => true))
const table = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]))
const copied = (n: number) => {
  let list: readonly number[] = []
  for (let i = 0; i < n; i += 1) list = [...list, i]
  return list
}
await settled()
for (const [place, work] of [
  ['quadratic: a spread for each', copied],
  ['quadratic: zod’s intersection', (n: number) => merged.safeParse(table(n))],
] as const)
  found.push({ place, n: BEYOND, once: await steps(() => work(BEYOND)), twice: await steps(() => work(2 * BEYOND)) })

process.stdout.write(JSON.stringify(found))
