/** What people make and keep in the dashboard: jobs by a form or by the clock, views, tokens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

/** On Postgres, too, in soak. */
const STORES = (['sqlite', 'postgres'] as const).slice(0, scaled(1, 2))

describe.skipIf(chromiumMissing() !== undefined).each(STORES)('in the dashboard, on %s', (on) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture(on)
    await fixture.pawl.schedule('nightly', { cron: '0 3 * * *' }, errand, { what: 'quick', note: 'by the clock' })
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const at = (path: string) => fixture.gateway.url + path
  const succeeded = (id: string) =>
    eventually(`${id} succeeded`, async () => (await fixture.pawl.get(id))?.state === 'succeeded')

  it('the first job of a store that has none is made from where nothing is listed yet, and watched', async () => {
    const { page, complaints } = await fixture.enter('admin')
    await page.keyboard.press('g')
    await page.keyboard.press('j')
    await page.getByText('No job has been here yet').waitFor()
    await page.getByRole('link', { name: 'New job' }).click()
    await page.getByLabel('Type').fill('errand')
    await page.getByLabel('what', { exact: true }).fill('quick')
    await page.getByRole('button', { name: 'Enqueue errand' }).click()
    await page.locator('h1 + span', { hasText: 'succeeded' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('button', { name: /^succeeded 1/ }).waitFor()
    expect(complaints).toEqual([])
  })

  it('a schedule shows its next times, runs now, and is paused', async () => {
    const { page, complaints } = await fixture.enter('admin')
    await page.goto(at('/schedules'))
    await page.getByRole('link', { name: 'nightly' }).click()
    await eventually(
      'five times',
      async () => (await page.getByRole('listitem').filter({ hasText: ':00:00 UTC' }).count()) === 5,
    )
    await page.getByText('by the clock').waitFor()
    await page.getByRole('button', { name: 'Run now: nightly' }).first().click()
    const made = page.getByRole('link', { name: /^pj_/ })
    const id = (await made.textContent()) ?? ''
    await succeeded(id)
    expect(await fixture.pawl.body(id, 'input')).toEqual({ what: 'quick', note: 'by the clock' })
    await page.getByRole('button', { name: 'Pause: nightly' }).first().click()
    await page.getByText('Paused. These times will be missed:').waitFor()
    await page.getByRole('link', { name: 'Its jobs' }).click()
    await page.locator(`[data-job="${id}"]`).waitFor()
    expect(complaints).toEqual([])
  })

  it('a schedule is not touched by who may only look', async () => {
    const { page } = await fixture.enter('viewer')
    await page.goto(at('/schedules'))
    await page.getByRole('button', { name: 'Run now' }).hover()
    await page.getByText(/scope viewer, which may not run schedules/).waitFor()
    await page.goto(at('/new'))
    await page.getByText(/yours is of scope viewer/).waitFor()
  })

  it('a job is made by a form of its schema, or as JSON, and only once it is whole', async () => {
    const { page, complaints } = await fixture.enter('admin')
    await page.goto(at('/new'))
    await page.getByLabel('Type').fill('errand')
    const account = '"account": 12345678901234567890'
    const enqueue = page.getByRole('button', { name: 'Enqueue errand' })
    await page.getByText('Not yet: what is missing.').waitFor()
    await enqueue.click({ force: true })
    await page.getByLabel('what', { exact: true }).fill('quick')
    const raw = page.getByLabel('Input, as JSON')
    await eventually('the same as JSON', async () => (await raw.inputValue()).includes('"what": "quick"'))
    await raw.fill('{ "what": "quick", "note": "by", "account": 12345678901234567890 }')
    await page.getByLabel('note').fill('by hand')
    await eventually('the same as JSON, to the last digit', async () => (await raw.inputValue()).includes(account))
    await enqueue.click()
    await page.getByRole('button', { name: 'Copy the id' }).waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    await succeeded(id)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Edit and enqueue as new…' }).click()
    expect(await page.getByLabel('note').inputValue()).toBe('by hand')
    expect(await raw.inputValue()).toContain(account)
    expect(complaints).toEqual([])
  })

  it('a job is looked at beside the list, by pointer and by keyboard, and the address says which', async () => {
    const [first, second] = [
      (await fixture.pawl.enqueue(errand, { what: 'quick', note: 'first of two' })).id,
      (await fixture.pawl.enqueue(errand, { what: 'quick', note: 'second of two' })).id,
    ]
    await succeeded(second)
    const { page } = await fixture.enter('operator')
    await page.goto(at('/jobs?q=input.note:*of%20two'.replace('%20two', '*')))
    await page.locator(`[data-job="${second}"]`).getByText('errands').click()
    const preview = page.getByRole('complementary', { name: 'Preview' })
    await preview.getByText('second of two').waitFor()
    expect(page.url()).toContain(`job=${second}`)
    await page.keyboard.press('j')
    await preview.getByText('first of two').waitFor()
    await page.reload()
    await preview.getByText('first of two').waitFor()
    expect(page.url()).toContain(`job=${first}`)
    await page.keyboard.press('Escape')
    await preview.waitFor({ state: 'detached' })
  })

  it('a query is kept under a name', async () => {
    const { page } = await fixture.enter('operator')
    await page.goto(at('/jobs?q=runs:>7'))
    await page
      .getByText(/were looked at|that may were looked at/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Keep this query as a view' }).click()
    await page.getByLabel('Name of the view').fill('Many runs')
    await page.keyboard.press('Enter')
    await page.goto(at('/jobs'))
    await page.getByRole('button', { name: 'Many runs', exact: true }).click()
    await eventually('the address', () => new URL(page.url()).searchParams.get('q') === 'runs:>7')
  })

  it('a token is made, its secret is shown once, and it is revoked', async () => {
    const { page } = await fixture.enter('admin')
    await page.goto(at('/tokens'))
    await page.getByLabel('Whose').fill('bot')
    await page.getByRole('button', { name: 'Make a token' }).click()
    const secret =
      (await page
        .getByRole('status')
        .getByText(/^pawl_/)
        .textContent()) ?? ''
    const headers = { authorization: `Bearer ${secret}` }
    const status = async () => (await fetch(at('/v1/session'), { headers })).status
    expect(await status()).toBe(200)
    await page.getByRole('button', { name: 'Revoke bot' }).click()
    await page.getByRole('button', { name: 'Revoke the token' }).click()
    await eventually('it is good for nothing', async () => (await status()) === 401)
  })
})
