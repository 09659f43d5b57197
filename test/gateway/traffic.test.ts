/** How much goes on, folded as the feed grows: in virtual time, against what was done. */
import { describe, expect, it } from 'vitest'
import { PermanentError } from '../../src/core/thrown.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { TrafficAnswer } from '../../src/gateway/contract/answers.ts'
import { Buckets, WINDOWS, windowFrom } from '../../src/gateway/traffic/buckets.ts'
import { changeIn, codeIn, OTHER_FAILURES, queueIn, waitIn, waitKey } from '../../src/gateway/traffic/keys.ts'
import { Traffic } from '../../src/gateway/traffic/traffic.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import type { EventQuery } from '../../src/store/store.ts'
import { realClock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const job = defineJob<'works', { readonly fails?: boolean }, string>({
  type: 'works',
  retry: { attempts: 1 },
  onExhausted: 'dead_letter',
  run({ fails }) {
    if (fails === true) throw new PermanentError('no', { code: 'never' })
    return 'done'
  },
})

describe('traffic', () => {
  it('counts every change, failures by code, and the last success of each type', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    await using traffic = new Traffic({ engine: pawl.engine, clock: realClock, timers: realTimers, log: silentLog })
    await traffic.runOnce()
    await using _worker = pawl.work([job])
    const handles = await pawl.enqueueMany(
      job,
      Array.from({ length: 30 }, (_, n) => ({ fails: n % 3 === 0 })),
    )
    await Promise.allSettled(handles.map((each) => each.result()))
    await eventually('all of it is counted', async () => {
      await traffic.runOnce()
      return sum('succeeded') === 20 && sum('dead_lettered') + sum('failed') === 10
    })
    expect(sum('enqueued')).toBe(30)
    expect(sum('claimed')).toBe(30)
    expect(counted((key) => codeIn(key) === 'never')).toBe(10)
    expect(counted((key) => changeIn(key)?.event === 'enqueued' && changeIn(key)?.from === 'none')).toBe(30)
    expect([...(traffic.of('default')?.lastSuccess.keys() ?? [])]).toEqual(['works'])
    expect(counted((key) => queueIn(key) === 'default')).toBe(30)
    expect(Math.round(counted((key) => waitIn(key) !== undefined))).toBe(30)
    expect(traffic.of('rival')).toBeUndefined()

    function counted(wanted: (key: string) => boolean): number {
      const buckets = traffic.of('default')?.buckets.within('15m', pawl.engine.now()) ?? []
      return buckets.reduce(
        (all, { counts }) => all + [...counts].reduce((n, [key, count]) => (wanted(key) ? n + count : n), 0),
        0,
      )
    }
    function sum(event: string): number {
      return Math.round(counted((key) => changeIn(key)?.event === event))
    }
  })

  it('is told to its own tenant, over a window, and says since when it counts', async () => {
    await using fixture = await openGatewayFixture({ tenant: 'acme' })
    const ask = (who: string) => fixture.ask(who, 'GET', '/v1/traffic?window=1h')
    await eventually('it counts', async () => {
      const { body } = await ask('viewer')
      return Date.parse(String(body['since'])) < Date.parse(String(body['at']))
    })
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'a' })
    await eventually('it is counted', async () => (await ask('viewer')).text.includes('"event":"enqueued"'))
    expect((await ask(fixture.secrets['rival']?.viewer ?? '')).body['changes']).toEqual([])
    const { body } = await fixture.ask('viewer', 'GET', '/v1/tally')
    expect(body['counts']).toEqual([{ queue: 'default', type: 'a', state: 'queued', count: 1 }])
  })
})

