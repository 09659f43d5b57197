/** Failed authentications are rationed; whoever has shown a good token never notices. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { capsWith } from '../../src/gateway/caps.ts'
import { Guard } from '../../src/gateway/guard.ts'
import { Objected } from '../../src/gateway/problem.ts'
import { Strangers } from '../../src/gateway/strangers.ts'
import type { SettingOperation } from '../../src/store/store.ts'
import { turn } from '../../src/system/turn.ts'
import { VirtualClock } from '../engine/virtual-clock.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

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
    const refusal = guard.attempt(address)
    if (refusal === undefined) allowed += 1
    else expect(refusal).toBeInstanceOf(Objected)
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
    expect(guard.attempt('a')).toEqual(
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

describe('strangers beyond the ration', () => {
  it('are asked about together, one question at a time, and so many at most', async () => {
    const questions: { readonly secrets: readonly string[]; readonly answer: () => void }[] = []
    const identifyAll = (secrets: readonly string[]) =>
      new Promise<readonly undefined[]>((resolve) =>
        questions.push({ secrets, answer: () => resolve(secrets.map(() => undefined)) }),
      )
    const strangers = new Strangers({ identifyAll })
    const all = Array.from({ length: 500 }, (_, n) => strangers.identify(madeUp(n)))
    const same = strangers.identify(madeUp(7))
    expect(questions.map(({ secrets }) => secrets.length)).toEqual([1])
    questions[0]?.answer()
    await all[0]
    await turn()
    expect(questions.map(({ secrets }) => secrets.length)).toEqual([1, 200])
    questions[1]?.answer()
    expect(await Promise.all([...all, same])).toEqual(new Array(501).fill(undefined))
    expect(questions).toHaveLength(2)
  })

  it('are told when the store cannot be asked, and asked about again', async () => {
    let isAway = true
    const identifyAll = async (secrets: readonly string[]) => {
      if (isAway) throw new Error('away')
      return secrets.map(() => undefined)
    }
    const strangers = new Strangers({ identifyAll })
    await expect(strangers.identify(madeUp(1))).rejects.toThrow('away')
    isAway = false
    expect(await strangers.identify(madeUp(1))).toBeUndefined()
  })
})

describe('a gateway whose door is tried', () => {
  it('lets so many made-up tokens fail and no more, and goes on serving good ones', async () => {
    await using fixture = await openGatewayFixture({ caps: { failuresPerAddress: 20 } })
    expect((await fixture.ask('viewer', 'GET', '/v1/jobs')).status).toBe(200)
    const answers = []
    for (let n = 0; n < 60; n += 1) answers.push(await fixture.ask(madeUp(n), 'GET', '/v1/jobs'))
    const statuses = Map.groupBy(answers, ({ status }) => status)
    expect(statuses.get(401)?.length ?? 0).toBeGreaterThanOrEqual(20)
    // One more for each second that has passed meanwhile.
    expect(statuses.get(401)?.length ?? 0).toBeLessThan(50)
    for (const { body, headers } of statuses.get(429) ?? []) {
      expect(body).toMatchObject({ code: 'RATE', cap: 'failuresPerAddress' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    // Known by now, and as welcome as ever from the very same address.
    for (let n = 0; n < 20; n += 1) expect((await fixture.ask('viewer', 'GET', '/v1/jobs')).status).toBe(200)
  })

  it('lets in who has a good token that nobody here has seen yet, whatever others at its address do', async () => {
    const clock = new VirtualClock()
    await using fixture = await openGatewayFixture({ clock, caps: { failuresPerAddress: 1, failures: 1 } })
    for (let n = 0; n < 3; n += 1) await fixture.ask(madeUp(n), 'GET', '/v1/jobs')
    expect((await fixture.ask(madeUp(9), 'GET', '/v1/jobs')).status).toBe(429)
    for (const scope of ['producer', 'viewer', 'admin'] as const)
      expect((await fixture.ask(scope, 'GET', '/v1/jobs')).status).toBe(200)
    expect((await fixture.ask('nonsense', 'GET', '/v1/jobs')).status).toBe(429)
  })

  it('rations who knows the id of a good token and makes up its secret', async () => {
    const clock = new VirtualClock()
    await using fixture = await openGatewayFixture({ clock, caps: { failuresPerAddress: 5 } })
    expect((await fixture.ask('viewer', 'GET', '/v1/jobs')).status).toBe(200)
    const known = fixture.secrets['acme']?.viewer.slice(0, 'pawl_0123456789abcdef_'.length) ?? ''
    const statuses = []
    for (let n = 0; n < 10; n += 1)
      statuses.push((await fixture.ask(known + String(n).padStart(43, 'a'), 'GET', '/v1/jobs')).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429, 429])
    expect((await fixture.ask('viewer', 'GET', '/v1/jobs')).status).toBe(200)
  })

  it('keeps what it knows of good tokens, however many are made up', async () => {
    const asked: string[] = []
    const caps = { failuresPerAddress: 1e6, failures: 1e6 }
    // A clock that stands: what is known stays known.
    const clock = new VirtualClock()
    await using fixture = await openGatewayFixture({ caps, clock }, (engine) => counting(engine, asked))
    await fixture.ask('viewer', 'GET', '/v1/jobs')
    for (let n = 0; n < 300; n += 1) await fixture.ask(madeUp(n), 'GET', '/v1/jobs')
    asked.length = 0
    await fixture.ask('viewer', 'GET', '/v1/jobs')
    expect(asked).toEqual([])
  })

  it('asks once for all who use a token at the same time, and rations nobody whose token was revoked', async () => {
    const asked: string[] = []
    const clock = new VirtualClock()
    await using fixture = await openGatewayFixture({ clock, caps: { failuresPerAddress: 1 } }, (engine) =>
      counting(engine, asked),
    )
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 't',
      scope: 'viewer',
      tenant: 'acme',
      queues: undefined,
    })
    expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(200)
    clock.advance(3_000)
    asked.length = 0
    await Promise.all(Array.from({ length: 20 }, () => fixture.ask(secret, 'GET', '/v1/machine')))
    expect(asked.length).toBeLessThanOrEqual(3)
    await fixture.gateway.tokens.revoke(token.id, 'acme')
    // The first look at it after that may count; it has shown its secret, so the rest are not attempts of a stranger.
    for (let n = 0; n < 10; n += 1) expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(401)
  })

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('knows the scheme as %s', async (scheme) => {
    await using fixture = await openGatewayFixture()
    const authorization = `${scheme} ${fixture.secrets['acme']?.viewer}`
    expect((await fixture.ask(undefined, 'GET', '/v1/jobs', undefined, { authorization })).status).toBe(200)
    const stream = await fetch(`${fixture.gateway.url}/v1/events`, {
      headers: { authorization, accept: 'text/event-stream' },
    })
    expect(stream.status).toBe(200)
    await stream.body?.cancel()
  })
})
