/** Every screen at every width: nothing is cut off or scrolls sideways, what is pressed is large enough, and a panel without room is a sheet. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, guarded, openDashboardFixture, shared } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

const PLACES = [
  '/',
  '/jobs',
  '/jobs?job=ID',
  '/jobs/ID',
  '/dead-letters',
  '/approvals',
  '/approvals/decisions',
  '/queues',
  '/queues/errands',
  '/limits',
  '/limits/shop.example',
  '/schedules',
  '/schedules/by-the-clock',
  '/workers',
  '/new?type=errand',
  '/operations',
  '/machine',
  '/tokens',
] as const

interface Look {
  readonly width: number
  readonly by: 'finger' | 'pointer'
}

/** Around each breakpoint. The gate looks at the narrowest of a phone and of a tablet, the soak at all of them. */
const ALL_LOOKS: readonly Look[] = [
  { width: 390, by: 'finger' },
  { width: 720, by: 'pointer' },
  { width: 900, by: 'finger' },
  { width: 1100, by: 'pointer' },
  { width: 1360, by: 'pointer' },
  { width: 1920, by: 'pointer' },
  { width: 2560, by: 'pointer' },
]
const LOOKS = ALL_LOOKS.slice(0, scaled(2, ALL_LOOKS.length))
/** Pixels that are needed to meet it. */
const TARGET = { finger: 44, pointer: 24 } as const

const RULES = [{ id: 'looked-at', decision: 'require_approval', reason: 'somebody else looks at it' }]