describe('what was counted', () => {
  const FRESH = { clock: realClock, timers: realTimers, log: silentLog }
  const changes = (traffic: Traffic, now: number) =>
    (traffic.of('default')?.buckets.within('1h', now) ?? [])
      .flatMap(({ counts }) => [...counts])
      .reduce((sum, [key, count]) => (changeIn(key)?.event === 'enqueued' ? sum + count : sum), 0)

  it('is there after a restart, with what came in between, and since when', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { engine } = pawl
    const enqueue = (n: number) =>
      pawl.enqueueMany(
        job,
        Array.from({ length: n }, () => ({})),
      )
    const first = new Traffic({ engine, ...FRESH })
    await first.runOnce()
    await enqueue(5)
    await first.runOnce()
    const { since } = first
    await first[Symbol.asyncDispose]()
    await enqueue(3)
    await using second = new Traffic({ engine, ...FRESH })
    await second.runOnce()
    expect([changes(second, engine.now()), second.since]).toEqual([8, since])
    await enqueue(1)
    await second.runOnce()
    expect(changes(second, engine.now())).toBe(9)
  })

  it('is counted once, whenever a gateway was killed', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { engine } = pawl
    let ms = 0
    const first = new Traffic({ engine, ...FRESH, clock: { ...realClock, monotonicMs: () => ms } })
    await first.runOnce()
    await pawl.enqueue(job, {})
    ms = 60_000
    await first.runOnce()
    // Counted, and not written down.
    await pawl.enqueue(job, {})
    await first.runOnce()
    expect(changes(first, engine.now())).toBe(2)
    await using second = new Traffic({ engine, ...FRESH })
    await second.runOnce()
    expect(changes(second, engine.now())).toBe(2)
  })

  it('is not counted twice where a gateway was killed between two documents', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { engine } = pawl
    const first = new Traffic({ engine, ...FRESH })
    await first.runOnce()
    await pawl.enqueue(job, {})
    await first.runOnce()
    await first[Symbol.asyncDispose]()
    await pawl.enqueue(job, {})
    // The head cannot be written: its tenant was.
    const settings: Engine['settings'] = (operations) =>
      operations.some((each) => each.op === 'put' && each.key === 'head')
        ? Promise.reject(new Error('killed'))
        : engine.settings(operations)
    const events: Engine['events'] = (query) => engine.events(query)
    const killed = new Traffic({ engine: { events, settings, now: () => engine.now() }, ...FRESH })
    await killed.runOnce()
    await killed[Symbol.asyncDispose]()
    await using last = new Traffic({ engine, ...FRESH })
    await last.runOnce()
    expect(changes(last, engine.now())).toBe(2)
  })

  it('is counted anew where it was written in another life of the store, or cannot be read', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { engine } = pawl
    const windows = { '15m': [], '1h': [[engine.now(), { 'change enqueued none queued': 7 }]], '24h': [], '7d': [] }
    const position = '999999999'
    const texts = {
      head: { version: 1, position, since: 1 },
      '["default"]': { version: 1, position, windows, lastSuccess: [] },
      '["rival"]': 'no traffic',
    }
    for (const [key, text] of Object.entries(texts))
      await engine.settings([{ op: 'put', collection: 'traffic', key, text: JSON.stringify(text), rev: undefined }])
    await using traffic = new Traffic({ engine, ...FRESH })
    await traffic.runOnce()
    await pawl.enqueue(job, {})
    await traffic.runOnce()
    expect(changes(traffic, engine.now())).toBe(1)
    expect(traffic.since).toBeGreaterThan(1)
  })
})

describe('how long what was ready has waited', () => {
  it('is told by half and by nineteen in twenty, from when it was due', async () => {
    await using fixture = await openGatewayFixture({ tenant: 'acme' })
    const ask = async () =>
      JSON.parse((await fixture.ask('viewer', 'GET', '/v1/traffic?window=1h')).text) as TrafficAnswer
    await eventually('it counts', async () => (await ask()).since < (await ask()).at)
    for (let n = 0; n < 20; n += 1) await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'a', queue: 'q' })
    const claim = { queues: ['q'], limit: 19, workerId: 'w', requestId: 'c1' }
    const claimed = await fixture.ask('worker', 'POST', '/v1/claims', claim)
    expect(claimed.status, claimed.text).toBe(200)
    await eventually('the claims are counted', async () => (await ask()).wait !== undefined)
    const { wait } = await ask()
    expect(wait?.p50).toBeLessThanOrEqual(wait?.p95 ?? 0)
    expect((await ask()).steps.some((step) => step.wait !== undefined)).toBe(true)
    expect((await ask()).ended).toEqual([])
  })

  it('is put into classes that a wait is never longer than, and at most half as long again', () => {
    for (const ms of [0, 1, 2, 17, 1_000, 86_400_000]) {
      const most = waitIn(waitKey(ms)) ?? 0
      expect(most).toBeGreaterThanOrEqual(ms)
      expect(most).toBeLessThanOrEqual(Math.max(2, ms * 1.5 + 1))
    }
  })
})

