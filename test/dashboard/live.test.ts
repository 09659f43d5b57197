/** What happens, told to the windows of one browser: one stream for all of them, whoever of them comes and goes. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/library/define-job.ts'
import { realTimers } from '../../src/system/timers.ts'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

const WINDOWS = 8

/** Tells all the time how far it is. */
const busy = defineJob({
  type: 'busy',
  queue: 'busy',
  input: z.object({ note: z.string() }),
  async run(_, ctx) {
    for (let n = 0; !ctx.signal.aborted; n += 1) {
      await ctx.record('tool_invocation_started', `call ${n}`, { n })
      await realTimers.sleep(50, ctx.signal)
    }
  },
})
const WATCHED_MS = 5_000
const REQUESTS_A_SECOND = 2

describe.skipIf(missing !== undefined)('a page that watches', () => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('asks no more than twice a second about a job however busy it is, and for what it carries once', async () => {
    const { pawl } = fixture
    await using _ = pawl.work([busy])
    const { id } = await pawl.enqueue(busy, { note: 'carried' })
    await eventually('it runs', async () => (await pawl.get(id))?.state === 'running')
    const { page, context } = await fixture.enter('operator')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname + new URL(request.url()).search))
    await page.goto(`${fixture.gateway.url}/jobs/${id}`)
    await page.getByText('carried').first().waitFor()
    await page.getByRole('row').nth(20).waitFor()
    const before = asked.length
    const since = performance.now()
    await realTimers.sleep(WATCHED_MS)
    const seconds = (performance.now() - since) / 1_000
    const meanwhile = asked.slice(before).filter((path) => path.startsWith('/v1/') && !path.includes('events?type='))
    console.log(`dashboard: a busy job’s page asks ${(meanwhile.length / seconds).toFixed(2)} times a second`)
    expect(meanwhile.length).toBeLessThanOrEqual(seconds * REQUESTS_A_SECOND + 2)
    expect(asked.filter((path) => path === `/v1/jobs/${id}`)).toHaveLength(1)
    await pawl.cancel(id, { mode: 'hard' })
    await context.close()
  })

  it('asks the server for what is typed into the palette once somebody has stopped to type', async () => {
    const { page, context } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/machine`)
    await page.getByRole('heading', { name: 'Machine', exact: true }).first().waitFor()
    await page.keyboard.press('Control+K')
    const box = page.getByRole('combobox', { name: 'Find a job, go, do' })
    await box.waitFor()
    const asked: string[] = []
    page.on('request', (request) => {
      const q = new URL(request.url()).searchParams.get('q')
      if (q !== null) asked.push(q)
    })
    const letters = 'abcdefghijklmno'
    // All at once: nobody types faster.
    await page.keyboard.type(letters)
    await eventually('it has asked', () => asked.includes(letters))
    expect(asked.length).toBeLessThan(4)
    await context.close()
  })
})

describe.skipIf(missing !== undefined)('a browser with many windows', () => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('has one stream, shows the same in each, and goes on in another where the one with it is closed', async () => {
    const { page: first, context, complaints } = await fixture.enter('operator')
    const streams: { readonly page: Page; readonly url: string }[] = []
    context.on('request', (request) => {
      if (/\/v1\/events\?type=/.test(request.url())) streams.push({ page: request.frame().page(), url: request.url() })
    })
    await first.goto(`${fixture.gateway.url}/tail`)
    await first.getByText('Nothing has happened yet').waitFor()
    await eventually('it has its stream', () => streams.length === 1)
    const pages = [first]
    for (let n = 1; n < WINDOWS; n += 1) {
      const page = await context.newPage()
      await page.goto(`${fixture.gateway.url}/tail`)
      await page.getByText('Nothing has happened yet').waitFor()
      pages.push(page)
    }
    const { id } = await fixture.pawl.enqueue(errand, { what: 'ok' })
    for (const page of pages) await page.getByText(id).first().waitFor()
    expect(streams.map(({ page }) => page)).toEqual([first])

    await first.close()
    await eventually('another has taken over', () => streams.length === 2)
    expect(streams[1]?.page).not.toBe(first)
    expect(streams[1]?.url).toContain('last_event_id=')
    const { id: next } = await fixture.pawl.enqueue(errand, { what: 'ok' })
    for (const page of pages.slice(1)) await page.getByText(next).first().waitFor()
    expect(streams).toHaveLength(2)
    expect(complaints).toEqual([])
    await context.close()
  })
})
