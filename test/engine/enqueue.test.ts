import { describe, expect, it } from 'vitest'
import { idNumber } from '../../src/core/id.ts'
import type { EnqueueAnswer, EnqueueRequest } from '../../src/engine/engine.ts'
import { IDEMPOTENCY_MS } from '../../src/engine/keys.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { SealedEngine } from '../../src/engine/sealed-engine.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { Between } from './between.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

const told = (answer: EnqueueAnswer): string =>
  answer.ok
    ? `${answer.job.id}${answer.deduped ? ' deduped' : ''}${answer.replayed ? ' replayed' : ''}`
    : answer.refusal.code

describe('ids', () => {
  it('are never given twice, by however many processes at once', async () => {
    const fixture = new EngineFixture()
    const engines = [fixture.engine, fixture.another(), fixture.another(), fixture.another()]
    const request: EnqueueRequest = { actor: 'producer', kind: fixture.kind, priority: 5, input: undefined }
    const answers = await Promise.all(
      engines.flatMap((engine) =>
        [1, 7, 400, 900].map((n) => engine.enqueue(Array.from({ length: n }, () => request))),
      ),
    )
    const ids = answers.flat().map((answer) => (answer.ok ? answer.job.id : 'refused'))
    expect(ids).toHaveLength(4 * 1_308)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('come in blocks: thousands of jobs cost a handful of reservations, which grow', async () => {
    const fixture = new EngineFixture()
    for (let n = 0; n < 20; n += 1) {
      await fixture.engine.enqueue(
        Array.from({ length: 500 }, () => ({ actor: 'producer', kind: fixture.kind, priority: 5, input: undefined })),
      )
    }
    const [answer] = await fixture.store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
    expect(answer?.settings[0]?.rev).toBeLessThan(8)
    const { next } = JSON.parse(answer?.settings[0]?.text ?? '') as { next: number }
    expect(next).toBeGreaterThan(10_000)
  })

  it.each([
    ['by itself', false],
    ['together', true],
  ])(
    'that a store has forgotten and given to others are not used: every job is there %s, under one of its own',
    async (_, together) => {
      const fixture = new EngineFixture()
      const request: EnqueueRequest = { actor: 'producer', kind: fixture.kind, priority: 5, input: '1' }
      const stale = fixture.engine
      const before = await stale.enqueue([request])
      await fixture.store.settings([{ op: 'remove', collection: 'ids', key: 'next', rev: undefined }])
      fixture.clock.advance(1)
      const after = await fixture.another().enqueue(Array.from({ length: 10 }, () => request))
      fixture.clock.advance(1)
      const late = await stale.enqueue(
        Array.from({ length: 20 }, () => request),
        undefined,
        together,
      )
      const ids = [...before, ...after, ...late].map(told)
      expect(new Set(ids).size).toBe(31)
      expect(ids.filter((id) => /[^\w]/.test(id))).toEqual([])
      const { jobs } = await fixture.engine.find({ order: 'oldest', limit: 100 })
      expect(jobs.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    },
  )

  it('of a call that needs more than a block are consecutive', async () => {
    const fixture = new EngineFixture()
    const answers = await fixture.engine.enqueue(
      Array.from({ length: 2_500 }, () => ({ actor: 'producer', kind: fixture.kind, priority: 5, input: undefined })),
    )
    const numbers = answers.map((answer) => (answer.ok ? idNumber(answer.job.id) : undefined))
    expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, i) => (numbers[0] ?? 0) + i))
  })
})

