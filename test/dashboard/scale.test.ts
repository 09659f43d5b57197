/**
 * Many jobs, a long log, much going on: the page has a screenful of rows, asks as often as ever, and keeps no more than before. The gate
 * runs a share; the soak the full numbers, with what they cost.
 */
import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { realTimers } from '../../src/system/timers.ts'
import type { Worker } from '../../src/worker/worker.ts'
import { started, WHOLE_FILE_MS } from '../cli/pawl.ts'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { byTheClock, scaled, soaking } from '../support/scale.ts'
import { type DashboardFixture, type Entered, openDashboardFixture } from './dashboard-fixture.ts'

const JOBS = scaled(10_000, 1_000_000)
const EVENTS = scaled(2_500, 20_000)
const JOBS_A_SECOND = scaled(50, 500)
const LASTS_MS = scaled(4_000, 600_000)
/** Until what is kept for good is there: pages of code, rows, the first answers. */
const SETTLES_MS = scaled(1_000, 30_000)
/** How often it is looked at what they keep. */
const LOOKS = scaled(1, 10)
const WATCHED = ['/', '/tail', '/jobs']
const TABS = 5
const COSTS_MS = 30_000

const ROWS_MOST = 60
const REQUESTS_A_SECOND = 2
/** What is kept of events that were shown is bounded: a few megabytes, however long it goes on. */
const GROWTH_MOST = 12 * 1024 * 1024

const noted = defineJob({
  type: 'noted',
  queue: 'noted',
  async run(_, ctx) {
    for (let n = 0; n < EVENTS; n += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_none, k) => ctx.record('tool_invocation_started', `call ${n + k}`, { n })),
      )
  },
})
const brief = defineJob({ type: 'brief', queue: 'brief', run: () => 1 })
/** Nobody serves it. */
const kept = defineJob({ type: 'kept', queue: 'deep', run: () => 1 })

describe.skipIf(chromiumMissing() !== undefined)('with much to show', () => {
  let fixture: DashboardFixture
  let worker: Worker
  let long = ''
  beforeAll(async () => {
    fixture = await openDashboardFixture()
    worker = fixture.pawl.work([noted, brief])
    long = (await fixture.pawl.enqueue(noted)).id
    for (let n = 0; n < JOBS; n += 5_000)
      await fixture.pawl.enqueueMany(
        kept,
        Array.from({ length: Math.min(5_000, JOBS - n) }, () => undefined),
      )
    const isOver = async () => (await fixture.pawl.get(long))?.state === 'succeeded'
    await eventually('a long log', isOver, { withinMs: scaled(60_000, 600_000), everyMs: 100 })
  }, 1_200_000)
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]()
    await fixture?.[Symbol.asyncDispose]()
  })

  const enter = () => fixture.enter('operator')

  it(`a list of ${JOBS} jobs has a screenful of them in the page, wherever it is scrolled to`, async () => {
    const { page } = await enter()
    const tasks = await longTasks(page)
    await page.goto(`${fixture.gateway.url}/jobs?q=queue:deep`)
    await page.locator('[data-job]').first().waitFor()
    const grid = page.getByRole('grid', { name: 'Jobs' })
    for (let n = 1; n <= 10; n += 1) {
      await grid.evaluate((place, at) => place.scrollTo(0, at), n * 4_000)
      await eventually('rows at the place', async () => (await page.locator('[data-job]').count()) > 10)
      expect(await page.locator('[data-job]').count()).toBeLessThanOrEqual(ROWS_MOST)
    }
    const most = Math.max(0, ...(await tasks()))
    console.log(`dashboard: the longest task while scrolling took ${Math.round(most)} ms`)
    if (byTheClock) expect(most).toBeLessThan(200)
  })

  it(`a log of ${EVENTS} events, too, and it is read once`, async () => {
    const { page } = await enter()
    // Three pages, and the newest once more where the live stream, which is not counted, had to be opened again.
    const requests = counted(page, /\/jobs\/[^/]+\/events\?/)
    await page.goto(`${fixture.gateway.url}/jobs/${long}`)
    await page.getByText(/These are the newest 2000 events of a longer log/).waitFor()
    expect(await page.getByRole('table', { name: 'Events' }).getByRole('row').count()).toBeLessThanOrEqual(ROWS_MOST)
    expect(requests()).toBeLessThanOrEqual(4)
  })

  it(
    'tabs ask no more often, and keep no more, while much happens',
    async () => {
      const tabs = await Promise.all(WATCHED.map((place) => tabAt(fixture, place)))
      await busy(fixture, SETTLES_MS)
      const before = await Promise.all(tabs.map(({ heap }) => heap()))
      const asked = tabs.map(({ page }) => counted(page, /\/v1\/(?!events\?type)/))
      const heaps: (readonly number[])[] = []
      const since = performance.now()
      let jobs = 0
      for (let n = 1; n <= LOOKS; n += 1) {
        jobs += await busy(fixture, LASTS_MS / LOOKS)
        heaps.push(await Promise.all(tabs.map(({ heap }) => heap())))
      }
      const seconds = (performance.now() - since) / 1_000
      console.log(
        `dashboard: ${Math.round(jobs / seconds)} jobs a second for ${Math.round(seconds)} s, four events each`,
      )
      for (const [n, { page, place }] of tabs.entries()) {
        const rows = await page.locator('tr, [role="row"]').count()
        const requests = asked[n]?.() ?? 0
        const kept = heaps.map((each) => each[n] ?? 0)
        console.log(
          `dashboard: ${place} has ${rows} rows, asks ${(requests / seconds).toFixed(2)} times a second, keeps ${kept.map(mb).join(', ')} MB after ${mb(before[n] ?? 0)}`,
        )
        expect(rows).toBeLessThanOrEqual(ROWS_MOST)
        // One more for what was about to be asked when the counting began.
        expect(requests).toBeLessThanOrEqual(seconds * REQUESTS_A_SECOND + 2)
        expect((kept.at(-1) ?? 0) - (before[n] ?? 0)).toBeLessThan(GROWTH_MOST)
        await page.close()
      }
    },
    LASTS_MS * 3 + 120_000,
  )

  it('asks for nothing while nobody looks, and catches up when somebody does', async () => {
    const { page } = await enter()
    await page.getByText(/^Work flows\./).waitFor()
    await look(page, 'hidden')
    const requests = counted(page, /\/v1\//)
    await busy(fixture, 4_000)
    expect(requests()).toBeLessThanOrEqual(1)
    await look(page, 'visible')
    await eventually('it asks again', () => requests() > 1)
  })

  it.runIf(soaking)(
    'what an open tab costs the gateway is measured',
    async () => {
      // In a process of its own, on the same store: what the jobs themselves cost is the other's.
      await using apart = await gatewayApart(fixture)
      const idle = await apart.cpuOf(() => busy(fixture, COSTS_MS))
      const tabs: Entered[] = []
      for (let n = 0; n < TABS; n += 1) tabs.push(await fixture.enter('operator', { at: apart.url }))
      const watched = await apart.cpuOf(() => busy(fixture, COSTS_MS))
      for (const { context } of tabs) await context.close()
      const perTab = (watched - idle) / TABS / (COSTS_MS / 1_000)
      console.log(
        `dashboard: a gateway takes ${Math.round(idle / (COSTS_MS / 1_000))} ms of CPU a second for itself, and ${perTab.toFixed(1)} for each tab`,
      )
      expect(perTab).toBeGreaterThan(0)
      // However much happens, so many who watch it leave half of the processor that a gateway has.
      expect(watched).toBeLessThan(COSTS_MS / 2)
    },
    300_000,
  )
})

