/** Lists in a browser, on a real gateway: how far they go, what they say about it, and that rows on screen are as jobs are. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/library/define-job.ts'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

/** Nobody serves it. More than ten pages of five hundred, which is as far as one search used to look. */
const kept = defineJob({ type: 'kept', queue: 'deep', input: z.object({ note: z.string() }), run: () => 1 })
const JOBS = 6_501
const ROWS_MOST = 60

describe.skipIf(missing !== undefined)('lists', () => {
  let fixture: DashboardFixture
  /** The one that was there first. */
  let oldest = ''
  beforeAll(async () => {
    fixture = await openDashboardFixture()
    oldest = (await fixture.pawl.enqueue(kept, { note: 'needle' })).id
    await fixture.pawl.enqueueMany(
      kept,
      Array.from({ length: JOBS - 1 }, (_, n) => ({ note: `straw ${n}` })),
    )
  }, 120_000)
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const rowOf = (page: Page, id: string) => page.locator(`[data-job="${id}"]`)
  const listed = async (q: string) => {
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs?q=${encodeURIComponent(q)}`)
    return { page, complaints }
  }

  it('finds the oldest of thousands by what is in its input, and says that it has read all', async () => {
    const { page, complaints } = await listed('type:kept input.note:needle')
    await rowOf(page, oldest).waitFor()
    await page.getByText(/^1 matches; read all 6,501 in /).waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('says “at least” as long as there may be more, and never the number of a page for all', async () => {
    const { page } = await listed('type:kept failures:0')
    await page.getByText(/^at least \d+ match; read the newest \d+ of 6,501 jobs in /).waitFor()
    await page.context().close()
  })

  it('goes on behind the thousandth row, and has no more of them in the page', async () => {
    const { page } = await listed('type:kept')
    const grid = page.getByRole('grid', { name: 'Jobs' })
    await page.locator('[data-job]').first().waitFor()
    const indexOf = () =>
      grid.evaluate((place) => {
        place.scrollTo(0, place.scrollHeight)
        const rows = [...place.querySelectorAll('[data-job]')].map((row) => Number(row.getAttribute('aria-rowindex')))
        return { last: Math.max(0, ...rows), count: rows.length }
      })
    await eventually('it is behind the thousandth', async () => (await indexOf()).last > 1_500, { withinMs: 60_000 })
    expect((await indexOf()).count).toBeLessThanOrEqual(ROWS_MOST)
    await grid.evaluate((place) => place.scrollTo(0, 0))
    await page.locator('[aria-rowindex="1"][data-job]').waitFor()
    await page.context().close()
  })

  it('has rows on screen as their jobs are, also in a list that was looked for job by job', async () => {
    const { pawl } = fixture
    const { page } = await listed('type:kept priority:5')
    const row = page.locator('[aria-rowindex="3"][data-job]')
    await row.waitFor()
    const id = (await row.getAttribute('data-job')) ?? ''
    await rowOf(page, id).getByText('queued').waitFor()
    await pawl.cancel(id)
    await rowOf(page, id).getByText('cancelled').waitFor()
    await page.context().close()
  })

  it.each(['queues', 'schedules', 'tokens'])(
    'has a screenful of rows of 130 %s in the page, and the last where it is scrolled to',
    async (place) => {
      const { pawl, gateway } = fixture
      const names = Array.from({ length: 130 }, (_, n) => `many-${String(n).padStart(3, '0')}`)
      for (const name of names) {
        if (place === 'queues') await pawl.enqueue(kept, { note: name }, { queue: name })
        if (place === 'schedules') await pawl.schedule(name, { every: '1d' }, kept, { note: name })
        if (place === 'tokens')
          await gateway.tokens.create({ name, scope: 'viewer', tenant: 'default', queues: undefined })
      }
      const { page, complaints } = await fixture.enter('admin')
      await page.goto(`${gateway.url}/${place}`)
      const rows = page.locator('tr')
      await eventually('there are rows', async () => (await rows.count()) > 10)
      expect(await rows.count()).toBeLessThanOrEqual(ROWS_MOST)
      const seen = new Set<string>()
      await eventually('all are seen on the way down', async () => {
        for (const text of await page.locator('tr td:first-child').allTextContents()) seen.add(text)
        expect(await rows.count()).toBeLessThanOrEqual(ROWS_MOST)
        await page.evaluate('scrollBy(0, 400)')
        return names.every((name) => seen.has(name))
      })
      expect(await page.getByRole('table').getAttribute('aria-rowcount')).toMatch(/^1[3-9]\d$/)
      expect(complaints).toEqual([])
      await page.context().close()
    },
  )

  it('shows of a cause how many there were hour by hour, and the stack of the newest', async () => {
    const { pawl } = fixture
    const { id } = await pawl.enqueue(errand, { what: 'fail', note: 'stacked' })
    await eventually('it is put aside', async () => (await pawl.get(id))?.state === 'dead_lettered')
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/dead-letters`)
    await page
      .getByRole('img', { name: '1 job in the last 12 h, hour by hour: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1' })
      .waitFor()
    await page.getByText('The stack of the newest').click()
    await page
      .getByText(/at .*dashboard-fixture/)
      .first()
      .waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('has what went wrong to copy, with the id of the request', async () => {
    const { page, context } = await fixture.enter('operator')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${fixture.gateway.url}/jobs/pj_none`)
    await page.getByRole('alert').getByRole('button', { name: 'Copy what went wrong' }).click()
    await page.getByRole('alert').getByText('copied').waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toMatch(/No job has this id/)
    expect(copied).toMatch(/NOT_FOUND \S+\nhttp/)
    await context.close()
  })

  it('marks a row that no longer matches, and says what is new', async () => {
    const { pawl } = fixture
    const { page } = await listed('type:kept state:queued')
    const row = page.locator('[aria-rowindex="2"][data-job]')
    await row.waitFor()
    const id = (await row.getAttribute('data-job')) ?? ''
    await pawl.cancel(id)
    await page.locator(`[data-job="${id}"][title^="It no longer matches"]`).waitFor()
    await pawl.enqueue(kept, { note: 'fresh' })
    await page.getByRole('button', { name: /1 new job matches/ }).waitFor()
    await page.context().close()
  })
})