describe('ids of several tenants', () => {
  /** What tenant `mine` is given, with `others` jobs of somebody else's in between. */
  async function mine(others: number): Promise<readonly number[]> {
    const fixture = new EngineFixture()
    const enqueue = async (tenant: string, count: number) => {
      fixture.clock.advance(1_000)
      const kind = { ...fixture.kind, tenant }
      const request: EnqueueRequest = { actor: 'producer', kind, priority: 5, input: undefined }
      const answers = await fixture.engine.enqueue(new Array(count).fill(request))
      return answers.map((answer) => (answer.ok ? (idNumber(answer.job.id) ?? 0) : 0))
    }
    await enqueue('theirs', 1)
    const given: number[] = []
    for (let round = 0; round < 5; round += 1) {
      given.push(...(await enqueue('mine', 100)))
      for (let left = others; left > 0; left -= 500) await enqueue('theirs', Math.min(500, left))
      fixture.clock.advance(10_000 - 1_000 * Math.ceil(others / 500))
    }
    return given
  }

  it('tell a tenant nothing of what others do', async () => {
    const alone = await mine(1)
    expect(await mine(4_000)).toEqual(alone)
    expect(new Set(alone).size).toBe(500)
    expect(alone).toEqual(alone.toSorted((a, b) => a - b))
  })

  it('are short and follow each other as long as there is one', async () => {
    const fixture = new EngineFixture()
    const given: number[] = []
    for (let n = 0; n < 3; n += 1) given.push(idNumber((await fixture.enqueue()).id) ?? 0)
    expect(given).toEqual([1, 2, 3])
  })

  it('rise with time, whoever they are for, and are never given twice', async () => {
    const fixture = new EngineFixture()
    const engines = [fixture.engine, fixture.another()]
    const given: number[] = []
    for (let n = 0; n < 40; n += 1) {
      fixture.clock.advance(500)
      const kind = { ...fixture.kind, tenant: `t${n % 20}` }
      const requests = [kind, kind, { ...fixture.kind, tenant: `u${n}` }].map((kind) => ({ kind }))
      const whole = requests.map((each) => ({ actor: 'producer', priority: 5, input: undefined, ...each }))
      for (const answer of await (engines[n % 2] as LocalEngine).enqueue(whole))
        given.push(answer.ok ? (idNumber(answer.job.id) ?? 0) : 0)
    }
    expect(new Set(given).size).toBe(120)
    // A block that lies idle is used up later: what is new is above everything that was reserved before.
    const fresh = given.filter((_, i) => i % 3 === 2)
    expect(fresh).toEqual(fresh.toSorted((a, b) => a - b))
  })

  it('rise within one call, however tenants alternate in it and wherever a block ends', async () => {
    const fixture = new EngineFixture()
    const requestFor = (tenant: string): EnqueueRequest => ({
      actor: 'producer',
      kind: { ...fixture.kind, tenant },
      priority: 5,
      input: undefined,
    })
    // Both have a block that is nearly, but not wholly, used up: what follows next does not fit, what comes after would.
    for (const tenant of ['a', 'b', 'a']) await fixture.engine.enqueue(new Array(110).fill(requestFor(tenant)))
    const tenants = [...'a'.repeat(100), 'b', 'a', ...'b'.repeat(100), 'a', 'b']
    const answers = await fixture.engine.enqueue(tenants.map(requestFor))
    for (const tenant of ['a', 'b']) {
      const given = answers.flatMap((answer, i) =>
        tenants[i] === tenant && answer.ok ? [idNumber(answer.job.id) ?? 0] : [],
      )
      expect(given).toHaveLength(102)
      expect(given).toEqual(given.toSorted((x, y) => x - y))
      expect(new Set(given).size).toBe(102)
    }
  })
})

