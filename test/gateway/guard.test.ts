/** Failed authentications are rationed; whoever has shown a good token never notices. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { capsWith } from '../../src/gateway/caps.ts'
import { Guard } from '../../src/gateway/guard.ts'
import { Objected } from '../../src/gateway/problem.ts'
import type { SettingOperation } from '../../src/store/store.ts'
import { VirtualClock } from '../engine/virtual-clock.ts'
import { house } from './house.ts'

const madeUp = (n: number) => `pawl_${n.toString(16).padStart(16, '0')}_${'a'.repeat(43)}`

/** The same engine, which counts how often it is asked for a token. */
const counting = (engine: Engine, asked: string[]): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'settings') return value.bind(target)
      return (operations: readonly SettingOperation[]) => {
        for (const each of operations) if (each.op === 'get' && each.collection === 'token') asked.push(each.key)
        return target.settings(operations)
      }
    },
  })

const tries = (guard: Guard, address: string, count: number): number => {
  let allowed = 0
  for (let n = 0; n < count; n += 1) {
    try {
      guard.attempt(address)
      allowed += 1
    } catch (error) {
      expect(error).toBeInstanceOf(Objected)
    }
  }
  return allowed
}

describe('the guard', () => {
  it('lets so many fail per address and minute, and so many in all', () => {
    const clock = new VirtualClock()
    const guard = new Guard(capsWith({ failuresPerAddress: 10, failures: 25 }), clock, 'salt')
    expect(tries(guard, 'a', 20)).toBe(10)
    expect(tries(guard, 'b', 20)).toBe(10)
    expect(tries(guard, 'c', 20)).toBe(5)
    clock.advance(60_000)
    expect(tries(guard, 'a', 20)).toBe(10)
    clock.advance(6_000)
    expect(tries(guard, 'a', 20)).toBe(1)
  })

  it('does not count who was good after all', () => {
    const guard = new Guard(capsWith({ failuresPerAddress: 2 }), new VirtualClock(), 'salt')
    for (let n = 0; n < 100; n += 1) {
      guard.attempt('a')
      guard.succeeded('a')
    }
    expect(tries(guard, 'a', 5)).toBe(2)
  })

  it('says when to come back, and which cap it was', () => {
    const guard = new Guard(capsWith({ failuresPerAddress: 1 }), new VirtualClock(), 'salt')
    guard.attempt('a')
    expect(() => guard.attempt('a')).toThrow(
      expect.objectContaining({
        problem: expect.objectContaining({
          status: 429,
          retryAfterMs: 60_000,
          body: expect.objectContaining({ cap: 'failuresPerAddress', most: 1 }),
        }),
      }),
    )
  })
})

describe('a gateway whose door is tried', () => {
  it('asks the store about so many made-up tokens and no more, and goes on serving good ones', async () => {
    const asked: string[] = []
    await using home = await house({ caps: { failuresPerAddress: 20 } }, (engine) => counting(engine, asked))
    expect((await home.ask('viewer', 'GET', '/v1/jobs')).status).toBe(200)
    asked.length = 0
    const answers = []
    for (let n = 0; n < 60; n += 1) answers.push(await home.ask(madeUp(n), 'GET', '/v1/jobs'))
    const statuses = Map.groupBy(answers, ({ status }) => status)
    expect(statuses.get(401)?.length ?? 0).toBeGreaterThanOrEqual(20)
    // One more for each second that has passed meanwhile.
    expect(statuses.get(401)?.length ?? 0).toBeLessThan(50)
    expect(asked.filter((id) => id.startsWith('00000000000000')).length).toBe(statuses.get(401)?.length)
    for (const { body, headers } of statuses.get(429) ?? []) {
      expect(body).toMatchObject({ code: 'RATE', cap: 'failuresPerAddress' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    // Known by now, and as welcome as ever from the very same address.
    for (let n = 0; n < 20; n += 1) expect((await home.ask('viewer', 'GET', '/v1/jobs')).status).toBe(200)
  })

  it('keeps what it knows of good tokens, however many are made up', async () => {
    const asked: string[] = []
    const caps = { failuresPerAddress: 1e6, failures: 1e6 }
    // A clock that stands: what is known stays known.
    const clock = new VirtualClock()
    await using home = await house({ caps, clock }, (engine) => counting(engine, asked))
    await home.ask('viewer', 'GET', '/v1/jobs')
    for (let n = 0; n < 300; n += 1) await home.ask(madeUp(n), 'GET', '/v1/jobs')
    asked.length = 0
    await home.ask('viewer', 'GET', '/v1/jobs')
    expect(asked).toEqual([])
  })

  it('asks once for all who use a token at the same time, and rations nobody whose token was revoked', async () => {
    const asked: string[] = []
    const clock = new VirtualClock()
    await using home = await house({ clock, caps: { failuresPerAddress: 1 } }, (engine) => counting(engine, asked))
    const { token, secret } = await home.gateway.tokens.create({
      name: 't',
      scope: 'viewer',
      tenant: 'acme',
      queues: undefined,
    })
    expect((await home.ask(secret, 'GET', '/v1/jobs')).status).toBe(200)
    clock.advance(3_000)
    asked.length = 0
    await Promise.all(Array.from({ length: 20 }, () => home.ask(secret, 'GET', '/v1/machine')))
    expect(asked.length).toBeLessThanOrEqual(3)
    await home.gateway.tokens.revoke(token.id, 'acme')
    // The first look at it after that may count; it has shown its secret, so the rest are not attempts of a stranger.
    for (let n = 0; n < 10; n += 1) expect((await home.ask(secret, 'GET', '/v1/jobs')).status).toBe(401)
  })

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('knows the scheme as %s', async (scheme) => {
    await using home = await house()
    const authorization = `${scheme} ${home.secrets['acme']?.viewer}`
    expect((await home.ask(undefined, 'GET', '/v1/jobs', undefined, { authorization })).status).toBe(200)
    const stream = await fetch(`${home.gateway.url}/v1/events`, {
      headers: { authorization, accept: 'text/event-stream' },
    })
    expect(stream.status).toBe(200)
    await stream.body?.cancel()
  })
})
