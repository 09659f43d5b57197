/** What people come to the dashboard for, in a browser, on a real gateway. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, guarded, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

/** On Postgres, too, in soak: to the screens a store is its gateway. */
const STORES = (['sqlite', 'postgres'] as const).slice(0, scaled(1, 2))

describe.skipIf(missing !== undefined).each(STORES)('the dashboard, on %s', (on) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture(on)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const enqueue = async (what: string, note = '') => (await fixture.pawl.enqueue(errand, { what, note })).id
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await fixture.pawl.get(id))?.state === state)

  it('finds a dead letter by its input, says why, reopens it, and shows it succeed', async () => {
    const id = await enqueue('fail', 'find me')
    await inState(id, 'dead_lettered')
    const { page, complaints } = await fixture.enter('operator')
    await page.keyboard.press('g')
    await page.keyboard.press('j')
    await page.getByRole('combobox', { name: 'Query' }).fill('state:dead_lettered input.note:*find*')
    await page.keyboard.press('Enter')
    await page.locator(`[data-job="${id}"]`).getByRole('link', { name: 'errand' }).click()
    await page.getByText('It has ended.').waitFor()
    await page.getByText('no way to do “find me”').first().waitFor()
    await page.getByRole('button', { name: 'Run now' }).hover()
    await page.getByText(/Not from dead_lettered\. reschedule works on retrying and queued jobs/).waitFor()
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByText(/Reopened with fresh budgets/).waitFor()
    await inState(id, 'succeeded')
    await page.locator('h1 + span', { hasText: 'succeeded' }).waitFor()
    await page.getByRole('tab', { name: /events/i }).click()
    await page.getByRole('row', { name: /reopened .*operator:the operator/ }).waitFor()
    expect(complaints).toEqual([])
  })

  it('cancels what runs, and sends a signal to what waits', async () => {
    const [running, waiting] = [await enqueue('run'), await enqueue('wait')]
    await inState(running, 'running')
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${running}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await inState(running, 'cancelled')
    await page.goto(`${fixture.gateway.url}/jobs/${waiting}`)
    await page.getByRole('button', { name: 'Signal…' }).click()
    await page.getByLabel('Payload, as JSON').fill('{ "by": ')
    await page.getByText('This is not JSON yet.').waitFor()
    await page.getByLabel('Payload, as JSON').fill('{ "by": "ann" }')
    await page.getByRole('button', { name: 'Send approved' }).click()
    await inState(waiting, 'succeeded')
  })

  it('lets a job in, and turns another away with a reason, by keyboard', async () => {
    const [good, bad] = [(await fixture.pawl.enqueue(guarded)).id, (await fixture.pawl.enqueue(guarded)).id]
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${good}`)
    await page.getByRole('button', { name: 'Admit' }).waitFor()
    await page.keyboard.press('a')
    await inState(good, 'succeeded')
    await page.goto(`${fixture.gateway.url}/jobs/${bad}`)
    await page.getByRole('button', { name: 'Deny…' }).waitFor()
    await page.keyboard.press('d')
    await page.getByLabel('Why, for the log').fill('not in this house')
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await inState(bad, 'denied')
    await page
      .getByText(/not in this house/)
      .first()
      .waitFor()
  })

  it('pauses a queue and says so beside its jobs', async () => {
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/queues`)
    await page.getByRole('button', { name: 'Pause errands' }).click()
    await page.getByText(/paused by operator:the operator/).waitFor()
    const id = await enqueue('quick')
    await page.goto(`${fixture.gateway.url}/jobs`)
    await page
      .locator(`[data-job="${id}"]`)
      .getByText(/paused: queue errands/)
      .waitFor()
    await page.goto(`${fixture.gateway.url}/queues`)
    await page.getByRole('button', { name: 'Resume errands' }).click()
    await inState(id, 'succeeded')
  })

  it('redrives a cause: one first, then the rest', async () => {
    const ids = await Promise.all(['a 1', 'b 2', 'c 3'].map((note) => enqueue('fail', note)))
    for (const id of ids) await inState(id, 'dead_lettered')
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/dead-letters`)
    await page.getByText('no way to do <text>').first().click()
    await page.getByRole('button', { name: 'Redrive…' }).click()
    await page.getByText('3 jobs would be redriven').waitFor()
    await page.getByRole('spinbutton').fill('1')
    await page.getByRole('button', { name: 'Redrive 3 jobs' }).click()
    await page.getByText('3 jobs redriven.').waitFor()
    for (const id of ids) await inState(id, 'succeeded')
  })
})

describe.skipIf(missing !== undefined).each(STORES)('words, queries and the connection, on %s', (on) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture(on)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('takes a query term by term, completes it, and gives a term back, by keyboard', async () => {
    const { id } = await fixture.pawl.enqueue(errand, { what: 'quick' })
    await eventually('it has ended', async () => (await fixture.pawl.get(id))?.state === 'succeeded')
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs`)
    await page.locator(`[data-job="${id}"]`).waitFor()
    const box = page.getByRole('combobox', { name: 'Query' })
    await page.keyboard.press('/')
    await page.keyboard.type('sta')
    await page.keyboard.press('Tab')
    await page.keyboard.type('succ')
    await page.getByRole('option', { name: 'state:succeeded' }).waitFor()
    await page.keyboard.press('Tab')
    await page.waitForURL('**/jobs?q=state%3Asucceeded')
    await page.keyboard.type('type:err')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/jobs?q=state%3Asucceeded+type%3Aerrand')
    await page.locator('[data-chip="type:errand"]').waitFor()
    await page.keyboard.press('Backspace')
    expect(await box.inputValue()).toBe('type:errand')
    await box.fill('stat:x')
    await page.getByText('There is no field stat.').waitFor()
    await page.locator(`[data-job="${id}"]`).waitFor()
    await page.getByRole('button', { name: 'Remove state:succeeded' }).click()
    await box.fill('')
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => !url.searchParams.has('q'))
    // What has the focus is pressed, whatever else the list would do with the key.
    await page.getByRole('button', { name: 'Relative' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'UTC' }).waitFor()
    await page.keyboard.press(' ')
    await page.getByRole('button', { name: 'Relative' }).waitFor()
  })

  it('says by which rules a line of the machine is taken, and tells its numbers as a table, by keyboard', async () => {
    const { page } = await fixture.enter('viewer')
    const way = page.getByRole('button', { name: /^the way “deny”/ })
    await way.focus()
    await page.keyboard.press('Enter')
    await page.getByText('By which rules').waitFor()
    await page.getByText('deny', { exact: true }).first().waitFor()
    await page.keyboard.press('t')
    await page.getByRole('row', { name: /^dead_lettered/ }).waitFor()
  })

  it('speaks as a document does', async () => {
    const { page } = await fixture.enter('viewer')
    await page.getByLabel('Words').selectOption('002')
    await page.getByRole('button', { name: /^TIMEOUT \d+ \(?timed_out/ }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: /^TIMEOUT \d+ \(?timed_out/ }).waitFor()
  })

  it('says that a screen broke, keeps the others, and goes on when asked', async () => {
    const { page } = await fixture.enter('operator')
    const isPart = /assets\/workers-[^/]*\.js/
    await page.route(isPart, (route) => route.abort())
    await page.getByRole('link', { name: 'Workers' }).click()
    await page.getByText('This screen broke; the others still work').waitFor()
    await page.getByText(/A part of it could not be loaded/).waitFor()
    await page.getByRole('link', { name: 'Queues' }).click()
    await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
    await page.unroute(isPart)
    await page.goto(`${fixture.gateway.url}/workers`)
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
  })

  it('says that the connection is lost, and goes on when it is back', async () => {
    const { page, context } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/tail`)
    await page.getByText('Live', { exact: true }).waitFor()
    await context.setOffline(true)
    await page.getByText('Connection lost', { exact: true }).waitFor()
    await context.setOffline(false)
    await page.getByText('Live', { exact: true }).waitFor()
    const { id } = await fixture.pawl.enqueue(errand, { what: 'quick' })
    await page.getByRole('link', { name: id }).first().waitFor()
  })
})
