/** What changes something is done without a pointer: keys alone, from a place’s address to what it comes to. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

/** What has the focus, as somebody hears it. */
const FOCUSED = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return ''
  return [at.ariaLabel, at.textContent, ...[...(at.labels ?? [])].map((each) => each.textContent)].join(' | ')
})()`
const TABS_MOST = 150

/** Tab by tab, until what is wanted has the focus. */
async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  await eventually(`${wanted} is reached`, async () => {
    for (let n = 0; n < TABS_MOST; n += 1) {
      if (wanted.test(String(await page.evaluate(FOCUSED)))) return true
      await page.keyboard.press('Tab')
    }
    return false
  })
}

describe.skipIf(chromiumMissing() !== undefined)('by keyboard alone', () => {
  let fixture: DashboardFixture
  let page: Page
  beforeAll(async () => {
    fixture = await openDashboardFixture()
    page = (await fixture.enter('admin')).page
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const enqueued = async (what: string, state: string) => {
    const { id } = await fixture.pawl.enqueue(errand, { what, note: 'by key' })
    await inState(id, state)
    return id
  }
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await fixture.pawl.get(id))?.state === state)

  it('a running job is cancelled, and a dead letter is reopened', async () => {
    const running = await enqueued('run', 'running')
    await page.goto(`${fixture.gateway.url}/jobs/${running}`)
    await page.getByRole('button', { name: 'Cancel…' }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, /Why, for the log/)
    await page.keyboard.type('no longer wanted')
    await tabTo(page, /Cancel the job/)
    await page.keyboard.press('Enter')
    await inState(running, 'cancelled')
    expect((await fixture.pawl.get(running))?.cancel?.reason).toBe('no longer wanted')
    const dead = await enqueued('fail', 'dead_lettered')
    await page.goto(`${fixture.gateway.url}/jobs/${dead}`)
    await page.getByRole('button', { name: 'Reopen' }).waitFor()
    await page.keyboard.press('r')
    await inState(dead, 'succeeded')
  })

  it('all that match are counted, agreed to and redriven', async () => {
    const ids = [await enqueued('fail', 'dead_lettered'), await enqueued('fail', 'dead_lettered')]
    await page.goto(`${fixture.gateway.url}/jobs?q=state:dead_lettered`)
    await page.locator(`[data-job="${ids[1]}"]`).waitFor()
    await page.keyboard.press('*')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, /Redrive$|Redrive \|/)
    await page.keyboard.press('Enter')
    await page.getByText('2 jobs would be redriven').waitFor()
    for (const id of ids) expect((await fixture.pawl.get(id))?.state).toBe('dead_lettered')
    await tabTo(page, /Redrive 2 jobs/)
    await page.keyboard.press('Enter')
    await page.getByText('2 jobs redriven.').waitFor()
    for (const id of ids) await inState(id, 'succeeded')
  })

  it('a limit is set, and a schedule is run now', async () => {
    const { limits } = fixture.pawl
    await limits.set('by.key', { concurrency: 1 })
    await page.goto(`${fixture.gateway.url}/limits/by.key`)
    await page.getByLabel('At once').waitFor()
    await tabTo(page, /At once/)
    await page.keyboard.press('Control+a')
    await page.keyboard.type('3')
    await page.keyboard.press('Enter')
    await eventually('it is set', async () => (await limits.get('by.key'))?.byHand?.concurrency === 3)
    await fixture.pawl.schedule('daily', { every: '1d' }, errand, { what: 'quick', note: 'now' })
    await page.goto(`${fixture.gateway.url}/schedules`)
    await page.getByRole('button', { name: 'Run now: daily' }).waitFor()
    await tabTo(page, /Run now: daily/)
    await page.keyboard.press('Enter')
    await page.getByText('A job of daily was made').waitFor()
    await inState((await page.getByRole('link', { name: /^pj_/ }).textContent()) ?? '', 'succeeded')
  })
})
