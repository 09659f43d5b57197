/** When it is over: what became of the last dead letter, and what is next for a job that cannot be opened again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

describe.skipIf(missing !== undefined)('afterwards', () => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('is told who reopened the last dead letter, and how that went; what has succeeded is followed by another like it', async () => {
    const { pawl, gateway } = fixture
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${gateway.url}/dead-letters`)
    await page.getByText('Nothing is waiting for somebody to look at it.').waitFor()
    const { id } = await pawl.enqueue(errand, { what: 'fail' })
    await eventually('a letter', async () => (await pawl.get(id))?.state === 'dead_lettered')
    await pawl.reopen(id, { actor: 'bob' })
    await eventually('it works the second time', async () => (await pawl.get(id))?.state === 'succeeded')
    // What is counted of it is told a little later.
    await page.reload()
    await page.getByText(/was reopened by bob .* and succeeded\./).waitFor()
    await page.getByRole('main').getByRole('link', { name: id }).click()
    await page.getByText('Next: Enqueue a new job.').waitFor()
    // Whoever may not enqueue is told so; an admin may.
    await page.getByRole('button', { name: 'Do this' }).and(page.locator('[aria-disabled]')).waitFor()
    const admin = await fixture.enter('admin')
    await admin.page.goto(`${gateway.url}/jobs/${id}`)
    await admin.page.getByRole('link', { name: 'Do this…' }).click()
    await eventually('one like it', () => admin.page.url().endsWith(`/new?type=errand&from=${id}`))
    expect(await admin.page.getByLabel('Input, as JSON').inputValue()).toContain('"fail"')
    expect(complaints).toEqual([])
    await page.context().close()
    await admin.page.context().close()
  })
})