describe('enqueue', () => {
  it('refuses what is not right, item by item, with every violation', async () => {
    const fixture = new EngineFixture()
    const good: EnqueueRequest = { actor: 'producer', kind: fixture.kind, priority: 5, input: '1' }
    const answers = await fixture.engine.enqueue([
      good,
      { ...good, priority: 10 },
      { ...good, delayMs: Number.NaN },
      { ...good, delayMs: 1, runAt: 5 },
      { ...good, id: 'pj_1' },
      { ...good, idempotencyKey: 'a\nb' },
      { ...good, labels: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`l${i}`, 'x'])), dedupeKey: '' },
      good,
    ])
    const violations = answers.map((answer) => (answer.ok ? [] : answer.refusal.violations.map(({ field }) => field)))
    expect(violations).toEqual([
      [],
      ['priority'],
      ['delay', 'runAt'],
      ['runAt'],
      ['alias'],
      ['idempotencyKey'],
      ['dedupeKey', 'labels'],
      [],
    ])
  })

  it('runs a job later when asked to, by the store’s clock', async () => {
    const fixture = new EngineFixture()
    await fixture.enqueue({ delayMs: 10_000 })
    await fixture.enqueue({ runAt: fixture.clock.now() + 20_000 })
    expect(await fixture.claim(10)).toHaveLength(0)
    fixture.clock.advance(10_000)
    expect(await fixture.claim(10)).toHaveLength(1)
    fixture.clock.advance(10_000)
    expect(await fixture.claim(10)).toHaveLength(1)
  })

  it('costs one insert for a whole batch, and nothing at all for an empty one', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    expect(await fixture.engine.enqueue([])).toEqual([])
    await fixture.engine.enqueue(
      Array.from({ length: 100 }, () => ({ actor: 'producer', kind: fixture.kind, priority: 5, input: undefined })),
    )
    expect(between.calls.insert).toBe(1)
  })

  it('says overloaded, and when to come back, while the queue in front of the store is full', async () => {
    const full = Object.assign(new Error('100000 items are waiting'), { code: 'OVERLOADED' })
    const fixture = new EngineFixture({
      between: (store) => ({ ...new Between().wrap(store), insert: () => Promise.reject(full) }),
    })
    const answer = await fixture.tryEnqueue()
    expect(answer).toMatchObject({ ok: false, refusal: { code: 'OVERLOADED', retryAfterMs: 100 } })
  })
})

describe('a dedupe key', () => {
  it('stands for one live job of its type', async () => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ dedupeKey: 'k' })
    expect(told(await fixture.tryEnqueue({ dedupeKey: 'k', input: 'other' }))).toBe(`${first.id} deduped`)
    expect(told(await fixture.tryEnqueue({ dedupeKey: 'l' }))).not.toMatch(/deduped/)
    const elsewhere = { ...kindOf({}, 'q', 'other.type') }
    expect(told(await fixture.tryEnqueue({ dedupeKey: 'k', kind: elsewhere }))).not.toMatch(/deduped/)
    expect(told(await fixture.tryEnqueue({ dedupeKey: 'k', kind: { ...fixture.kind, tenant: 'u' } }))).not.toMatch(
      /dedu/,
    )
  })

  it('is free again when the job has ended, however it ended', async () => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ dedupeKey: 'k' })
    await fixture.must(first.id, { type: 'cancel', mode: 'soft' })
    const second = await fixture.claimed({ dedupeKey: 'k' })
    expect(second.job.id).not.toBe(first.id)
    await fixture.must(second.job.id, { type: 'complete', fence: second.fence })
    expect((await fixture.enqueue({ dedupeKey: 'k' })).id).not.toBe(second.job.id)
  })

  it('that another job has taken keeps the first from being reopened, naming the holder', async () => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ dedupeKey: 'k' })
    await fixture.must(first.id, { type: 'cancel', mode: 'soft' })
    const second = await fixture.enqueue({ dedupeKey: 'k' })
    const answer = await fixture.say(first.id, { type: 'reopen' })
    expect(answer).toMatchObject({ ok: false, refusal: { code: 'KEY_TAKEN', holder: second.id } })
    await fixture.must(second.id, { type: 'cancel', mode: 'soft' })
    await fixture.must(first.id, { type: 'reopen' })
    expect(told(await fixture.tryEnqueue({ dedupeKey: 'k' }))).toBe(`${first.id} deduped`)
  })

  it('may be held for a window, whatever became of the job', async () => {
    const fixture = new EngineFixture()
    const kind = kindOf({ dedupe: { for: '1h' } })
    const first = await fixture.enqueue({ kind, dedupeKey: 'k' })
    await fixture.must(first.id, { type: 'cancel', mode: 'soft' })
    fixture.clock.advance(3_599_999)
    expect(told(await fixture.tryEnqueue({ kind, dedupeKey: 'k' }))).toBe(`${first.id} deduped`)
    fixture.clock.advance(1)
    expect(told(await fixture.tryEnqueue({ kind, dedupeKey: 'k' }))).not.toMatch(/deduped/)
  })

  it('may be held for as long as the job is kept', async () => {
    const fixture = new EngineFixture()
    const kind = kindOf({ dedupe: { for: 'forever' } })
    const first = await fixture.enqueue({ kind, dedupeKey: 'k' })
    await fixture.must(first.id, { type: 'cancel', mode: 'soft' })
    fixture.clock.advance(365 * 24 * 3_600_000)
    expect(told(await fixture.tryEnqueue({ kind, dedupeKey: 'k' }))).toBe(`${first.id} deduped`)
  })

  it('has one winner among many at once', async () => {
    const fixture = new EngineFixture()
    const engines = Array.from({ length: 8 }, () => fixture.another())
    const answers = await Promise.all(engines.map((engine) => fixture.tryEnqueue({ dedupeKey: 'k' }, engine)))
    expect(new Set(answers.map((answer) => answer.ok && answer.job.id)).size).toBe(1)
    expect(answers.filter((answer) => answer.ok && !answer.deduped)).toHaveLength(1)
  })
})

