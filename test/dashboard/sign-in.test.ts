/** Who comes to the dashboard, in a browser, on a real gateway: by a link, by a token, to look only, and how they leave. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

/** On Postgres, too, in soak. */
const STORES = (['sqlite', 'postgres'] as const).slice(0, scaled(1, 2))

describe.skipIf(missing !== undefined).each(STORES)('the door of the dashboard, on %s', (on) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture(on)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const enqueue = async (what: string, note = '') => (await fixture.pawl.enqueue(errand, { what, note })).id
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await fixture.pawl.get(id))?.state === state)

  it('opens by its link, once, on the machine; the address keeps nothing of it', async () => {
    const { page, complaints } = await fixture.enter('operator')
    await page.getByText(/^Work flows\./).waitFor()
    expect(page.url()).toBe(`${fixture.gateway.url}/`)
    for (const state of ['queued', 'running', 'succeeded', 'dead_lettered'])
      await page.getByRole('button', { name: new RegExp(`^${state} `) }).waitFor()
    expect(complaints).toEqual([])
  })

  it('asks for a token where there is no link, and says why one is not taken', async () => {
    const page = await fixture.browser.newPage()
    await page.goto(`${fixture.gateway.url}/jobs?q=state:failed`)
    await page.getByLabel('Token').fill('pawl_0123456789abcdef_nonsense')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('UNAUTHENTICATED').waitFor()
    const { secret } = await fixture.gateway.tokens.create({
      name: 'ann',
      scope: 'operator',
      tenant: 'default',
      queues: undefined,
    })
    await page.getByLabel('Token').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('combobox', { name: 'Query' }).waitFor()
    expect(page.url()).toContain('/jobs?q=state:failed')
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.close()
  })

  it('lets a viewer look, and greys what they may not', async () => {
    const id = await enqueue('run', 'secret')
    await inState(id, 'running')
    const { page } = await fixture.enter('viewer')
    await page.getByText('Read only').waitFor()
    await page.goto(`${fixture.gateway.url}/jobs/${id}?tab=input`)
    await page.getByText('Not for viewers').waitFor()
    expect(await page.getByText('secret').count()).toBe(0)
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
    await cancel.hover()
    await page.getByText(/scope viewer, which may not cancel/).waitFor()
    await cancel.click({ force: true })
    expect((await fixture.pawl.get(id))?.state).toBe('running')
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
    await fixture.pawl.cancel(id, { mode: 'hard' })
  })

  it('has a session that may end by itself: the screen stays, and goes on when somebody signs in again', async () => {
    const { page, context } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs?q=state:failed`)
    const query = page.getByRole('combobox', { name: 'Query' })
    await query.waitFor()
    await context.clearCookies()
    const ended = page.getByRole('dialog', { name: 'Your session has ended' })
    await ended.waitFor()
    expect(await query.count()).toBe(1)
    const words = { name: 'ann', scope: 'operator', tenant: 'default', queues: undefined } as const
    await ended.getByLabel('Token').fill((await fixture.gateway.tokens.create(words)).secret)
    await ended.getByRole('button', { name: 'Sign in' }).click()
    await ended.waitFor({ state: 'detached' })
    expect(page.url()).toContain('/jobs?q=state:failed')
  })

  it('signs out, here and for good', async () => {
    const { page, context } = await fixture.enter('operator')
    const cookies = await context.cookies()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    await context.addCookies(cookies)
    await page.reload()
    await page.getByLabel('Token').waitFor()
  })
})
