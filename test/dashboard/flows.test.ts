/** What people come to the dashboard for, in a browser, on a real gateway. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { errand, type Stage, staged } from './stage.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

describe.skipIf(missing !== undefined)('the dashboard', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await staged()
  })
  afterAll(() => stage?.[Symbol.asyncDispose]())

  const enqueue = async (what: string, note = '') => (await stage.pawl.enqueue(errand, { what, note })).id
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await stage.pawl.get(id))?.state === state)

  it('opens by its link, once, on the machine; the address keeps nothing of it', async () => {
    const { page, complaints } = await stage.enter('operator')
    await page.getByText(/^Work flows\./).waitFor()
    expect(page.url()).toBe(`${stage.gateway.url}/`)
    for (const state of ['queued', 'running', 'succeeded', 'dead_lettered'])
      await page.getByRole('button', { name: new RegExp(`^${state} `) }).waitFor()
    expect(complaints).toEqual([])
  })

  it('asks for a token where there is no link, and says why one is not taken', async () => {
    const page = await stage.browser.newPage()
    await page.goto(`${stage.gateway.url}/jobs?q=state:failed`)
    await page.getByLabel('Token').fill('pawl_0123456789abcdef_nonsense')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('UNAUTHENTICATED').waitFor()
    const { secret } = await stage.gateway.tokens.create({
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

  it('finds a dead letter by its input, says why, reopens it, and shows it succeed', async () => {
    const id = await enqueue('fail', 'find me')
    await inState(id, 'dead_lettered')
    const { page, complaints } = await stage.enter('operator')
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
    const { page } = await stage.enter('operator')
    await page.goto(`${stage.gateway.url}/jobs/${running}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await inState(running, 'cancelled')
    await page.goto(`${stage.gateway.url}/jobs/${waiting}`)
    await page.getByRole('button', { name: 'Signal…' }).click()
    await page.getByLabel('Payload, as JSON').fill('{ "by": ')
    await page.getByText('This is not JSON yet.').waitFor()
    await page.getByLabel('Payload, as JSON').fill('{ "by": "ann" }')
    await page.getByRole('button', { name: 'Send approved' }).click()
    await inState(waiting, 'succeeded')
  })

  it('pauses a queue and says so beside its jobs', async () => {
    const { page } = await stage.enter('operator')
    await page.goto(`${stage.gateway.url}/queues`)
    await page.getByRole('button', { name: 'Pause errands' }).click()
    await page.getByText(/paused by operator:the operator/).waitFor()
    const id = await enqueue('quick')
    await page.goto(`${stage.gateway.url}/jobs`)
    await page
      .locator(`[data-job="${id}"]`)
      .getByText(/paused: queue errands/)
      .waitFor()
    await page.goto(`${stage.gateway.url}/queues`)
    await page.getByRole('button', { name: 'Resume errands' }).click()
    await inState(id, 'succeeded')
  })

  it('redrives a cause: one first, then the rest', async () => {
    const ids = await Promise.all(['a 1', 'b 2', 'c 3'].map((note) => enqueue('fail', note)))
    for (const id of ids) await inState(id, 'dead_lettered')
    const { page } = await stage.enter('operator')
    await page.goto(`${stage.gateway.url}/dead-letters`)
    await page.getByText('no way to do #').first().click()
    await page.getByRole('spinbutton').fill('1')
    await page.getByRole('button', { name: 'Redrive 3 jobs' }).click()
    await page.getByText('3 jobs reopened, with fresh budgets.').first().waitFor()
    for (const id of ids) await inState(id, 'succeeded')
  })

  it('speaks as a document does', async () => {
    const { page } = await stage.enter('viewer')
    await page.getByLabel('Words').selectOption('002')
    await page.getByRole('button', { name: /^TIMEOUT \(timed_out\) / }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: /^TIMEOUT \(timed_out\) / }).waitFor()
  })

  it('says that the connection is lost, and goes on when it is back', async () => {
    const { page, context } = await stage.enter('operator')
    await page.goto(`${stage.gateway.url}/tail`)
    await page.getByText('Live', { exact: true }).waitFor()
    await context.setOffline(true)
    await page.getByText('Connection lost', { exact: true }).waitFor()
    await context.setOffline(false)
    await page.getByText('Live', { exact: true }).waitFor()
    const id = await enqueue('quick')
    await page.getByRole('link', { name: id }).first().waitFor()
  })

  it('lets a viewer look, and greys what they may not', async () => {
    const id = await enqueue('run', 'secret')
    await inState(id, 'running')
    const { page } = await stage.enter('viewer')
    await page.getByText('Read only').waitFor()
    await page.goto(`${stage.gateway.url}/jobs/${id}?tab=input`)
    await page.getByText('Not for viewers').waitFor()
    expect(await page.getByText('secret').count()).toBe(0)
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
    await cancel.hover()
    await page.getByText(/scope viewer, which may not cancel/).waitFor()
    await cancel.click({ force: true })
    expect((await stage.pawl.get(id))?.state).toBe('running')
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
    await stage.pawl.cancel(id, { mode: 'hard' })
  })

  it('signs out, here and for good', async () => {
    const { page, context } = await stage.enter('operator')
    const cookies = await context.cookies()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    await context.addCookies(cookies)
    await page.reload()
    await page.getByLabel('Token').waitFor()
  })
})
