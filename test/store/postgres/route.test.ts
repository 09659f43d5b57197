import { beforeEach, describe, expect, it } from 'vitest'
import { Connection } from '../../../src/store/postgres/connection/connection.ts'
import { Places } from '../../../src/store/postgres/connection/places.ts'
import { Route, type RouteParts } from '../../../src/store/postgres/connection/route.ts'
import { targetOf } from '../../../src/store/postgres/connection/target.ts'
import { PostgresRewound, PostgresUnavailable } from '../../../src/store/postgres/connection/trouble.ts'
import type { Log, LogFields } from '../../../src/system/log.ts'
import type { Random } from '../../../src/system/random.ts'
import { VirtualTime } from '../../../src/testing/virtual-time.ts'
import { FakeServers } from './fake-server.ts'
import { range, seeded } from './flow.ts'

let time: VirtualTime
let servers: FakeServers
let told: [level: string, message: string, fields: LogFields | undefined][]

beforeEach(() => {
  time = new VirtualTime(1_000_000)
  servers = new FakeServers(time)
  told = []
})

const log: Log = {
  info: (message, fields) => told.push(['info', message, fields]),
  warn: (message, fields) => told.push(['warn', message, fields]),
  error: (message, fields) => told.push(['error', message, fields]),
}

const randomFrom = (seed: number): Random => {
  const next = seeded(seed)
  const hex = () =>
    Math.floor(next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return { hex64: () => hex() + hex(), uuid: hex, secret: hex }
}

function routeTo(url: string, parts: Partial<RouteParts> = {}): Route {
  const system = { connect: servers.connect, clock: time, timers: time, log, random: randomFrom(1) }
  return new Route({ ...system, target: targetOf(url), answerWithinMs: 5_000, retryForMs: 30_000, ...parts })
}

const connectionOn = (route: Route) => {
  const system = { clock: time, timers: time }
  const places = new Places({ ...system, most: 1, idle: 1, idleMs: 3_600_000 })
  return new Connection({ ...system, route, places, role: { name: 'test', pipeline: true, workMs: 60_000 } })
}

/** How it ended, and when. */
function watched(promise: Promise<unknown>): { ended?: { readonly ms: number; readonly error: unknown } } {
  const seen: { ended?: { readonly ms: number; readonly error: unknown } } = {}
  const end = (error: unknown) => {
    seen.ended = { ms: time.monotonicMs(), error }
  }
  promise.then(() => end(undefined), end)
  return seen
}

const URL_ONE = 'postgres://ann:secret@one:5432/app'
const URL_TWO = 'postgres://one:5432,two:5432/app'

describe('a server that is away', () => {
  it('is knocked at by one for all, less and less often, and never at the same moments as by others', async () => {
    servers.turn('refuses')
    const routes = [
      routeTo(URL_ONE, { retryForMs: 600_000 }),
      routeTo(URL_ONE, { retryForMs: 600_000, random: randomFrom(2) }),
    ]
    const calls = routes.flatMap((route) =>
      range(0, 20).map(() => watched(connectionOn(route).run('select 1', () => []))),
    )
    await time.advance(60_000)
    const knocks = servers.knocks.map(({ ms }) => ms)
    // At first whoever wants one finds out for himself.
    const later = knocks.filter((ms) => ms > 10_000)
    expect(later.length).toBeGreaterThan(2 * 25)
    expect(later.length).toBeLessThan(2 * 50)
    expect(new Set(later).size, 'no two at once').toBe(later.length)
    expect(calls.every(({ ended }) => ended === undefined)).toBe(true)
    servers.turn('up')
    await time.advance(3_000)
    expect(calls.map(({ ended }) => ended?.error)).toEqual(calls.map(() => undefined))
  })

  it('is told of once, and once when it is back, with how long it took', async () => {
    const route = routeTo(URL_ONE)
    const connections = range(0, 8).map(() => connectionOn(route))
    await Promise.all(connections.map((each) => each.run('select 1', () => [])))
    servers.turn('refuses')
    await time.settle()
    const calls = connections.map((each) => watched(each.run('select 2', () => [])))
    await time.advance(20_000)
    servers.turn('up')
    await time.advance(3_000)
    expect(calls.map(({ ended }) => ended?.error)).toEqual(calls.map(() => undefined))
    expect(told.map(([level, message]) => [level, message])).toEqual([
      ['warn', 'Postgres is away: what was asked is repeated until it is back'],
      ['info', 'Postgres is back'],
    ])
    expect(told[0]?.[2]).toMatchObject({ server: 'one:5432', reason: 'connect ECONNREFUSED one:5432' })
    expect(told[1]?.[2]).toMatchObject({ server: 'one:5432' })
    expect(Number(told[1]?.[2]?.['away_ms'])).toBeGreaterThanOrEqual(20_000)
    expect(JSON.stringify(told)).not.toContain('secret')
  })

  it('fails what is asked when the time is over; and who asks later is told so within a second', async () => {
    servers.turn('refuses')
    const route = routeTo(URL_ONE)
    const first = watched(connectionOn(route).run('select 1', () => []))
    await time.advance(29_000)
    expect(first.ended).toBeUndefined()
    await time.advance(1_000)
    expect(first.ended?.error).toBeInstanceOf(PostgresUnavailable)
    const askedMs = time.monotonicMs()
    const second = watched(connectionOn(route).run('select 2', () => []))
    await time.advance(1_000)
    expect(second.ended?.error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('one:5432') })
    expect(second.ended?.ms).toBeLessThanOrEqual(askedMs + 1_000)
  })

  it('fails what is asked within a second where that is all the patience there is', async () => {
    const route = routeTo(URL_ONE, { retryForMs: 1_000 })
    const connection = connectionOn(route)
    await connection.run('select 1', () => [])
    for (const mood of ['refuses', 'standby'] as const) {
      servers.turn(mood)
      const askedMs = time.monotonicMs()
      const call = watched(connection.run('select 2', () => []))
      await time.advance(1_000)
      expect(call.ended?.error, mood).toBeInstanceOf(PostgresUnavailable)
      expect(call.ended?.ms).toBeLessThanOrEqual(askedMs + 1_000)
      await time.advance(60_000)
    }
  })
})

