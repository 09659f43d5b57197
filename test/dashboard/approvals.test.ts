/** What a policy asks a person about, answered in the dashboard. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, guarded, moneyed, openDashboardFixture } from './dashboard-fixture.ts'

const STORES = (['sqlite', 'postgres'] as const).slice(0, scaled(1, 2))

const isOf = (kind: string) => `has(job.labels.kind) && job.labels.kind == "${kind}"`
const RULES = [
  { id: 'all', decision: 'allow' },
  { id: 'dear', when: isOf('dear'), decision: 'constrain', constrain: { labels: { tier: 'free' }, concurrency: 2 } },
  { id: 'frozen', when: isOf('frozen'), decision: 'deny', reason: 'the account is frozen' },
  { id: 'big-refund', when: isOf('big'), decision: 'require_approval', reason: 'it is a lot of money' },
  { id: 'mass-mail', when: isOf('mail'), decision: 'require_approval', fourEyes: true, expires: '2h' },
]

/** A store with the rules, and how jobs come to be asked about in it. */
function judged(on: (typeof STORES)[number]) {
  const at = {} as { fixture: DashboardFixture }
  beforeAll(async () => {
    at.fixture = await openDashboardFixture(on, RULES)
  })
  afterAll(() => at.fixture?.[Symbol.asyncDispose]())
  const ask = async (kind: string, actor = 'producer:shop') =>
    (await at.fixture.pawl.enqueue(guarded, undefined, { labels: { kind }, actor })).id
  const isAsked = (id: string) =>
    eventually(`${id} is asked about`, async () => (await at.fixture.pawl.get(id))?.approval !== undefined)
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await at.fixture.pawl.get(id))?.state === state)
  return { at, ask, isAsked, inState }
}

describe.skipIf(chromiumMissing() !== undefined).each(STORES)('what a policy asks about, on %s', (on) => {
  const { at, ask, isAsked, inState } = judged(on)

  it('is approved with a reason, by keyboard, and let in by the policy', async () => {
    const id = await ask('big')
    await isAsked(id)
    const { page, complaints } = await at.fixture.enter('operator')
    await page.getByRole('link', { name: '1 to decide on' }).click()
    await page.getByText('One job waits for a person').waitFor()
    await page.getByText('it is a lot of money').first().waitFor()
    await page.getByText('producer:shop').waitFor()
    await page.getByLabel('Why', { exact: true }).fill('seen the invoice')
    await page.getByLabel('Why', { exact: true }).blur()
    await page.keyboard.press('a')
    await inState(id, 'succeeded')
    await page.getByText('Nothing waits to be let in').waitFor()
    await page.goto(`${at.fixture.gateway.url}/approvals/decisions`)
    await page.getByRole('row', { name: /approved .*seen the invoice.*operator:the operator/ }).waitFor()
    await page.getByRole('row', { name: /let in .*big-refund.*system:scheduler/ }).waitFor()
    await inState(await ask('dear'), 'succeeded')
    await page.getByRole('row', { name: /let in .*dear.*under key rule,dear · labelled tier=free/ }).waitFor()
    await page.getByLabel('Show what contains').fill('no such rule')
    await page.getByText('Nothing in this time has “no such rule” in it.').waitFor()
    expect(complaints).toEqual([])
  })

  it('is greyed for who enqueued it, who may withdraw it and who is told the rule', async () => {
    const id = await ask('mail', 'producer:the operator')
    await isAsked(id)
    const { page } = await at.fixture.enter('operator')
    await page.goto(`${at.fixture.gateway.url}/approvals?job=${id}`)
    const rule = 'Rule mass-mail wants another pair of eyes than those of producer:the operator, who enqueued it.'
    await page.getByText(rule).first().waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Withdraw…' }).click()
    await page.getByLabel('Why, for the log').fill('not meant')
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await inState(id, 'cancelled')
    expect((await at.fixture.pawl.events(id)).some(({ type }) => type === 'approved')).toBe(false)
  })

  it('is denied with why, and what the policy turned away by itself is told beside it', async () => {
    const [frozen, id] = [await ask('frozen'), await ask('big')]
    await inState(frozen, 'denied')
    await isAsked(id)
    const { page } = await at.fixture.enter('operator')
    await page.goto(`${at.fixture.gateway.url}/approvals`)
    await page.getByRole('row', { name: /denied .*frozen.*the account is frozen/ }).waitFor()
    await page.getByLabel('Why', { exact: true }).fill('no contract')
    await page.getByRole('button', { name: /Deny…/ }).click()
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await inState(id, 'denied')
    await page.getByRole('row', { name: /denied .*no contract.*operator:the operator/ }).waitFor()
  })

  it('is seen by viewers, who are told why they cannot answer', async () => {
    const id = await ask('big')
    await isAsked(id)
    const { page } = await at.fixture.enter('viewer')
    await page.goto(`${at.fixture.gateway.url}/approvals?job=${id}`)
    await page.getByText('What it would do is not shown to viewers.').waitFor()
    await page.getByText('Your token is of scope viewer, which may not approve. Ask an operator.').first().waitFor()
  })
})

