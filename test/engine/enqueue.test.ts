import { describe, expect, it } from 'vitest'
import { idNumber } from '../../src/core/id.ts'
import type { EnqueueAnswer, EnqueueRequest } from '../../src/engine/engine.ts'
import { IDEMPOTENCY_MS } from '../../src/engine/keys.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { SealedEngine } from '../../src/engine/sealed-engine.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { Bench, kindOf } from './bench.ts'
import { Between } from './between.ts'

const told = (answer: EnqueueAnswer): string =>
  answer.ok
    ? `${answer.job.id}${answer.deduped ? ' deduped' : ''}${answer.replayed ? ' replayed' : ''}`
    : answer.refusal.code

describe('ids', () => {
  it('are never given twice, by however many processes at once', async () => {
    const bench = new Bench()
    const engines = [bench.engine, bench.another(), bench.another(), bench.another()]
    const request: EnqueueRequest = { actor: 'producer', kind: bench.kind, priority: 5, input: undefined }
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
    const bench = new Bench()
    for (let n = 0; n < 20; n += 1) {
      await bench.engine.enqueue(
        Array.from({ length: 500 }, () => ({ actor: 'producer', kind: bench.kind, priority: 5, input: undefined })),
      )
    }
    const [answer] = await bench.store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
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
      const bench = new Bench()
      const request: EnqueueRequest = { actor: 'producer', kind: bench.kind, priority: 5, input: '1' }
      const stale = bench.engine
      const before = await stale.enqueue([request])
      await bench.store.settings([{ op: 'remove', collection: 'ids', key: 'next', rev: undefined }])
      bench.clock.advance(1)
      const after = await bench.another().enqueue(Array.from({ length: 10 }, () => request))
      bench.clock.advance(1)
      const late = await stale.enqueue(
        Array.from({ length: 20 }, () => request),
        undefined,
        together,
      )
      const ids = [...before, ...after, ...late].map(told)
      expect(new Set(ids).size).toBe(31)
      expect(ids.filter((id) => /[^\w]/.test(id))).toEqual([])
      const { jobs } = await bench.engine.find({ order: 'oldest', limit: 100 })
      expect(jobs.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    },
  )

  it('of a call that needs more than a block are consecutive', async () => {
    const bench = new Bench()
    const answers = await bench.engine.enqueue(
      Array.from({ length: 2_500 }, () => ({ actor: 'producer', kind: bench.kind, priority: 5, input: undefined })),
    )
    const numbers = answers.map((answer) => (answer.ok ? idNumber(answer.job.id) : undefined))
    expect(numbers).toEqual(Array.from({ length: 2_500 }, (_, i) => (numbers[0] ?? 0) + i))
  })
})

describe('ids of several tenants', () => {
  /** What tenant `mine` is given, with `others` jobs of somebody else's in between. */
  async function mine(others: number): Promise<readonly number[]> {
    const bench = new Bench()
    const enqueue = async (tenant: string, count: number) => {
      bench.clock.advance(1_000)
      const kind = { ...bench.kind, tenant }
      const request: EnqueueRequest = { actor: 'producer', kind, priority: 5, input: undefined }
      const answers = await bench.engine.enqueue(new Array(count).fill(request))
      return answers.map((answer) => (answer.ok ? (idNumber(answer.job.id) ?? 0) : 0))
    }
    await enqueue('theirs', 1)
    const given: number[] = []
    for (let round = 0; round < 5; round += 1) {
      given.push(...(await enqueue('mine', 100)))
      for (let left = others; left > 0; left -= 500) await enqueue('theirs', Math.min(500, left))
      bench.clock.advance(10_000 - 1_000 * Math.ceil(others / 500))
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
    const bench = new Bench()
    const given: number[] = []
    for (let n = 0; n < 3; n += 1) given.push(idNumber((await bench.enqueue()).id) ?? 0)
    expect(given).toEqual([1, 2, 3])
  })

  it('rise with time, whoever they are for, and are never given twice', async () => {
    const bench = new Bench()
    const engines = [bench.engine, bench.another()]
    const given: number[] = []
    for (let n = 0; n < 40; n += 1) {
      bench.clock.advance(500)
      const kind = { ...bench.kind, tenant: `t${n % 20}` }
      const requests = [kind, kind, { ...bench.kind, tenant: `u${n}` }].map((kind) => ({ kind }))
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
    const bench = new Bench()
    const requestFor = (tenant: string): EnqueueRequest => ({
      actor: 'producer',
      kind: { ...bench.kind, tenant },
      priority: 5,
      input: undefined,
    })
    // Both have a block that is nearly, but not wholly, used up: what follows next does not fit, what comes after would.
    for (const tenant of ['a', 'b', 'a']) await bench.engine.enqueue(new Array(110).fill(requestFor(tenant)))
    const tenants = [...'a'.repeat(100), 'b', 'a', ...'b'.repeat(100), 'a', 'b']
    const answers = await bench.engine.enqueue(tenants.map(requestFor))
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
    const bench = new Bench()
    const good: EnqueueRequest = { actor: 'producer', kind: bench.kind, priority: 5, input: '1' }
    const answers = await bench.engine.enqueue([
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
    const bench = new Bench()
    await bench.enqueue({ delayMs: 10_000 })
    await bench.enqueue({ runAt: bench.clock.now() + 20_000 })
    expect(await bench.claim(10)).toHaveLength(0)
    bench.clock.advance(10_000)
    expect(await bench.claim(10)).toHaveLength(1)
    bench.clock.advance(10_000)
    expect(await bench.claim(10)).toHaveLength(1)
  })

  it('costs one insert for a whole batch, and nothing at all for an empty one', async () => {
    const between = new Between()
    const bench = new Bench({ between: (store) => between.wrap(store) })
    expect(await bench.engine.enqueue([])).toEqual([])
    await bench.engine.enqueue(
      Array.from({ length: 100 }, () => ({ actor: 'producer', kind: bench.kind, priority: 5, input: undefined })),
    )
    expect(between.calls.insert).toBe(1)
  })

  it('says overloaded, and when to come back, while the queue in front of the store is full', async () => {
    const full = Object.assign(new Error('100000 items are waiting'), { code: 'OVERLOADED' })
    const bench = new Bench({
      between: (store) => ({ ...new Between().wrap(store), insert: () => Promise.reject(full) }),
    })
    const answer = await bench.tryEnqueue()
    expect(answer).toMatchObject({ ok: false, refusal: { code: 'OVERLOADED', retryAfterMs: 100 } })
  })
})

describe('a dedupe key', () => {
  it('stands for one live job of its type', async () => {
    const bench = new Bench()
    const first = await bench.enqueue({ dedupeKey: 'k' })
    expect(told(await bench.tryEnqueue({ dedupeKey: 'k', input: 'other' }))).toBe(`${first.id} deduped`)
    expect(told(await bench.tryEnqueue({ dedupeKey: 'l' }))).not.toMatch(/deduped/)
    const elsewhere = { ...kindOf({}, 'q', 'other.type') }
    expect(told(await bench.tryEnqueue({ dedupeKey: 'k', kind: elsewhere }))).not.toMatch(/deduped/)
    expect(told(await bench.tryEnqueue({ dedupeKey: 'k', kind: { ...bench.kind, tenant: 'u' } }))).not.toMatch(/dedu/)
  })

  it('is free again when the job has ended, however it ended', async () => {
    const bench = new Bench()
    const first = await bench.enqueue({ dedupeKey: 'k' })
    await bench.must(first.id, { type: 'cancel', mode: 'soft' })
    const second = await bench.claimed({ dedupeKey: 'k' })
    expect(second.job.id).not.toBe(first.id)
    await bench.must(second.job.id, { type: 'complete', fence: second.fence })
    expect((await bench.enqueue({ dedupeKey: 'k' })).id).not.toBe(second.job.id)
  })

  it('that another job has taken keeps the first from being reopened, naming the holder', async () => {
    const bench = new Bench()
    const first = await bench.enqueue({ dedupeKey: 'k' })
    await bench.must(first.id, { type: 'cancel', mode: 'soft' })
    const second = await bench.enqueue({ dedupeKey: 'k' })
    const answer = await bench.say(first.id, { type: 'reopen' })
    expect(answer).toMatchObject({ ok: false, refusal: { code: 'KEY_TAKEN', holder: second.id } })
    await bench.must(second.id, { type: 'cancel', mode: 'soft' })
    await bench.must(first.id, { type: 'reopen' })
    expect(told(await bench.tryEnqueue({ dedupeKey: 'k' }))).toBe(`${first.id} deduped`)
  })

  it('may be held for a window, whatever became of the job', async () => {
    const bench = new Bench()
    const kind = kindOf({ dedupeFor: '1h' })
    const first = await bench.enqueue({ kind, dedupeKey: 'k' })
    await bench.must(first.id, { type: 'cancel', mode: 'soft' })
    bench.clock.advance(3_599_999)
    expect(told(await bench.tryEnqueue({ kind, dedupeKey: 'k' }))).toBe(`${first.id} deduped`)
    bench.clock.advance(1)
    expect(told(await bench.tryEnqueue({ kind, dedupeKey: 'k' }))).not.toMatch(/deduped/)
  })

  it('may be held for as long as the job is kept', async () => {
    const bench = new Bench()
    const kind = kindOf({ dedupeFor: 'forever' })
    const first = await bench.enqueue({ kind, dedupeKey: 'k' })
    await bench.must(first.id, { type: 'cancel', mode: 'soft' })
    bench.clock.advance(365 * 24 * 3_600_000)
    expect(told(await bench.tryEnqueue({ kind, dedupeKey: 'k' }))).toBe(`${first.id} deduped`)
  })

  it('has one winner among many at once', async () => {
    const bench = new Bench()
    const engines = Array.from({ length: 8 }, () => bench.another())
    const answers = await Promise.all(engines.map((engine) => bench.tryEnqueue({ dedupeKey: 'k' }, engine)))
    expect(new Set(answers.map((answer) => answer.ok && answer.job.id)).size).toBe(1)
    expect(answers.filter((answer) => answer.ok && !answer.deduped)).toHaveLength(1)
  })
})

describe('an idempotency key, an id of the producer’s, a request id', () => {
  const names = { idempotencyKey: 'i', id: 'order-7', requestId: 'req-7' } as const

  it.each(Object.entries(names))('%s: the same body is the same job, in whatever state', async (name, value) => {
    const bench = new Bench()
    const first = await bench.enqueue({ [name]: value })
    expect(told(await bench.tryEnqueue({ [name]: value }))).toBe(`${first.id} replayed`)
    await bench.must(first.id, { type: 'cancel', mode: 'soft' })
    const again = await bench.tryEnqueue({ [name]: value }, bench.another())
    expect(told(again)).toBe(`${first.id} replayed`)
    expect(again.ok && again.job.state).toBe('cancelled')
  })

  const codes = { idempotencyKey: 'KEY_REUSED', id: 'ID_TAKEN', requestId: 'REQUEST_ID_REUSED' } as const

  it.each(Object.entries(names))('%s: another body is refused and names the holder', async (name, value) => {
    const bench = new Bench()
    const first = await bench.enqueue({ [name]: value, input: '{"n":1}' })
    for (const other of [{ input: '{"n":2}' }, { input: undefined }, { labels: { a: 'b' } }]) {
      const answer = await bench.tryEnqueue({ [name]: value, ...other })
      const code = codes[name as keyof typeof codes]
      expect(answer).toMatchObject({ ok: false, refusal: { code, holder: first.id } })
    }
  })

  it('of which the key and the request stand for the whole call, the id for the job only', async () => {
    const bench = new Bench()
    const asked = { input: '1', priority: 3, delayMs: 5_000 } as const
    for (const [name, value] of Object.entries(names)) await bench.enqueue({ [name]: value, ...asked })
    const others = [{ priority: 4 }, { delayMs: 6_000 }, { delayMs: undefined }, { kind: { ...kindOf(), queue: 'q2' } }]
    for (const [name, value] of Object.entries(names)) {
      expect(told(await bench.tryEnqueue({ [name]: value, ...asked }))).toMatch(/ replayed$/)
      for (const other of others) {
        const answer = await bench.tryEnqueue({ [name]: value, ...asked, ...other })
        const same = name === 'id' && !('kind' in other)
        expect(answer.ok || answer.refusal.code).toBe(same || codes[name as keyof typeof codes])
      }
    }
  })

  it('is the same call at another time, after the job has moved on, and under a type that has changed', async () => {
    const bench = new Bench()
    const asked = { input: '1', delayMs: 5_000, idempotencyKey: 'k', unsaid: ['queue', 'policy'] } as const
    const first = await bench.enqueue(asked)
    bench.clock.advance(60_000)
    await bench.must(first.id, { type: 'reschedule', priority: 9, runAt: bench.clock.now() + 60_000 })
    expect(told(await bench.tryEnqueue(asked))).toBe(`${first.id} replayed`)
    const changed = { ...kindOf({ retry: { attempts: 1 } }), queue: 'moved' }
    expect(told(await bench.tryEnqueue({ ...asked, kind: changed }))).toBe(`${first.id} replayed`)
    const said = await bench.tryEnqueue({ ...asked, kind: changed, unsaid: ['queue'] })
    expect(said).toMatchObject({ ok: false, refusal: { code: 'KEY_REUSED' } })
  })

  it('is judged by the key where a job has both it and the id', async () => {
    const bench = new Bench()
    const first = await bench.enqueue({ id: 'order-7', idempotencyKey: 'k', priority: 3 })
    const other = await bench.tryEnqueue({ id: 'order-7', idempotencyKey: 'k', priority: 4 })
    expect(other).toMatchObject({ ok: false, refusal: { code: 'KEY_REUSED', holder: first.id } })
    expect(told(await bench.tryEnqueue({ id: 'order-7', idempotencyKey: 'another', priority: 4 }))).toMatch(
      / replayed$/,
    )
  })

  it.each(Object.entries(names))('%s: an answer that got lost is given again', async (name, value) => {
    const between = new Between()
    const bench = new Bench({ between: (store) => between.wrap(store) })
    await bench.enqueue()
    between.losing = 1
    await expect(bench.tryEnqueue({ [name]: value })).rejects.toThrow('connection lost')
    expect(told(await bench.tryEnqueue({ [name]: value }))).toMatch(/ replayed$/)
    expect((await bench.store.find({ order: 'oldest', limit: 10 })).jobs).toHaveLength(2)
  })

  it('is remembered for 24 hours where it is an idempotency key, else as long as the job', async () => {
    const bench = new Bench()
    for (const [name, value] of Object.entries(names)) await bench.enqueue({ [name]: value })
    bench.clock.advance(IDEMPOTENCY_MS)
    expect(told(await bench.tryEnqueue({ idempotencyKey: 'i' }))).not.toMatch(/replayed/)
    expect(told(await bench.tryEnqueue({ id: 'order-7' }))).toMatch(/replayed/)
    expect(told(await bench.tryEnqueue({ requestId: 'req-7' }))).toMatch(/replayed/)
  })

  it('works wherever an id does, within its tenant', async () => {
    const bench = new Bench()
    const { id } = await bench.enqueue({ id: 'order-7' })
    const word = bench.word('order-7', { type: 'cancel', mode: 'soft' })
    expect(await bench.engine.settle([{ ...word, tenant: 'u' }])).toMatchObject([{ refusal: { code: 'NOT_FOUND' } }])
    expect(await bench.engine.settle([{ ...word, tenant: 't' }])).toMatchObject([{ ok: true, jobId: id }])
  })
})

describe('jobs that come together', () => {
  const request = (bench: Bench, more: Partial<EnqueueRequest> = {}): EnqueueRequest => ({
    actor: 'producer',
    kind: bench.kind,
    priority: 5,
    input: '1',
    ...more,
  })
  const all = async (bench: Bench) => (await bench.store.find({ order: 'oldest', limit: 100 })).jobs

  it('are all there, whoever was first with the same job or piece of business', async () => {
    const bench = new Bench()
    const first = await bench.enqueue({ dedupeKey: 'd', id: 'order-7' })
    const again = await bench.enqueue({ idempotencyKey: 'k', input: '1' })
    const asked = [
      request(bench),
      request(bench, { dedupeKey: 'd' }),
      request(bench, { idempotencyKey: 'k' }),
      request(bench, { dedupeKey: 'new' }),
      request(bench, { dedupeKey: 'new' }),
    ]
    const answers = await bench.engine.enqueue(asked, undefined, true)
    const born = (await all(bench)).slice(-2).map(({ id }) => id)
    expect(answers.map(told)).toEqual([
      born[0],
      `${first.id} deduped`,
      `${again.id} replayed`,
      born[1],
      `${born[1]} deduped`,
    ])
    expect(await all(bench)).toHaveLength(4)
    expect(await bench.engine.enqueue([], undefined, true)).toEqual([])
  })

  it('are not there at all where one of them is refused, and each is told which', async () => {
    const bench = new Bench()
    await bench.enqueue({ id: 'order-7', input: '"other"' })
    for (const bad of [{ priority: 99 }, { id: 'order-7' }]) {
      const asked = [request(bench), request(bench, bad), request(bench, { dedupeKey: 'd' })]
      const answers = await bench.engine.enqueue(asked, undefined, true)
      const code = 'id' in bad ? 'ID_TAKEN' : 'INVALID'
      expect(answers.map(told)).toEqual(['OTHERS_REFUSED', code, 'OTHERS_REFUSED'])
      expect(await all(bench)).toHaveLength(1)
    }
  })

  it('have the job that the one they met has met in turn', async () => {
    const between = new Between()
    const bench = new Bench({ between: (store) => between.wrap(store) })
    const rival = bench.another()
    between.afterInsert = async () => void (await bench.tryEnqueue({ dedupeKey: 'd' }, rival))
    const asked = [request(bench, { dedupeKey: 'd' }), request(bench, { dedupeKey: 'd' })]
    const answers = await bench.engine.enqueue(asked, undefined, true)
    const [only, ...others] = await all(bench)
    expect(others).toEqual([])
    expect(answers.map(told)).toEqual([`${only?.id} deduped`, `${only?.id} deduped`])
  })
})

describe('bodies pass through one codec', () => {
  it('on their way in and out, whichever way they go', async () => {
    const bench = new Bench()
    const codec = {
      encode: (text: string) => `sealed:${[...text].reverse().join('')}`,
      decode: (text: string) => [...text.slice(7)].reverse().join(''),
    }
    const { store, clock } = bench
    const local = new LocalEngine({ store, clock, random: realRandom, timers: realTimers })
    const engine = new SealedEngine(local, codec, realRandom)
    const answer = await bench.tryEnqueue({ input: '{"n":12}', idempotencyKey: 'k' }, engine)
    expect(told(await bench.tryEnqueue({ input: '{"n":12}', idempotencyKey: 'k' }, engine))).toMatch(/replayed/)
    const id = answer.ok ? answer.job.id : ''
    const [assignment] = await bench.claim(1, engine)
    expect(assignment?.input).toBe('{"n":12}')
    const result = { name: 'output', size: 2, digest: undefined }
    const saying = { type: 'complete', fence: assignment?.fence ?? '', result } as const
    await bench.say(id, saying, engine, [{ name: 'output', text: '42' }])
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
    const bench = new Bench()
    const wall = { now: () => 5, monotonicMs: () => bench.clock.monotonicMs() + 0.7 }
    const { store } = bench
    const engine = new LocalEngine({ store, clock: wall, random: realRandom, timers: realTimers })
    await engine.load([])
    expect(engine.now()).toBe(bench.clock.now())
    bench.clock.advance(1_234)
    expect(engine.now()).toBe(bench.clock.now())
  })
})
