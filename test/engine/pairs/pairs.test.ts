import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { LocalEngine } from '../../../src/engine/local.ts'
import { openStore } from '../../../src/open-store.ts'
import { SPECIMENS } from '../../../src/store/conformance/specimens.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Store } from '../../../src/store/store.ts'
import { realClock } from '../../../src/system/clock.ts'
import { realRandom } from '../../../src/system/random.ts'
import { realTimers } from '../../../src/system/timers.ts'
import { scaled, soaking } from '../../support/scale.ts'
import { PLACES, STORES as TO_BE_HAD } from '../opened.ts'
import { type Pair, SPOKEN, TWISTS, type Twist, whoHear } from './pair.ts'
import { grownOnce, inOneCall, inTwoCalls, mistakes } from './speak.ts'

const engineOn = (store: Store) => new LocalEngine({ store, clock: realClock, random: realRandom, timers: realTimers })

async function check(name: keyof typeof PLACES) {
  const place = await PLACES[name]()
  const { store } = await openStore(place.url, { migrate: true })
  const other = name === 'memory' ? store : (await openStore(place.url)).store
  const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
  return {
    url: place.url,
    fixture,
    one: engineOn(store),
    other: engineOn(other),
    [Symbol.asyncDispose]: async () => {
      await store.close()
      if (other !== store) await other.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

/**
 * Every two words. In the gate about one kind of job that hears the first; in the soak about each that does. What a twist
 * comes to is decided before a store is asked: in the gate memory hears them all, other stores all that are apart, and of
 * the twisted ones each its share.
 */
async function everyPair(fixture: StoreFixture, twist: Twist, seed: number, share = 1): Promise<readonly Pair[]> {
  const grown = await grownOnce(fixture, Object.values(SPECIMENS).flat())
  const now = await fixture.now()
  let n = seed
  return SPOKEN.flatMap((first) => {
    const hearing = whoHear(first, grown, now)
    return SPOKEN.flatMap((second) => {
      n += 1
      if (!soaking && n % share !== 0) return []
      const some = soaking ? hearing : hearing.slice(n % hearing.length).slice(0, 1)
      return some.map((specimen, i): Pair => ({ specimen, first, second, twist, n: n + i * 13 }))
    })
  })
}

const OTHERWISE = soaking ? TWISTS : TWISTS.slice(0, 1)

/** In a file and on Redis, too, in soak: they do what they are told in one row, as memory does. */
const STORES = (['memory', 'postgres', 'sqlite', 'redis'] as const)
  .slice(0, scaled(2, 4))
  .filter((name) => TO_BE_HAD.includes(name))

describe.each(STORES)('every two words about one job, on %s', (name) => {
  it.each(TWISTS)('in one call are one after the other: %s', async (twist) => {
    await using on = await check(name)
    const share = name === 'memory' || twist === 'apart' ? 1 : 3
    expect(await mistakes(on.fixture, await everyPair(on.fixture, twist, 1, share), inOneCall(on.one))).toEqual([])
  })

  it.each(OTHERWISE)('in two calls at once are one after the other: %s', async (twist) => {
    await using on = await check(name)
    expect(await mistakes(on.fixture, await everyPair(on.fixture, twist, 2), inTwoCalls(on.one, on.one))).toEqual([])
  })

  it.each(OTHERWISE)('from two processes at once are one after the other: %s', async (twist) => {
    await using on = await check(name)
    expect(await mistakes(on.fixture, await everyPair(on.fixture, twist, 3), inTwoCalls(on.one, on.other))).toEqual([])
  })
})

describe('every two words about one job, in a transaction of the caller', () => {
  it.each(OTHERWISE)('are one after the other once it is committed: %s', async (twist) => {
    await using on = await check('postgres')
    const pool = new pg.Pool({ connectionString: on.url, max: 4 })
    const found = await mistakes(on.fixture, await everyPair(on.fixture, twist, 4), async ([a, b]) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const answers = await inOneCall(on.one)([
          { ...a, tx: client },
          { ...b, tx: client },
        ])
        await client.query('commit')
        return answers
      } finally {
        client.release()
      }
    })
    await pool.end()
    expect(found).toEqual([])
  })
})
