/** What people steer in the dashboard: what keys let in, and what is done to many jobs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, openDashboardFixture, shared } from './dashboard-fixture.ts'

const missing = chromiumMissing()

/** What they say to a store is what the gateway's own tests say to each; on Postgres, too, in soak. */
const STORES = (['sqlite', 'postgres'] as const).slice(0, scaled(1, 2))

describe.skipIf(missing !== undefined).each(STORES)('from the dashboard, on %s', (on) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture(on)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const at = (path: string) => fixture.gateway.url + path
  const enqueue = async (what: string, note: string) => (await fixture.pawl.enqueue(errand, { what, note })).id
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await fixture.pawl.get(id))?.state === state)

  it('a key that is broken says why, holds its jobs, is set by hand and opened', async () => {
    const key = 'shop.example'
    const { limits } = fixture.pawl
    const { id: first } = await fixture.pawl.enqueue(shared, { key, wall: true })
    await eventually('it is broken', async () => (await limits.get(key))?.state === 'broken')
    const { id: held } = await fixture.pawl.enqueue(shared, { key })
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(at('/limits'))
    await page.getByText('One key is broken, 2 jobs are held').waitFor()
    await page.getByRole('link', { name: key }).click()
    await page.getByText(/Nothing is let in until/).waitFor()
    await page.getByRole('link', { name: first }).waitFor()
    await page.getByLabel('At once').fill('none')
    await page.getByRole('button', { name: 'Set by hand' }).click()
    await page.getByText(/MALFORMED/).waitFor()
    await page.getByLabel('At once').fill('2')
    await page.getByLabel('Starts').fill('10/30s')
    await page.keyboard.press('Enter')
    const byHand = { concurrency: 2, rate: { most: 10, perMs: 30_000 } }
    await eventually(
      'it is set',
      async () => JSON.stringify((await limits.get(key))?.byHand) === JSON.stringify(byHand),
    )
    await page.getByRole('button', { name: 'Remove by hand' }).click()
    await eventually('code holds again', async () => (await limits.get(key))?.byHand === undefined)
    await page.getByRole('button', { name: 'Open the key…' }).click()
    await page.getByRole('button', { name: 'Open the key', exact: true }).click()
    await inState(held, 'succeeded')
    await page.getByText('broken → open').waitFor()
    await page.getByRole('button', { name: 'Try one now' }).hover()
    await page.getByText('Not while it is open. probe works on keys that are broken.').waitFor()
    await page.goto(at(`/jobs?q=key:${key}`))
    for (const id of [first, held]) await page.locator(`[data-job="${id}"]`).waitFor()
    expect(complaints).toEqual([])
  })

  it('all that match are cancelled: counted, agreed to, and watched', async () => {
    const ids = await Promise.all(['x', 'y'].map(() => enqueue('wait', 'to be called off')))
    for (const id of ids) await inState(id, 'parked')
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(at('/jobs?q=type:errand input.note:*called*'))
    await page.getByRole('button', { name: 'All of them…' }).click()
    await page.getByRole('button', { name: 'Purge' }).hover()
    await page.getByText(/which may not purge many jobs/).waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByText('2 jobs would be cancelled').waitFor()
    for (const id of ids) expect((await fixture.pawl.get(id))?.state).toBe('parked')
    await page.getByLabel('Why, for the log').fill('the shop is closed')
    await page.getByRole('button', { name: 'Cancel 2 jobs' }).click()
    await page.getByText('2 jobs cancelled.').waitFor()
    await page.getByText('the shop is closed').waitFor()
    for (const id of ids) await inState(id, 'cancelled')
    expect(complaints).toEqual([])
  })

  it('more are picked than are said in one go: counted, agreed to, and those that were refused stay to be read', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => enqueue('wait', 'picked')))
    for (const id of ids) await inState(id, 'parked')
    const { page } = await fixture.enter('operator')
    await page.goto(at('/jobs?q=state:parked input.note:picked'))
    await page.locator(`[data-job="${ids.at(-1)}"]`).waitFor()
    await page.getByLabel('Pick all that are listed').check()
    await page.getByText('60 selected').waitFor()
    await page.getByRole('button', { name: 'Cancel…' }).click()
    // Somebody else was faster.
    const [first = '', ...others] = ids
    await fixture.pawl.signal(first, 'approved')
    await inState(first, 'succeeded')
    await page.getByRole('button', { name: 'Cancel 60 jobs' }).click()
    await page.getByText('60 of 60 said, 1 refused').waitFor()
    await page.getByRole('dialog').getByText(first).waitFor()
    for (const id of others) await inState(id, 'cancelled')
  })

  it('dead letters are redriven with another input, to the last digit of it', async () => {
    const old = await enqueue('fail', 'needs a change')
    await inState(old, 'dead_lettered')
    const { page } = await fixture.enter('operator')
    await page.goto(at('/jobs?q=state:dead_lettered input.note:*change*'))
    await page.getByRole('button', { name: 'All of them…' }).click()
    await page.getByRole('button', { name: 'Redrive', exact: true }).click()
    await page.getByLabel('Changed by a merge patch').check()
    await page.getByLabel(/^Merge patch/).fill('{ "what": ')
    await page.getByText('This is not JSON yet.').waitFor()
    await page.getByLabel(/^Merge patch/).fill('{ "what": "quick", "n": 12345678901234567890 }')
    await page.getByRole('button', { name: 'Redrive 1 job' }).click()
    await page.getByText('1 job redriven.').waitFor()
    const [made] = (await fixture.pawl.find({ parentId: old })).jobs
    await inState(made?.id ?? '', 'succeeded')
    const response = await page.request.get(at(`/v1/jobs/${made?.id}?body=input`))
    expect(await response.text()).toContain('12345678901234567890')
    expect((await fixture.pawl.get(old))?.state).toBe('dead_lettered')
  })
})