describe('an idempotency key, an id of the producer’s, a request id', () => {
  const names = { idempotencyKey: 'i', id: 'order-7', requestId: 'req-7' } as const

  it.each(Object.entries(names))('%s: the same body is the same job, in whatever state', async (name, value) => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ [name]: value })
    expect(told(await fixture.tryEnqueue({ [name]: value }))).toBe(`${first.id} replayed`)
    await fixture.must(first.id, { type: 'cancel', mode: 'soft' })
    const again = await fixture.tryEnqueue({ [name]: value }, fixture.another())
    expect(told(again)).toBe(`${first.id} replayed`)
    expect(again.ok && again.job.state).toBe('cancelled')
  })

  const codes = { idempotencyKey: 'KEY_REUSED', id: 'ID_TAKEN', requestId: 'REQUEST_ID_REUSED' } as const

  it.each(Object.entries(names))('%s: another body is refused and names the holder', async (name, value) => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ [name]: value, input: '{"n":1}' })
    for (const other of [{ input: '{"n":2}' }, { input: undefined }, { labels: { a: 'b' } }]) {
      const answer = await fixture.tryEnqueue({ [name]: value, ...other })
      const code = codes[name as keyof typeof codes]
      expect(answer).toMatchObject({ ok: false, refusal: { code, holder: first.id } })
    }
  })

  it('of which the key and the request stand for the whole call, the id for the job only', async () => {
    const fixture = new EngineFixture()
    const asked = { input: '1', priority: 3, delayMs: 5_000 } as const
    for (const [name, value] of Object.entries(names)) await fixture.enqueue({ [name]: value, ...asked })
    const others = [{ priority: 4 }, { delayMs: 6_000 }, { delayMs: undefined }, { kind: { ...kindOf(), queue: 'q2' } }]
    for (const [name, value] of Object.entries(names)) {
      expect(told(await fixture.tryEnqueue({ [name]: value, ...asked }))).toMatch(/ replayed$/)
      for (const other of others) {
        const answer = await fixture.tryEnqueue({ [name]: value, ...asked, ...other })
        const same = name === 'id' && !('kind' in other)
        expect(answer.ok || answer.refusal.code).toBe(same || codes[name as keyof typeof codes])
      }
    }
  })

  it('is the same call at another time, after the job has moved on, and under a type that has changed', async () => {
    const fixture = new EngineFixture()
    const asked = { input: '1', delayMs: 5_000, idempotencyKey: 'k', unsaid: ['queue', 'policy'] } as const
    const first = await fixture.enqueue(asked)
    fixture.clock.advance(60_000)
    await fixture.must(first.id, { type: 'reschedule', priority: 9, runAt: fixture.clock.now() + 60_000 })
    expect(told(await fixture.tryEnqueue(asked))).toBe(`${first.id} replayed`)
    const changed = { ...kindOf({ retry: { attempts: 1 } }), queue: 'moved' }
    expect(told(await fixture.tryEnqueue({ ...asked, kind: changed }))).toBe(`${first.id} replayed`)
    const said = await fixture.tryEnqueue({ ...asked, kind: changed, unsaid: ['queue'] })
    expect(said).toMatchObject({ ok: false, refusal: { code: 'KEY_REUSED' } })
  })

  it('is judged by the key where a job has both it and the id', async () => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ id: 'order-7', idempotencyKey: 'k', priority: 3 })
    const other = await fixture.tryEnqueue({ id: 'order-7', idempotencyKey: 'k', priority: 4 })
    expect(other).toMatchObject({ ok: false, refusal: { code: 'KEY_REUSED', holder: first.id } })
    expect(told(await fixture.tryEnqueue({ id: 'order-7', idempotencyKey: 'another', priority: 4 }))).toMatch(
      / replayed$/,
    )
  })

  it.each(Object.entries(names))('%s: an answer that got lost is given again', async (name, value) => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    await fixture.enqueue()
    between.losing = 1
    await expect(fixture.tryEnqueue({ [name]: value })).rejects.toThrow('connection lost')
    expect(told(await fixture.tryEnqueue({ [name]: value }))).toMatch(/ replayed$/)
    expect((await fixture.store.find({ order: 'oldest', limit: 10 })).jobs).toHaveLength(2)
  })

  it('is remembered for 24 hours where it is an idempotency key, else as long as the job', async () => {
    const fixture = new EngineFixture()
    for (const [name, value] of Object.entries(names)) await fixture.enqueue({ [name]: value })
    fixture.clock.advance(IDEMPOTENCY_MS)
    expect(told(await fixture.tryEnqueue({ idempotencyKey: 'i' }))).not.toMatch(/replayed/)
    expect(told(await fixture.tryEnqueue({ id: 'order-7' }))).toMatch(/replayed/)
    expect(told(await fixture.tryEnqueue({ requestId: 'req-7' }))).toMatch(/replayed/)
  })

  it('works wherever an id does, within its tenant', async () => {
    const fixture = new EngineFixture()
    const { id } = await fixture.enqueue({ id: 'order-7' })
    const word = fixture.word('order-7', { type: 'cancel', mode: 'soft' })
    expect(await fixture.engine.settle([{ ...word, tenant: 'u' }])).toMatchObject([{ refusal: { code: 'NOT_FOUND' } }])
    expect(await fixture.engine.settle([{ ...word, tenant: 't' }])).toMatchObject([{ ok: true, jobId: id }])
  })
})