describe.skipIf(chromiumMissing() !== undefined).each(STORES)('an input that a duplicate has brought, on %s', (on) => {
  const { at, isAsked, inState } = judged(on)

  it('is shown with the input that it asks about: what a duplicate has brought meanwhile is looked at before it is approved', async () => {
    const first = await at.fixture.pawl.enqueue(
      moneyed,
      { cents: 100 },
      { labels: { kind: 'big' }, actor: 'producer:shop' },
    )
    await isAsked(first.id)
    const { page, complaints } = await at.fixture.enter('operator')
    await page.goto(`${at.fixture.gateway.url}/approvals?job=${first.id}`)
    await page
      .getByText(/cents.*100/)
      .first()
      .waitFor()
    const button = page.getByRole('button', { name: 'Approve' })
    expect(await button.getAttribute('aria-disabled')).toBeNull()
    // What it carries is slow to come, and its record is not.
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    await page.route(`**/v1/jobs/${first.id}`, async (route) => {
      asked.resolve()
      await held.promise
      await route.continue()
    })
    const hash = (await at.fixture.pawl.get(first.id))?.approval?.jobHash
    // As large as the other: all that a record says of it but its revision is the same.
    await at.fixture.pawl.enqueue(moneyed, { cents: 999 }, { labels: { kind: 'big' }, actor: 'producer:shop' })
    await eventually('it is asked about anew', async () => {
      const { approval } = (await at.fixture.pawl.get(first.id)) ?? {}
      return approval !== undefined && approval.jobHash !== hash
    })
    await asked.promise
    await page.getByText('A duplicate has brought another input, which is on its way').first().waitFor()
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    held.resolve()
    await page
      .getByText(/cents.*999/)
      .first()
      .waitFor()
    expect(await page.getByText(/cents.*100/).count()).toBe(0)
    await button.click()
    await inState(first.id, 'succeeded')
    expect(complaints).toEqual([])
  })

  it('is made another from with the input that it has by now, whatever was looked at before', async () => {
    const words = { labels: { kind: 'mail' }, actor: 'producer:shop' }
    const { id } = await at.fixture.pawl.enqueue(moneyed, { cents: 200 }, words)
    await isAsked(id)
    const { page } = await at.fixture.enter('admin')
    await page.goto(`${at.fixture.gateway.url}/approvals?job=${id}`)
    await page
      .getByText(/cents.*200/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Open the job' }).click()
    const more = page.getByRole('button', { name: 'More', exact: true })
    await more.waitFor()
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    await page.route(`**/v1/jobs/${id}?*`, async (route) => {
      asked.resolve()
      await held.promise
      await route.continue()
    })
    await at.fixture.pawl.enqueue(moneyed, { cents: 888 }, words)
    await asked.promise
    await more.click()
    await page.getByRole('menuitem', { name: 'Edit and enqueue as new…' }).click()
    await page.waitForURL('**/new?*')
    held.resolve()
    const text = page.getByLabel('Input, as JSON')
    await text.waitFor()
    expect(await text.inputValue()).toContain('888')
    await at.fixture.pawl.cancel(id, { mode: 'hard' })
  })
})