describe.skipIf(missing !== undefined)('a screen', () => {
  let fixture: DashboardFixture
  let id = ''
  beforeAll(async () => {
    fixture = await openDashboardFixture('sqlite', RULES)
    const { pawl } = fixture
    for (const what of ['fail', 'fail', 'quick'])
      await pawl.enqueue(errand, { what, note: 'a note that goes on and on' })
    id = (await pawl.enqueue(errand, { what: 'wait' })).id
    for (const wall of [true, false]) await pawl.enqueue(shared, { key: 'shop.example', wall })
    await pawl.enqueue(guarded)
    await pawl.operations.start({ action: 'purge', query: 'type:nothing', reason: 'to see one' })
    await pawl.schedule('by-the-clock', { cron: '0 3 * * *', timeZone: 'Europe/Berlin' }, errand, { what: 'quick' })
    await eventually('it waits', async () => (await pawl.get(id))?.state === 'parked')
    await eventually('a letter', async () => (await pawl.find({ states: ['dead_lettered'] })).jobs.length === 2)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const goTo = async (page: Page, place: string) => {
    await page.goto(fixture.gateway.url + place.replace('ID', id))
    await page.locator('main').waitFor()
    await eventually('nothing is loading', async () => (await page.locator('.skeleton').count()) === 0)
  }

  it.each(LOOKS)(
    'has room for what it shows at $width px, and nothing to press too small for a $by',
    async ({ width, by }) => {
      const { page, complaints } = await fixture.enter('admin', { width, height: 860, touch: by === 'finger' })
      const found: string[] = []
      for (const place of PLACES) {
        await goTo(page, place)
        const here = (await page.evaluate(`[...(${cutOff})(), ...(${tooSmall})(${TARGET[by]})]`)) as readonly string[]
        found.push(...here.map((what) => `${place}: ${what}`))
      }
      expect(found).toEqual([])
      const header = await page.locator('header').first().boundingBox()
      expect(header?.height).toBe(48)
      expect(complaints).toEqual([])
      await page.context().close()
    },
  )

  it('shows what is chosen of a list on a sheet where it has no room beside it, and closes that', async () => {
    for (const width of [390, 1099]) {
      const { page } = await fixture.enter('operator', { width, height: 860 })
      await goTo(page, '/dead-letters')
      expect(await page.getByRole('dialog').count()).toBe(0)
      await page.getByRole('button', { name: /no_way/ }).click()
      const sheet = page.getByRole('dialog', { name: 'Cause' })
      await sheet.getByRole('button', { name: 'Redrive…' }).waitFor()
      expect(page.url()).toContain('group=')
      const [panel, list] = [await sheet.boundingBox(), await page.locator('main').boundingBox()]
      // Over the list, and not below it.
      expect(panel?.y ?? 0).toBeLessThan((list?.y ?? 0) + 10)
      await page.keyboard.press('Escape')
      await sheet.waitFor({ state: 'detached' })
      expect(page.url()).not.toContain('group=')
      for (const [place, name] of [
        ['/queues/errands', 'Queue errands'],
        ['/limits/shop.example', 'Key'],
        ['/schedules/by-the-clock', 'Schedule by-the-clock'],
        [`/jobs?job=${id}`, 'Preview'],
      ] as const) {
        await goTo(page, place)
        await page.getByRole('button', { name: `Close: ${name}` }).click()
        await eventually(`${place} is left`, async () => !page.url().endsWith(place))
        expect(await page.getByRole('dialog').count()).toBe(0)
      }
      await page.context().close()
    }
  })

  it('moves down and up dead letters and approvals, opens them and redrives, by letters alone', async () => {
    const { pawl } = fixture
    const other = await pawl.enqueue(errand, { what: 'quick' })
    await eventually('it has ended', async () => (await pawl.get(other.id))?.endedAt !== undefined)
    const late = (await pawl.enqueue(guarded)).id
    await eventually('two are asked about', async () => (await pawl.find({ states: ['pending'] })).jobs.length === 2)
    const { page } = await fixture.enter('operator')
    await goTo(page, '/approvals')
    await page.locator(`[data-job="${late}"]`).waitFor()
    const order = await page
      .locator('tr[data-job]')
      .evaluateAll((all) => all.map((row) => row.getAttribute('data-job')))
    await page.keyboard.press('j')
    await eventually('the second is looked at', () => page.url().endsWith(`job=${order[1]}`))
    await page.keyboard.press('k')
    await eventually('the first again', () => page.url().endsWith(`job=${order[0]}`))
    await page.keyboard.press('Enter')
    await eventually('it is opened', () => page.url().endsWith(`/jobs/${order[0]}`))
    await goTo(page, '/dead-letters')
    await page.getByRole('button', { name: /no_way/ }).waitFor()
    await page.keyboard.press('j')
    await eventually('a cause is looked at', () => page.url().includes('group='))
    await page.keyboard.press('r')
    await page.getByRole('button', { name: 'Count again' }).waitFor()
    await page.keyboard.press('Enter')
    await eventually('its letters are listed', () => page.url().includes('/jobs?q='))
    await page.context().close()
  })

  it('a row that is pressed beside a closed panel opens it, at 720 px as at a desk', async () => {
    const { page } = await fixture.enter('operator', { width: 720, height: 860 })
    await goTo(page, '/jobs?q=type:errand')
    await page.locator(`[data-job="${id}"]`).getByText('waits for approved').click()
    await page.getByRole('dialog', { name: 'Preview' }).getByRole('link', { name: /Open/ }).waitFor()
    expect(page.url()).toContain(`job=${id}`)
    await page.context().close()
  })
})

/** In the page: what sticks out of the window or of its place, but for code, which may scroll, and drawings, which have boxes of their own. */
const cutOff = `() => {
  const edge = document.documentElement.clientWidth
  const found = []
  if (document.documentElement.scrollWidth > edge) found.push('the page scrolls sideways')
  for (const each of document.querySelectorAll('body *')) {
    const box = each.getBoundingClientRect()
    const style = getComputedStyle(each)
    if (box.width < 2 || box.height < 2 || style.visibility === 'hidden' || each.closest('pre, svg, [role="log"], [role="tablist"]')) continue
    const name = each.tagName.toLowerCase() + ' “' + (each.ariaLabel ?? each.textContent ?? '').slice(0, 40) + '”'
    const isTold = each.parentElement?.closest('.truncate') !== null
    if (box.right > edge + 1 && !isTold) found.push(name + ' ends beyond the window')
    const hides = style.overflowX === 'hidden' || style.overflowX === 'clip'
    const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll'
    const isCut = each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0
    if (isCut && scrolls && each.matches('[role="region"], [role="toolbar"] *')) found.push(name + ' scrolls sideways')
    // An ellipsis says that there is more; what is hidden without one is lost.
    if (isCut && hides && style.textOverflow !== 'ellipsis') found.push(name + ' is cut off')
  }
  return [...new Set(found)]
}`

/** In the page: what is pressed, and is smaller than it must be. A word in a sentence has its room around it. */
const tooSmall = `(target) => {
  const found = []
  for (const each of document.querySelectorAll('a, button, select, summary, input, [role="button"], [role="tab"]')) {
    const own = each.getBoundingClientRect()
    if (own.width < 2 || own.height < 2 || each.matches('.way, [data-sheet] *') || getComputedStyle(each).visibility === 'hidden') continue
    const isWord = each.matches('a, button.link')
    const around = getComputedStyle(each, '::after')
    const room = each.matches('input') ? (each.closest('label') ?? each).getBoundingClientRect() : own
    const size = isWord ? { width: parseFloat(around.width), height: parseFloat(around.height) } : room
    if (size.width < target - 0.5 || size.height < target - 0.5)
      found.push(each.tagName.toLowerCase() + ' “' + (each.ariaLabel ?? each.textContent ?? '').slice(0, 40) + '” is ' + Math.round(size.width) + ' by ' + Math.round(size.height))
  }
  return [...new Set(found)]
}`