describe('jobs that come together', () => {
  const request = (fixture: EngineFixture, more: Partial<EnqueueRequest> = {}): EnqueueRequest => ({
    actor: 'producer',
    kind: fixture.kind,
    priority: 5,
    input: '1',
    ...more,
  })
  const all = async (fixture: EngineFixture) => (await fixture.store.find({ order: 'oldest', limit: 100 })).jobs

  it('are all there, whoever was first with the same job or piece of business', async () => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ dedupeKey: 'd', id: 'order-7' })
    const again = await fixture.enqueue({ idempotencyKey: 'k', input: '1' })
    const asked = [
      request(fixture),
      request(fixture, { dedupeKey: 'd' }),
      request(fixture, { idempotencyKey: 'k' }),
      request(fixture, { dedupeKey: 'new' }),
      request(fixture, { dedupeKey: 'new' }),
    ]
    const answers = await fixture.engine.enqueue(asked, undefined, true)
    const born = (await all(fixture)).slice(-2).map(({ id }) => id)
    expect(answers.map(told)).toEqual([
      born[0],
      `${first.id} deduped`,
      `${again.id} replayed`,
      born[1],
      `${born[1]} deduped`,
    ])
    expect(await all(fixture)).toHaveLength(4)
    expect(await fixture.engine.enqueue([], undefined, true)).toEqual([])
  })

  it('are not there at all where one of them is refused, and each is told which', async () => {
    const fixture = new EngineFixture()
    await fixture.enqueue({ id: 'order-7', input: '"other"' })
    for (const bad of [{ priority: 99 }, { id: 'order-7' }]) {
      const asked = [request(fixture), request(fixture, bad), request(fixture, { dedupeKey: 'd' })]
      const answers = await fixture.engine.enqueue(asked, undefined, true)
      const code = 'id' in bad ? 'ID_TAKEN' : 'INVALID'
      expect(answers.map(told)).toEqual(['OTHERS_REFUSED', code, 'OTHERS_REFUSED'])
      expect(await all(fixture)).toHaveLength(1)
    }
  })

  it('have the job that the one they met has met in turn', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const rival = fixture.another()
    between.afterInsert = async () => void (await fixture.tryEnqueue({ dedupeKey: 'd' }, rival))
    const asked = [request(fixture, { dedupeKey: 'd' }), request(fixture, { dedupeKey: 'd' })]
    const answers = await fixture.engine.enqueue(asked, undefined, true)
    const [only, ...others] = await all(fixture)
    expect(others).toEqual([])
    expect(answers.map(told)).toEqual([`${only?.id} deduped`, `${only?.id} deduped`])
  })
})

