/** Everybody can use it: no serious finding of axe on any screen, in either theme and on a phone. And how each of them looks. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, guarded, openDashboardFixture, shared } from './dashboard-fixture.ts'

const SHOTS = 'coverage/dashboard'
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const PLACES = [
  '/',
  '/jobs',
  '/jobs/ID',
  '/dead-letters',
  '/approvals',
  '/approvals/decisions',
  '/queues/errands',
  '/limits/shop.example',
  '/schedules/by-the-clock',
  '/workers/WORKER',
  '/new?type=errand',
  '/tail',
  '/operations',
  '/machine',
  '/machine?dialect=003',
  '/tokens',
] as const

/** For those who may read it, and nothing else. */
const OF_AUDITORS = '/audit'

/** Asks about those that were enqueued by whoever looks, and by others. */
const RULES = [{ id: 'looked-at', decision: 'require_approval', fourEyes: true, reason: 'somebody else looks at it' }]

/** All of them in soak; the gate looks at the first. */
const ALL_LOOKS = [
  { name: 'light', theme: 'light', width: 1440, height: 1000 },
  { name: 'dark', theme: 'dark', width: 1440, height: 1000 },
  { name: 'phone', theme: 'light', width: 390, height: 844 },
  { name: 'laptop', theme: 'light', width: 1360, height: 860 },
  { name: 'wide', theme: 'light', width: 2560, height: 1300 },
] as const
const LOOKS = ALL_LOOKS.slice(0, scaled(1, 5))

