/** What happens, told to the windows of one browser: one stream for all of them, whoever of them comes and goes. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

const WINDOWS = 8

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
