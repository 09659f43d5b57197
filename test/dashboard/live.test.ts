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

  it('says in its place why a word was refused, and what has happened meanwhile', async () => {
    const { pawl } = fixture
    const { id } = await pawl.enqueue(errand, { what: 'ok' }, { delay: '1h' })
    const { page, context } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${id}`)
    const next = page.getByRole('button', { name: 'Do this', exact: true })
    await next.waitFor()
    // What comes of it elsewhere does not reach this page.
    await page.route(/\?policy=true/, (route) => route.abort())
    await pawl.cancel(id)
    await next.click()
    const refused = page.getByRole('alert').filter({ hasText: 'Meanwhile' })
    await refused.getByText('REV_CONFLICT').waitFor()
    await refused.getByText(/cancelled, now cancelled by/).waitFor()
    await refused.getByRole('button', { name: 'I have seen it' }).click()
    await refused.waitFor({ state: 'detached' })
    await context.close()
  })

  it('asks the server for what is typed into the palette once somebody has stopped to type', async () => {
    const { page, context } = await fixture.enter('operator')
    await page.clock.install()
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
    // The page's time stands still: however slow the keys are, nobody has stopped to type.
    await page.clock.pauseAt(Date.now() + 60_000)
    const letters = 'abcdefghijklmno'
    await page.keyboard.type(letters)
    await eventually('it is typed', async () => (await box.inputValue()) === letters)
    expect(asked).toEqual([])
    await page.clock.runFor(200)
    await eventually('it has asked', () => asked.length > 0)
    expect(asked).toEqual([letters])
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
    const { page: entered, context, complaints } = await fixture.enter('operator')
    // What that one is about to ask for is not counted.
    await entered.close()
    const first = await context.newPage()
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