describe('a server that falls silent', () => {
  it('is left by all after the time it has to answer, and what was asked is asked of the next', async () => {
    const route = routeTo(URL_TWO)
    const connections = range(0, 5).map(() => connectionOn(route))
    await Promise.all(connections.map((each) => each.run('select 1', () => [])))
    expect(servers.connections).toBe(5)
    servers.turn('silent', 'one:5432')
    const again: boolean[] = []
    const call = watched(
      connections[0]?.run('select 2', (repeated) => {
        again.push(repeated)
        return []
      }) ?? Promise.resolve(),
    )
    // 5 s to answer, counted from the look before, and 5 for whoever asks after it to be let in.
    await time.advance(4_000)
    expect(servers.connections).toBe(5)
    await time.advance(8_000)
    expect(call.ended).toMatchObject({ error: undefined })
    expect(again).toEqual([false, true])
    expect(servers.asked.at(-1)).toEqual({ text: 'select 2', where: 'two:5432' })
    expect(servers.connections).toBe(1)
    await Promise.all(connections.map((each) => each.run('select 3', () => [])))
    expect(servers.asked.slice(-5).map(({ where }) => where)).toEqual(range(0, 5).map(() => 'two:5432'))
  })

  it('lets nobody wait longer than a host may take to let somebody in', async () => {
    servers.turn('silent')
    const call = watched(
      routeTo(URL_ONE).open({ name: 'test', pipeline: false, workMs: 0 }, 60_000, new AbortController().signal),
    )
    await time.advance(5_000)
    expect(call.ended?.error).toMatchObject({ message: expect.stringContaining('one:5432 (no answer within 5 s)') })
  })
})

describe('several hosts', () => {
  it('are tried in order until one takes writes; that one comes first from then on', async () => {
    servers.turn('refuses', 'one:5432')
    servers.turn('standby', 'two:5432')
    const route = routeTo('postgres://one:5432,two:5432,three:5432/app')
    const connection = connectionOn(route)
    await connection.run('select 1', () => [])
    expect(servers.knocks.map(({ where }) => where)).toEqual(['one:5432', 'two:5432', 'three:5432'])
    await connectionOn(route).run('select 1', () => [])
    expect(servers.knocks.at(-1)?.where).toBe('three:5432')
    expect(servers.knocks.length).toBe(4)
  })

  it('are tried in any order where that is asked for', async () => {
    const firsts = new Set<string>()
    for (const seed of range(1, 20)) {
      servers.knocks.length = 0
      await connectionOn(routeTo(`${URL_TWO}?load_balance_hosts=random`, { random: randomFrom(seed) })).run(
        'select',
        () => [],
      )
      firsts.add(servers.knocks[0]?.where ?? '')
    }
    expect([...firsts].toSorted()).toEqual(['one:5432', 'two:5432'])
  })

  it('may include standbys where any will do', async () => {
    servers.turn('standby')
    await connectionOn(routeTo(`${URL_ONE}?target_session_attrs=any`)).run('select 1', () => [])
    expect(servers.asked.length).toBe(1)
  })
})

describe('a primary that becomes a standby', () => {
  it('is left by all connections, and what it refused is asked of whoever takes writes', async () => {
    const route = routeTo(URL_TWO)
    const connections = range(0, 3).map(() => connectionOn(route))
    await Promise.all(connections.map((each) => each.run('select 1', () => [])))
    const refusal = Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' })
    servers.accident = () => {
      servers.accident = undefined
      return refusal
    }
    const again: boolean[] = []
    const call = connections[0]?.run('insert', (repeated) => {
      again.push(repeated)
      return []
    })
    servers.turn('standby', 'one:5432')
    await time.advance(1_000)
    await call
    expect(again, 'nothing had been done').toEqual([false, false])
    expect(servers.asked.at(-1)).toEqual({ text: 'insert', where: 'two:5432' })
  })
})

describe('a server that knows less than the one before', () => {
  it('is told nothing of what was asked of the other, on whichever connection, and is asked what comes later', async () => {
    const route = routeTo(URL_ONE)
    let forgets = true
    route.onReturn(async () => {
      if (!forgets) return
      // As a store does: once it was noticed nothing is known any more, and nothing is missed.
      forgets = false
      route.rewound()
      throw new PostgresRewound()
    })
    const connections = range(0, 4).map(() => connectionOn(route))
    await Promise.all(connections.map((each) => each.run('select 1', () => [])))
    servers.turn('refuses')
    await time.settle()
    const calls = connections.map((each) => watched(each.run('select of old numbers', () => [])))
    await time.advance(5_000)
    servers.turn('up')
    await time.advance(5_000)
    expect(calls.map(({ ended }) => ended?.error instanceof PostgresRewound)).toEqual(calls.map(() => true))
    expect(servers.asked.filter(({ text }) => text === 'select of old numbers')).toEqual([])
    const later = connections.map((each) => watched(each.run('select of new numbers', () => [])))
    await time.advance(1_000)
    expect(later.map(({ ended }) => ended?.error)).toEqual(later.map(() => undefined))
  })
})