interface Tab {
  readonly place: string
  readonly page: Page
  /** What it keeps, in bytes. */
  readonly heap: () => Promise<number>
}

async function tabAt(fixture: DashboardFixture, place: string): Promise<Tab> {
  const { page, context } = await fixture.enter('operator')
  await page.goto(fixture.gateway.url + place)
  await page.getByText('Live', { exact: true }).waitFor()
  const session = await context.newCDPSession(page)
  return { place, page, heap: () => heapOf(session) }
}

/** Goes on with so much, for so long; says how many jobs that were. */
async function busy({ pawl }: DashboardFixture, forMs: number): Promise<number> {
  const since = performance.now()
  let jobs = 0
  for (let passed = 0; passed < forMs; passed = performance.now() - since) {
    // What a slow moment has left undone is made up for, as far as one go may.
    const due = Math.min(JOBS_A_SECOND, Math.ceil(((passed + 100) / 1_000) * JOBS_A_SECOND) - jobs)
    await pawl.enqueueMany(
      brief,
      Array.from({ length: due }, () => undefined),
    )
    jobs += due
    await realTimers.sleep(100)
  }
  return jobs
}

function counted(page: Page, which: RegExp): () => number {
  let n = 0
  page.on('request', (request) => {
    if (which.test(request.url())) n += 1
  })
  return () => n
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}

const mb = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1)

async function longTasks(page: Page): Promise<() => Promise<readonly number[]>> {
  await page.addInitScript(
    `globalThis.longTasks = []; new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' })`,
  )
  return async () => (await page.evaluate('longTasks')) as readonly number[]
}

/** As a browser does with a tab behind another. */
const look = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
     Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${state === 'hidden'} });
     document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
  )

interface Apart extends AsyncDisposable {
  readonly url: string
  /** Milliseconds of processor that it took meanwhile. */
  cpuOf(work: () => Promise<unknown>): Promise<number>
}

const TICK_MS = 10

async function gatewayApart({ url: store }: DashboardFixture): Promise<Apart> {
  const running = started(['serve', '--dashboard', '--port', '0', '--json', '--role', 'gateway', '--url', store], {
    longestMs: WHOLE_FILE_MS,
  })
  const { url } = JSON.parse(await running.line(/url/)) as { readonly url: string }
  const spent = () => {
    // Behind the name, which may have anything in it: the 14th and 15th of all are the user's time and the system's.
    const fields = readFileSync(`/proc/${running.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  }
  return {
    url,
    async cpuOf(work) {
      const before = spent()
      await work()
      return spent() - before
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}