describe('buckets', () => {
  it('keep as much as the windows show, and no more', () => {
    const buckets = new Buckets()
    const day = 86_400_000
    const end = 20 * day
    for (let at = 0; at < end; at += 60_000) buckets.add(at, 'a', 1)
    for (const window of ['15m', '1h', '24h', '7d'] as const) {
      const { stepMs, steps } = WINDOWS[window]
      const shown = buckets.within(window, end)
      expect(shown.length).toBeLessThanOrEqual(steps)
      expect(shown.every(({ at }) => at >= windowFrom(window, end) && at % stepMs === 0)).toBe(true)
    }
    const week = buckets.within('7d', end - 1).reduce((sum, { counts }) => sum + (counts.get('a') ?? 0), 0)
    expect(week).toBe(7 * 24 * 60)
  })

  it('count names that users make up as others beyond so many, and lose no change of state for them', () => {
    const buckets = new Buckets()
    for (let n = 0; n < 1_000; n += 1) buckets.addMadeUp(1, `code ${n}`, 1, OTHER_FAILURES)
    for (let n = 0; n < 100; n += 1) buckets.add(1, `change ${n}`, 1)
    const [bucket] = buckets.within('15m', 1)
    expect(bucket?.counts.get(OTHER_FAILURES)).toBe(940)
    expect(bucket?.counts.get('change 99')).toBe(1)
    expect(bucket?.counts.size).toBe(161)
  })

  it('are the same once they were written down, and take up less where names are too many', () => {
    const buckets = new Buckets()
    buckets.add(10_000, 'a', 2)
    for (let n = 0; n < 100; n += 1) buckets.addMadeUp(20_000, `failure ${n}`, 1, OTHER_FAILURES)
    const isCode = (name: string) => codeIn(name) !== undefined
    const again = Buckets.from(JSON.parse(JSON.stringify(buckets.packed())), isCode)
    for (const each of [buckets, again]) each.addMadeUp(20_001, 'failure new', 1, OTHER_FAILURES)
    expect(again.packed()).toEqual(buckets.packed())
    expect(again.packed((name) => (isCode(name) ? OTHER_FAILURES : name))['15m']).toEqual([
      [10_000, { a: 2 }],
      [20_000, { [OTHER_FAILURES]: 101 }],
    ])
  })

  it('take what is late with what is being counted', () => {
    const buckets = new Buckets()
    buckets.add(10_000, 'a', 1)
    buckets.add(9_999, 'a', 1)
    expect(buckets.within('15m', 10_000)).toMatchObject([{ at: 10_000 }])
  })
})

it('a tally of very many names tells the greatest, and the sum of each state is what it is', async () => {
  const many = (engine: Engine): Engine =>
    new Proxy(engine, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'events') return value.bind(target)
        return async (query: EventQuery) => {
          const page = await target.events(query)
          if (query.by !== 'tally') return page
          const names = Array.from({ length: 7_000 }, (_, n) => n)
          return {
            ...page,
            tally: names.map((n) => ({
              tenant: 'acme',
              queue: `q${n}`,
              jobType: 't',
              state: n % 2 === 0 ? ('queued' as const) : ('succeeded' as const),
              count: n + 1,
            })),
          }
        }
      },
    })
  await using fixture = await openGatewayFixture({}, many)
  const { body } = await fixture.ask('viewer', 'GET', '/v1/tally')
  const counts = body['counts'] as { queue: string; state: string; count: number }[]
  expect(counts).toHaveLength(5_002)
  expect(counts[0]).toMatchObject({ queue: 'q6999', count: 7_000 })
  const sumOf = (state: string) =>
    counts.filter((each) => each.state === state).reduce((sum, { count }) => sum + count, 0)
  expect([sumOf('queued'), sumOf('succeeded')]).toEqual([3_500 * 3_500, 3_500 * 3_501])
})
