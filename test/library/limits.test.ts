import { describe, expect, it } from 'vitest'
import { defineJob, ThrottledError } from '../../src/index.ts'
import { Invalid } from '../../src/library/errors.ts'
import { openTesting } from '../../src/testing/testing.ts'

interface Page {
  readonly host: string
  readonly n: number
}

const pages = (host: string, count: number): readonly Page[] => Array.from({ length: count }, (_, n) => ({ host, n }))

/** How many run at once, by name. */
class Busy {
  readonly most = new Map<string, number>()
  readonly order: string[] = []
  readonly #running = new Map<string, number>()

  async with(name: string): Promise<void> {
    this.order.push(name)
    const now = (this.#running.get(name) ?? 0) + 1
    this.#running.set(name, now)
    this.most.set(name, Math.max(this.most.get(name) ?? 0, now))
    await new Promise((resolve) => setImmediate(resolve))
    this.#running.set(name, (this.#running.get(name) ?? 0) - 1)
  }
}

describe('limits of a job type', () => {
  it('run so many of a key at once, whatever the worker could', async () => {
    const busy = new Busy()
    const crawl = defineJob({
      type: 'crawl',
      limit: { key: ({ host }: Page) => host, concurrency: 2 },
      run: ({ host }: Page) => busy.with(host),
    })
    await using testing = await openTesting([crawl])
    await testing.pawl.enqueueMany(crawl, [...pages('a', 20), ...pages('b', 20)])
    await testing.drain()
    expect(Object.fromEntries(busy.most)).toEqual({ a: 2, b: 2 })
    expect((await testing.pawl.find({ states: ['succeeded'] })).jobs).toHaveLength(40)
    expect(await testing.pawl.limits.get('a')).toMatchObject({ state: 'open', taken: 0, held: 0 })
    expect((await testing.pawl.verify()).discrepancies).toEqual([])
  })

  it('hold per key and in all', async () => {
    const busy = new Busy()
    const crawl = defineJob({
      type: 'crawl',
      limit: [
        { key: ({ host }: Page) => host, concurrency: 2 },
        { key: 'all', concurrency: 3 },
      ],
      run: () => busy.with('all'),
    })
    await using testing = await openTesting([crawl])
    await testing.pawl.enqueueMany(
      crawl,
      ['a', 'b', 'c'].flatMap((host) => pages(host, 10)),
    )
    await testing.drain()
    expect(busy.most.get('all')).toBe(3)
  })

  it('are set by hand, win over code, and give way to it again', async () => {
    const busy = new Busy()
    const crawl = defineJob({
      type: 'crawl',
      limit: { key: ({ host }: Page) => host, concurrency: 3 },
      run: ({ host }: Page) => busy.with(host),
    })
    await using testing = await openTesting([crawl])
    const { limits } = testing.pawl
    expect(await limits.set('a', { concurrency: 1, rate: '100/s' })).toMatchObject({
      limit: { concurrency: 1, rate: { most: 100, perMs: 1_000 } },
      declared: undefined,
    })
    await testing.pawl.enqueueMany(crawl, pages('a', 5))
    await testing.drain()
    expect(busy.most.get('a')).toBe(1)
    await limits.rm('a')
    expect(await limits.get('a')).toMatchObject({ limit: { concurrency: 3 }, byHand: undefined })
    await testing.pawl.enqueueMany(crawl, pages('b', 5))
    expect(await limits.get('b')).toMatchObject({ limit: { concurrency: 3 }, declared: { concurrency: 3 } })
    expect(await limits.get('nobody')).toBeUndefined()
    expect(await limits.rm('nobody')).toBeUndefined()
    await expect(limits.set('a', { concurrency: 0 })).rejects.toThrow(Invalid)
    await expect(limits.set('a', { rate: 'often' })).rejects.toThrow(/5\/s/)
    await expect(limits.set('a', {})).rejects.toThrow(/must have one of concurrency/)
    for (const limit of [{ concurency: 2 }, { adaptive: true }] as readonly object[])
      await expect(limits.set('a', limit)).rejects.toThrow(/must be one of concurrency, rate, budget, weight/)
    expect((await limits.list()).limits.map(({ key }) => key)).toEqual(['a', 'b'])
    expect((await limits.list({ states: ['broken'] })).limits).toEqual([])
  })

  it('are those of the code that is deployed, also of keys that were there before', async () => {
    const crawling = (type: string, concurrency: number | undefined) =>
      defineJob({ type, limit: { key: 'site', concurrency }, run: () => {} })
    await using testing = await openTesting([crawling('crawl', 8), crawling('other', 5)])
    const { pawl } = testing
    const deployed = async (type: string, concurrency: number | undefined) => {
      await pawl.enqueue(crawling(type, concurrency), undefined)
      await testing.drain()
      return (await pawl.limits.get('site'))?.limit
    }
    expect(await deployed('crawl', 8)).toEqual({ concurrency: 8 })
    expect(await deployed('crawl', 2)).toEqual({ concurrency: 2 })
    expect(await deployed('other', 5)).toEqual({ concurrency: 2 })
    await pawl.limits.set('site', { concurrency: 1 })
    expect(await deployed('crawl', 9)).toEqual({ concurrency: 1 })
    expect((await pawl.limits.rm('site'))?.limit).toEqual({ concurrency: 9 })
    expect(await deployed('crawl', undefined)).toEqual({})
    expect(await deployed('other', 4)).toEqual({ concurrency: 4 })
    const { log = [] } = (await pawl.limits.get('site')) ?? {}
    const numbers = log.map((event) => event.type === 'limited' && event.payload.limit.concurrency)
    expect(numbers).toEqual([2, 1, 1, 9, undefined, 4])
  })

  it('start so many within any window', async () => {
    const starts: number[] = []
    const call = defineJob({
      type: 'call',
      limit: { key: 'api', rate: '3/s' },
      run: (_: undefined, ctx) => {
        starts.push(ctx.job.lease?.grantedAt ?? 0)
      },
    })
    await using testing = await openTesting([call])
    await testing.pawl.enqueueMany(call, new Array(10).fill(undefined))
    await testing.advance('5s')
    expect(starts).toHaveLength(10)
    for (const at of starts)
      expect(starts.filter((each) => each > at - 1_000 && each <= at).length).toBeLessThanOrEqual(3)
  })

  it('keep spending within a budget, until its window turns', async () => {
    let runs = 0
    const ask = defineJob({
      type: 'ask',
      limit: { key: 'tokens', concurrency: 1, budget: { amount: 100, per: '1h' } },
      async run(_: undefined, ctx) {
        runs += 1
        await ctx.spend(40)
      },
    })
    await using testing = await openTesting([ask])
    await testing.pawl.enqueueMany(ask, new Array(5).fill(undefined))
    await testing.drain()
    expect(runs).toBe(3)
    expect(await testing.pawl.limits.get('tokens')).toMatchObject({ spent: 120, held: 2 })
    const [job] = (await testing.pawl.find({ states: ['queued'] })).jobs
    expect(await testing.pawl.explain(job?.id ?? '')).toMatchObject({
      way: 'held',
      because: 'Key tokens has spent 120 of 100 for this window.',
    })
    await testing.advance('1h')
    expect(runs).toBe(5)
  })
})

describe('turns', () => {
  it('go round: whoever has many does not make the others wait', async () => {
    const busy = new Busy()
    const mail = defineJob({
      type: 'mail',
      fair: (customer: string) => customer,
      run: (customer: string) => busy.with(customer),
    })
    await using testing = await openTesting([mail], { worker: { concurrency: 2 } })
    await testing.pawl.enqueueMany(mail, new Array(500).fill('many'))
    await testing.pawl.enqueue(mail, 'few')
    await testing.drain()
    expect(busy.order.indexOf('few')).toBeLessThan(70)
    expect(busy.order).toHaveLength(501)
  })
})

describe('a key that is pushed back', () => {
  it('breaks by five failures in a row of what its type says breaks it, and by no other code', async () => {
    const codes = ['gateway_down', 'printer_down'] as const
    const call = defineJob({
      type: 'call',
      retry: { attempts: 1 },
      breaking: ['gateway_down'],
      limit: { key: ({ host }: Page) => host, concurrency: 1 },
      run({ host }: Page) {
        throw Object.assign(new Error(`${host} is away`), { code: host })
      },
    })
    await using testing = await openTesting([call])
    const { pawl } = testing
    for (const code of codes) await pawl.enqueueMany(call, pages(code, 6))
    await testing.advance('1s')
    const [gateway, printer] = await Promise.all(codes.map((code) => pawl.limits.get(code)))
    expect(gateway).toMatchObject({
      state: 'broken',
      held: 1,
      log: [{ type: 'broken', cause: { code: 'gateway_down' } }],
    })
    expect(printer).toMatchObject({ state: 'open', held: 0, log: [] })
  })

  it('slows down once per burst, tells handlers to rotate, holds its jobs, and recovers', async () => {
    const sessions: number[] = []
    let isAngry = true
    const crawl = defineJob({
      type: 'crawl',
      retry: { attempts: 50, throttled: { base: '1s', max: '1s' } },
      limit: { key: 'shop', concurrency: 8 },
      run(_: number, ctx) {
        sessions.push(ctx.flow?.session ?? -1)
        if (isAngry) throw new ThrottledError('captcha', { code: 'captcha' })
      },
    })
    await using testing = await openTesting([crawl])
    const { pawl } = testing
    await pawl.enqueueMany(crawl, [1, 2, 3, 4, 5, 6, 7, 8])
    await testing.drain()
    expect(await pawl.limits.get('shop')).toMatchObject({ state: 'slow', allowed: 4, session: 1 })
    expect(sessions).toEqual(new Array(8).fill(0))
    expect((await pawl.limits.get('shop'))?.log).toMatchObject([
      { type: 'slowed', from: 'open', to: 'slow', cause: { code: 'captcha' } },
    ])
    isAngry = false
    await testing.advance('3s')
    expect(sessions.slice(8)).toEqual(new Array(8).fill(1))
    for (let n = 0; n < 40; n += 1) {
      await pawl.enqueueMany(crawl, [1, 2, 3, 4, 5, 6, 7, 8])
      await testing.advance('5s')
    }
    expect(await pawl.limits.get('shop')).toMatchObject({ state: 'open', session: 1, allowed: undefined })
  })

  it('is held as long as it was told, all of it, and says so', async () => {
    let runs = 0
    const call = defineJob({
      type: 'call',
      limit: { key: 'api', concurrency: 1 },
      run() {
        runs += 1
        if (runs === 1) throw new ThrottledError('slow down', { code: 'E_429_RATE', retryAfterMs: 60_000 })
      },
    })
    await using testing = await openTesting([call])
    const { pawl } = testing
    const [, other] = await pawl.enqueueMany(call, [undefined, undefined])
    await testing.drain()
    expect(runs).toBe(1)
    expect(await other?.explain()).toMatchObject({
      way: 'held',
      because: expect.stringMatching(/^Key api is broken since .* after E_429_RATE of job pj_/),
    })
    expect(await pawl.limits.get('api')).toMatchObject({ state: 'broken', taken: 0 })
    await testing.advance('30s')
    expect(runs).toBe(1)
    expect(await pawl.limits.probe('api', { actor: 'operator:ann' })).toMatchObject({ log: [{}, { type: 'hastened' }] })
    await testing.advance('2s')
    expect(runs).toBe(2)
    expect(await pawl.limits.reset('api')).toMatchObject({ state: 'open', session: 1 })
  })
})
