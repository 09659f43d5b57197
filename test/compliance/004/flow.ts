/** Document 004: what becomes of a domain that pushes back, or whose origin is down. Real workers, eight at a domain. */
import { expect, it } from 'vitest'
import type { Pawl } from '../../../src/library/pawl.ts'
import { openTesting, type Testing } from '../../../src/testing/testing.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { type Crawl, crawlOf, crawlOn, failing, fine } from './crawl.ts'
import { ANTI_BOT, PERMANENT } from './retries.ts'

const hostOf = async (pawl: Pawl, host: string) => {
  const found = await pawl.limits.get(host)
  return { ...found, moves: found?.log.map(({ type, cause }) => `${type} ${cause.code ?? ''}`.trim()) }
}

/** All of these answers have come, and their key has heard of them. */
const told = (crawl: Crawl, pawl: Pawl, host: string, answers: number) =>
  crawl.until(
    'all of it to be told',
    async () => crawl.answered(host) === answers && (await hostOf(pawl, host)).taken === 0,
  )

export function flow(stage: () => Stage): void {
  it.each(ANTI_BOT)('004:44 004:46 %s: its domain starts slowly, half as many at once, and no other', async (code) => {
    const { pawl } = stage()
    const [host, other] = [fresh('host'), fresh('host')]
    await using crawl = crawlOn(pawl)
    crawl.answer = failing(code)
    await crawl.burst(host, 8)
    await told(crawl, pawl, host, 8)
    expect(await hostOf(pawl, host)).toMatchObject({ allowed: 4, session: 1, moves: [`slowed ${code}`] })
    crawl.answer = fine
    crawl.hold()
    crawl.forget(host)
    await Promise.all([crawl.pages(host, 8), crawl.pages(other, 8)])
    await crawl.until('all that may run to run', () => crawl.running(host) >= 4 && crawl.running(other) === 8)
    expect(await hostOf(pawl, host)).toMatchObject({ taken: 4, held: 4 + 8 })
    expect(await hostOf(pawl, other)).toMatchObject({ state: 'open', taken: 8, session: 0 })
    crawl.release()
    await crawl.until('all to be read', () => crawl.read(host) === 8 && crawl.read(other) === 8)
    expect(crawl.most(host)).toBe(4)
  })

  it('004:46 an anti-bot signal rotates the session: once for a burst of ten, and once more for the next', async () => {
    const { pawl } = stage()
    const host = fresh('host')
    await using crawl = crawlOn(pawl, { concurrency: 10 })
    crawl.answer = failing('captcha')
    /** Waits for no more than it takes to see that one burst has counted twice. */
    const heard = async (ids: readonly string[], session: number) => {
      const failed = async (id: string) => ((await pawl.get(id))?.failures ?? 0) > 0
      const isOver = async () => ((await hostOf(pawl, host)).session ?? 0) > session
      const all = async () => (await isOver()) || (await Promise.all(ids.map(failed))).every(Boolean)
      await crawl.until('all of them to be heard', all)
      return await hostOf(pawl, host)
    }
    const first = await crawl.burst(host, 10)
    expect(await heard(first, 1)).toMatchObject({ session: 1, allowed: 5 })
    expect(crawl.sessions(host).slice(0, 10)).toEqual(new Array(10).fill(0))
    await told(crawl, pawl, host, 10)
    const second = await crawl.burst(host, 5)
    expect(await heard(second, 2)).toMatchObject({ state: 'slow', allowed: 2, session: 2 })
    expect(crawl.sessions(host).slice(10, 15)).toEqual(new Array(5).fill(1))
  })

  it('004:38 rate_limited is retried on its own curve, and slows its domain', async () => {
    const { pawl } = stage()
    const host = fresh('host')
    await using crawl = crawlOn(pawl)
    crawl.answer = failing('rate_limited')
    const [id = ''] = await crawl.burst(host, 1)
    await crawl.until('it to be retried', async () => (await pawl.get(id))?.state === 'retrying')
    const job = await pawl.get(id)
    expect(job?.lastFailure).toMatchObject({ code: 'rate_limited', class: 'transient' })
    expect((job?.runAt ?? 0) - (job?.updatedAt ?? 0)).toBeLessThanOrEqual(2_000)
    expect(await hostOf(pawl, host)).toMatchObject({ state: 'slow', allowed: 4, session: 1 })
  })

  it('004:41 004:43 permanent classes are about one page: they change no domain', async () => {
    const { pawl } = stage()
    const host = fresh('host')
    await using crawl = crawlOn(pawl)
    for (const code of PERMANENT) {
      crawl.answer = failing(code)
      const before = crawl.answered(host)
      await crawl.burst(host, 6)
      await told(crawl, pawl, host, before + 6)
      expect(await hostOf(pawl, host)).toMatchObject({ state: 'open', session: 0, moves: [] })
    }
  })
}

/** In virtual time, with pages enough that a domain always has something to do. */
async function inVirtualTime(
  test: (crawl: Crawl, testing: Testing) => Promise<void>,
  options: Parameters<typeof crawlOf>[0] = {},
): Promise<void> {
  const crawl = crawlOf(options)
  await using testing = await openTesting([crawl.job], { worker: { concurrency: 32 } })
  crawl.on(testing.pawl)
  await test(crawl, testing)
}