describe('bodies pass through one codec', () => {
  it('on their way in and out, whichever way they go', async () => {
    const fixture = new EngineFixture()
    const codec = {
      encode: (text: string) => `sealed:${[...text].reverse().join('')}`,
      decode: (text: string) => [...text.slice(7)].reverse().join(''),
    }
    const { store, clock } = fixture
    const local = new LocalEngine({ store, clock, random: realRandom, timers: realTimers })
    const engine = new SealedEngine(local, codec, realRandom)
    const answer = await fixture.tryEnqueue({ input: '{"n":12}', idempotencyKey: 'k' }, engine)
    expect(told(await fixture.tryEnqueue({ input: '{"n":12}', idempotencyKey: 'k' }, engine))).toMatch(/replayed/)
    const id = answer.ok ? answer.job.id : ''
    const [assignment] = await fixture.claim(1, engine)
    expect(assignment?.input).toBe('{"n":12}')
    const result = { name: 'output', size: 2, digest: undefined }
    const saying = { type: 'complete', fence: assignment?.fence ?? '', result } as const
    await fixture.say(id, saying, engine, [{ name: 'output', text: '42' }])
    const stored = (await store.load([{ id, bodies: ['input', 'output'] }])).items[0]?.bodies
    expect(stored).toEqual({
      input: expect.stringMatching(/^sealed:\}21:"n"\{\n/),
      output: expect.stringMatching(/^sealed:24\n/),
    })
    const plain = (await engine.load([{ id, bodies: ['input', 'output'] }])).items[0]?.bodies
    expect(plain).toEqual({ input: '{"n":12}', output: '42' })
  })
})

describe('the store’s clock as a process estimates it', () => {
  it('is never ahead of the store, and moves with monotonic time', async () => {
    const fixture = new EngineFixture()
    const wall = { now: () => 5, monotonicMs: () => fixture.clock.monotonicMs() + 0.7 }
    const { store } = fixture
    const engine = new LocalEngine({ store, clock: wall, random: realRandom, timers: realTimers })
    await engine.load([])
    expect(engine.now()).toBe(fixture.clock.now())
    fixture.clock.advance(1_234)
    expect(engine.now()).toBe(fixture.clock.now())
  })
})