interface Finding {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

describe.skipIf(chromiumMissing() !== undefined)('every screen', () => {
  let fixture: DashboardFixture
  let id: string
  let operation: string
  beforeAll(async () => {
    fixture = await openDashboardFixture('sqlite', RULES)
    mkdirSync(SHOTS, { recursive: true })
    const made = await Promise.all(
      ['fail', 'fail', 'quick', 'quick', 'wait', 'run'].map((what, n) =>
        fixture.pawl.enqueue(errand, { what, note: `n ${n}` }),
      ),
    )
    id = made[4]?.id ?? ''
    for (const wall of [true, false, false]) await fixture.pawl.enqueue(shared, { key: 'shop.example', wall })
    for (const actor of ['producer:shop', 'producer:the admin'])
      await fixture.pawl.enqueue(guarded, undefined, { actor })
    const begun = await fixture.pawl.operations.start({ action: 'purge', query: 'type:nothing', reason: 'to see one' })
    operation = begun.id
    await fixture.pawl.limits.set('tokens', { budget: { amount: 1_000, per: '1h' } })
    await fixture.pawl.schedule('by-the-clock', { every: '1h' }, errand, { what: 'quick' })
    await eventually(
      'work goes on',
      async () => (await fixture.pawl.find({ states: ['running', 'parked'] })).jobs.length === 2,
    )
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it.each(LOOKS)('can be used, $name', async ({ name, theme, width, height }) => {
    const { page, complaints } = await fixture.enter('admin', { theme, width, height })
    const auditor = await fixture.enter('auditor', { theme, width, height })
    const serious: string[] = []
    const told = await page.request.get(`${fixture.gateway.url}/v1/workers`)
    const [worker] = ((await told.json()) as { readonly workers: readonly { readonly workerId: string }[] }).workers
    const workerId = worker?.workerId ?? ''
    const look = async (page: Page, place: string) => {
      await page.goto(fixture.gateway.url + place.replace('WORKER', workerId).replace('ID', id))
      await settled(page)
      await page.screenshot({
        path: `${SHOTS}/${
          place === '/'
            ? 'overview'
            : place
                .slice(1)
                .replace('/ID', '-one')
                .replace('/decisions', '-decided')
                .replace(/[/?].*/, '')
        }-${name}.png`,
      })
      serious.push(...(await findings(page)).map((found) => `${place}: ${found}`))
      const sideways = Number(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
      )
      expect(sideways, `${place} scrolls sideways`).toBeLessThanOrEqual(0)
      // At a desk nothing of a table is cut: what is long gives way with an ellipsis.
      if (width >= 1360) expect(await cut(page), `${place} at ${width} px`).toEqual([])
    }
    for (const place of PLACES) await look(page, place)
    await look(auditor.page, OF_AUDITORS)
    expect(serious).toEqual([])
    expect(complaints).toEqual([])
  })

  it('can be used before anybody is signed in', async () => {
    const stranger = await fixture.browser.newPage({ reducedMotion: 'reduce' })
    await stranger.goto(`${fixture.gateway.url}/jobs`)
    await stranger.getByLabel('Token').fill('pawl_0123456789abcdef_nonsense')
    await stranger.getByRole('button', { name: 'Sign in' }).click()
    await stranger.getByRole('alert').waitFor()
    expect(await findings(stranger)).toEqual([])
    await stranger.close()
  })

  it('can be used where it lies over another: dialogs, lists, a preview; and tab by tab', async () => {
    const { page, complaints } = await fixture.enter('admin')
    expect(await over(page, fixture, { id, operation })).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('is reached and left by keyboard alone', async () => {
    const { page } = await fixture.enter('operator')
    for (const [key, title] of [
      ['d', 'Dead letters'],
      ['a', 'Approvals'],
      ['q', 'Queues'],
      ['l', 'Limits and keys'],
      ['s', 'Schedules'],
      ['w', 'Workers'],
      ['t', 'Tail'],
      ['p', 'Operations'],
      ['m', 'Machine'],
      ['j', 'Jobs'],
    ] as const) {
      // The two letters belong together only if they come soon after each other, which a busy machine may not manage at once.
      await eventually(`g ${key} leads to ${title}`, async () => {
        await page.keyboard.press('g')
        await page.keyboard.press(key)
        return await page.getByRole('heading', { level: 1, name: title }).isVisible()
      })
    }
    await page.locator('[data-job]').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copy the id' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find a job, go, do' }).fill('overview')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
})

/** What axe finds tab by tab of a job, and in all that opens over a page. */
async function over(
  page: Page,
  fixture: DashboardFixture,
  { id, operation }: { readonly id: string; readonly operation: string },
): Promise<readonly string[]> {
  const serious: string[] = []
  const seen = async (what: string) => {
    await settled(page)
    serious.push(...(await findings(page)).map((found) => `${what}: ${found}`))
  }
  const closed = async () => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  const [dead] = (await fixture.pawl.find({ states: ['dead_lettered'] })).jobs
  for (const [job, tab] of [
    [id, 'input'],
    [dead?.id, 'errors'],
    [id, 'steps'],
    [id, 'children'],
    [id, 'result'],
    [id, 'raw'],
  ]) {
    await page.goto(`${fixture.gateway.url}/jobs/${job}?tab=${tab}`)
    await page.getByRole('tab', { name: tab ?? '', selected: true }).waitFor()
    await seen(`tab ${tab}`)
  }
  for (const name of ['Cancel…', 'Signal…']) {
    await page.getByRole('button', { name }).click()
    await page.getByRole('dialog').waitFor()
    await seen(name)
    await closed()
  }
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menu').waitFor()
  await seen('more')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a job, go, do' }).fill('err')
  await page.getByRole('option').first().waitFor()
  await seen('the palette')
  await closed()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await seen('the keys')
  await closed()
  await page.goto(`${fixture.gateway.url}/jobs?q=state:dead_lettered&job=${dead?.id}`)
  await page.getByRole('complementary', { name: 'Preview' }).getByText('no way to do').first().waitFor()
  await seen('the preview')
  await page.getByRole('button', { name: 'All of them…' }).click()
  await page.getByRole('button', { name: 'Redrive', exact: true }).click()
  await page.getByText('would be redriven').waitFor()
  await seen('all of them')
  await closed()
  await page.goto(`${fixture.gateway.url}/operations/${operation}`)
  await page.getByText('to see one').first().waitFor()
  await seen('an operation')
  return serious
}

/** Nothing is on its way, and what was loaded is shown. */
async function settled(page: Page): Promise<void> {
  // Not by its role: what lies over it hides it from those who ask for that.
  await page.locator('main').waitFor()
  await eventually('nothing is loading', async () => (await page.locator('.skeleton').count()) === 0)
}

/** Tables that are wider than their place. */
const cut = (page: Page): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll('main [role="region"]:not(pre)')].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.ariaLabel)`,
  )

async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe)
  const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Finding[]
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id: rule, nodes }) => `${rule}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary.slice(0, 200)}`)
}
