/** What the demo shows first: a strip that ticks itself off by what happens and by what its reader does, and the work that can be stopped. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

const greet = defineJob({ type: 'greet', queue: 'demo', run: () => 'hello' })
const payOut = defineJob({ type: 'pay.out', queue: 'demo', admission: true, run: () => 'paid' })

const RULES = [{ id: 'looked-at', decision: 'require_approval', reason: 'somebody looks at it' }]

describe.skipIf(missing !== undefined)('the first minute', () => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture('sqlite', RULES)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('is ticked off by what happens, leads to the very jobs, and is dismissed for ever', async () => {
    const { pawl } = fixture
    await using _worker = pawl.work([greet, payOut])
    await pawl.schedule('demo-work', { every: '1h' }, greet)
    const { page, complaints } = await fixture.enter('admin', { name: 'demo' })
    const strip = page.getByRole('region', { name: 'First look' })
    const line = (text: string) => strip.getByRole('listitem').filter({ hasText: text })
    const isDone = async (text: string) => (await line(text).getAttribute('data-done')) === 'true'
    await strip.waitFor()
    expect(await isDone('A job went through')).toBe(false)

    const [first, second] = [(await pawl.enqueue(payOut)).id, (await pawl.enqueue(payOut)).id]
    await eventually('both are asked about', async () =>
      (await Promise.all([first, second].map((id) => pawl.get(id)))).every((job) => job?.approval !== undefined),
    )
    await pawl.approve(first, { actor: 'the night shift' })
    await eventually('a job went through', () => isDone('A job went through'), { withinMs: 30_000 })
    // Its end was told after the approval that let it in: that was another's word, and the rule's.
    expect(await isDone('Approve one')).toBe(false)

    const { id } = await pawl.enqueue(greet)
    await eventually('it leads there', async () =>
      ((await line('A job went through').getByRole('link').getAttribute('href')) ?? '').endsWith(`/jobs/${id}`),
    )
    await line('Approve one').getByRole('link').click()
    await eventually('at the very job', () => page.url().endsWith(`/approvals?job=${second}`))
    await page.getByRole('button', { name: /^Approve/ }).click()
    await eventually('it is done', async () => (await pawl.get(second))?.state === 'succeeded')
    await page.getByRole('link', { name: 'Overview' }).click()
    // Whoever is elsewhere meanwhile has done it all the same.
    await eventually('ticked off by its reader', () => isDone('Approve one'))

    await strip.getByText('six lines').click()
    const code = await strip.getByRole('region', { name: 'Your own, in six lines' }).textContent()
    expect(code?.split('\n').filter((text) => text.trim() !== '').length).toBe(6)
    await strip.getByRole('switch').click()
    await eventually('no more work is made', async () => (await pawl.schedules.get('demo-work'))?.paused === true)
    await strip.getByText('Demo work is stopped').waitFor()
    await strip.getByRole('button', { name: 'Do not show this again' }).click()
    await strip.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText(/^Work flows\./).waitFor()
    expect(await strip.count()).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('shows the first job as one slow dot, and is not for whoever has a token of their own', async () => {
    const { pawl } = fixture
    const { page } = await fixture.enter('admin', { name: 'demo' })
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    const slow = page.locator('.machine circle[r="5"][style*="offset-path"]')
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText(/when counting began/).waitFor()
    expect(await slow.count()).toBe(0)
    await pawl.enqueue(greet)
    await slow.waitFor({ state: 'attached' })
    await page.context().close()
    const other = await fixture.enter('operator')
    await other.page.getByText(/^Work flows\./).waitFor()
    expect(await other.page.getByRole('region', { name: 'First look' }).count()).toBe(0)
    await other.page.context().close()
  })
})