/** Before each of its retries, in seconds. */
const delaysOf = async (testing: Testing, id: string): Promise<readonly number[]> =>
  (await testing.pawl.events(id)).flatMap((event) =>
    event.type === 'retry_scheduled' ? [(event.payload.runAt - event.at) / 1_000] : [],
  )

export function flowInVirtualTime(): void {
  it.each(ANTI_BOT)('004:46 %s raises the cap of the backoff, the more often the domain pushes back', (code) =>
    inVirtualTime(
      async (crawl, testing) => {
        crawl.answer = failing(code)
        const [id = ''] = await crawl.pages('a', 1)
        await testing.advance('1h')
        // Not 20 s for ever, as its type has it.
        expect(await delaysOf(testing, id)).toEqual([10, 20, 40, 80, 160, 320])
      },
      { retry: { throttled: { base: '10s', factor: 2, max: '20s', jitter: 'none' } } },
    ),
  )

  it('004:46 a domain that stops pushing back is raised step by step, and open once it has been calm', () =>
    inVirtualTime(async (crawl, testing) => {
      crawl.answer = failing('403_waf')
      await crawl.pages('a', 8)
      await testing.drain()
      crawl.answer = fine
      for (let second = 0; second < 60; second += 1) {
        await crawl.pages('a', 20)
        await testing.advance('1s')
      }
      const { log = [], state, session } = await hostOf(testing.pawl, 'a')
      const began = log[0]?.at ?? 0
      expect(log.map(({ type, at, payload }) => [type, Math.floor((at - began) / 1_000), payload])).toMatchObject([
        ['slowed', 0, { allowed: 4 }],
        ['raised', 10, { allowed: 5 }],
        ['raised', 20, { allowed: 6 }],
        ['raised', 30, { allowed: 7 }],
        ['raised', 40, { allowed: 8 }],
        ['opened', 40, {}],
      ])
      expect([state, session]).toEqual(['open', 1])
    }))

  it('004:38 004:63 E_429_RATE with Retry-After holds the whole domain until then, and no other', () =>
    inVirtualTime(async (crawl, testing) => {
      crawl.answer = failing('E_429_RATE', { 'retry-after': '60' })
      await crawl.pages('a', 1)
      await testing.drain()
      crawl.answer = fine
      await crawl.pages('a', 8)
      await crawl.pages('b', 8)
      await testing.advance('59s')
      expect([crawl.read('a'), crawl.read('b')]).toEqual([0, 8])
      expect(await hostOf(testing.pawl, 'a')).toMatchObject({ state: 'broken', taken: 0, held: 9 })
      await testing.advance('11s')
      expect(crawl.read('a')).toBeGreaterThan(0)
    }))

  it.each(['qdrant_unavailable', 'neo4j_write_lock', 'network_error', 'E_5XX_ORIGIN'])(
    '004:38 004:63 %s breaks its key after five in a row, and one job finds out whether it is back',
    (code) =>
      inVirtualTime(async (crawl, testing) => {
        crawl.answer = failing(code)
        await crawl.pages('a', 4)
        await testing.drain()
        expect(await hostOf(testing.pawl, 'a')).toMatchObject({ state: 'open', moves: [] })
        await crawl.pages('a', 8)
        await testing.drain()
        expect(await hostOf(testing.pawl, 'a')).toMatchObject({
          state: 'broken',
          session: 0,
          moves: [`broken ${code}`],
        })
        const before = crawl.answered('a')
        await testing.advance('4s')
        expect(crawl.answered('a')).toBe(before)
        crawl.forget('a')
        await testing.advance('3s')
        expect([crawl.most('a'), crawl.answered('a') - before]).toEqual([1, 1])
        expect(await hostOf(testing.pawl, 'a')).toMatchObject({
          moves: [`broken ${code}`, 'probing', `broken ${code}`],
        })
        crawl.answer = fine
        await testing.advance('15s')
        expect(await hostOf(testing.pawl, 'a')).toMatchObject({ state: 'slow', session: 0 })
      }),
  )

  it.each(['browser_crash', 'timeout_soft', 'E_BROWSER', 'E_GPU_OOM'])(
    '004:38 004:63 %s is the worker’s own trouble: no domain is slowed or broken for it',
    (code) =>
      inVirtualTime(async (crawl, testing) => {
        crawl.answer = failing(code)
        await crawl.pages('a', 20)
        await testing.advance('10s')
        expect(crawl.answered('a')).toBeGreaterThan(20)
        expect(await hostOf(testing.pawl, 'a')).toMatchObject({ state: 'open', session: 0, moves: [] })
      }),
  )

  it('004:40 base 2 s, factor 2, seven attempts are true of a domain that is slow as well', () =>
    inVirtualTime(
      async (crawl, testing) => {
        crawl.answer = failing('captcha')
        await crawl.pages('a', 1)
        await testing.drain()
        expect(await hostOf(testing.pawl, 'a')).toMatchObject({ state: 'slow' })
        crawl.answer = failing('browser_crash')
        const [id = ''] = await crawl.pages('a', 1)
        await testing.advance('130s')
        expect(await testing.pawl.get(id)).toMatchObject({ state: 'failed', attempt: 7 })
        expect(await delaysOf(testing, id)).toEqual([2, 4, 8, 16, 32, 64])
      },
      { retry: { jitter: 'none' } },
    ))
}
