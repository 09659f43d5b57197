/** A document's jobs and words, in a browser on a real gateway: what it forbids is greyed before it is refused, and words are exact per job. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

const options = { queue: 'documents', retry: { attempts: 1 }, onExhausted: 'failed' } as const
const run = () => {
  throw new Error('it fails')
}
const bound = defineJob({ type: 'bound', ...options, dialect: '001', run })
const free = defineJob({ type: 'free', ...options, run })
/** Nobody serves it. */
const idle = defineJob({ type: 'idle', queue: 'idle', run: () => 1 })

describe.skipIf(missing !== undefined)('documents', () => {
  let fixture: DashboardFixture
  let [boundId, freeId, idleId] = ['', '', '']
  beforeAll(async () => {
    fixture = await openDashboardFixture()
    const { pawl } = fixture
    await using _ = pawl.work([bound, free])
    boundId = (await pawl.enqueue(bound)).id
    freeId = (await pawl.enqueue(free)).id
    idleId = (await pawl.enqueue(idle)).id
    for (const id of [boundId, freeId])
      await eventually(`${id} has failed`, async () => (await pawl.get(id))?.state === 'failed')
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('greys what a document forbids, says so, and does not count it among what is done to many', async () => {
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${boundId}`)
    const actions = page.getByRole('toolbar', { name: 'Actions' })
    const reopen = actions.getByRole('button', { name: 'Reopen' })
    await reopen.waitFor()
    expect(await reopen.getAttribute('aria-disabled')).toBe('true')
    await reopen.focus()
    await page.getByText('Bound to document 001: it knows no reopen. Its endings are final').first().waitFor()
    await page.keyboard.press('Control+K')
    await page.getByRole('combobox', { name: 'Find a job, go, do' }).fill('reopen')
    const option = page.getByRole('option', { name: `Reopen ${boundId}` })
    await option.getByText(/^Bound to document 001: it knows no reopen/).waitFor()
    expect(await option.getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('Escape')
    await page.goto(`${fixture.gateway.url}/jobs/${freeId}`)
    await reopen.waitFor()
    expect(await reopen.getAttribute('aria-disabled')).toBeNull()

    await page.goto(`${fixture.gateway.url}/jobs?q=state:failed`)
    await page.locator(`[data-job="${freeId}"]`).getByText('1 of 1', { exact: true }).waitFor()
    for (const id of [boundId, freeId]) await page.getByLabel(`Pick ${id}`).check()
    await page.getByRole('button', { name: 'Reopen', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Reopen: 1 job?' })
    await dialog.getByText('1 is left out: Bound to document 001: it knows no reopen').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('says the one word that a job has in a document, in rows and preview, and which document binds it', async () => {
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs?dialect=002`)
    const row = (id: string) => page.locator(`[data-job="${id}"]`)
    await row(idleId).getByText('SCHEDULED', { exact: true }).waitFor()
    await row(boundId).getByTitle('Bound to document 001').waitFor()
    await page.goto(`${fixture.gateway.url}/jobs?dialect=002&job=${boundId}`)
    await page.getByRole('complementary', { name: 'Preview' }).getByTitle('Bound to document 001').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('tells an event by a document’s moves, those that nobody caused in italics', async () => {
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${idleId}?dialect=002&tab=events`)
    await page.getByRole('img', { name: 'The path of this job: SCHEDULED', exact: true }).waitFor()
    const events = page.getByRole('table', { name: 'Events' })
    await events.getByTitle('PENDING → SCHEDULED; what is in italics nobody caused').waitFor()
    expect(await events.locator('i').allTextContents()).toEqual(['SCHEDULED'])
    await page.context().close()
  })
})
