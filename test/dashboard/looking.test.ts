/** Looking closer, in a browser, on a real gateway: orders, completion, what to loosen, a move by its address, a stretch of time, a tree. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TransientError } from '../../src/core/thrown.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, openDashboardFixture, shared } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

/** On Postgres, too, in soak. */
const STORES = (['sqlite', 'postgres'] as const).slice(0, scaled(1, 2))

const leaf = defineJob({ type: 'leaf', queue: 'trees', run: () => 'green' })
const branch = defineJob({
  type: 'branch',
  queue: 'trees',
  async run(_, ctx) {
    await ctx.spawn(leaf)
  },
})
const tree = defineJob({
  type: 'tree',
  queue: 'trees',
  async run(_, ctx) {
    await ctx.spawn(branch)
  },
})

const STEPS = 50
/** Fails four times, each time after steps of that run alone; then it waits. */
const stepped = defineJob({
  type: 'stepped',
  queue: 'steps',
  retry: { attempts: 9, base: 1 },
  async run(_, ctx) {
    for (let n = 0; n < STEPS; n += 1) await ctx.step(`step ${ctx.job.attempt}.${n}`, () => n)
    if (ctx.job.attempt < 5) throw new TransientError('not yet', { code: 'not_yet' })
    await ctx.waitFor('approved', { timeout: '1h' })
  },
})

describe.skipIf(missing !== undefined).each(STORES)('looking closer, on %s', (on) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture(on)
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const enqueue = async (what: string, note = '') => (await fixture.pawl.enqueue(errand, { what, note })).id
  const inState = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await fixture.pawl.get(id))?.state === state)

  it('lists what has changed last, and what is held; completes members of inputs; says what to loosen', async () => {
    const { pawl } = fixture
    const first = await enqueue('wait')
    await inState(first, 'parked')
    const second = await enqueue('ok')
    await inState(second, 'succeeded')
    await pawl.signal(first, 'approved')
    await inState(first, 'succeeded')
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs?q=state:succeeded`)
    const rows = () => page.locator('[data-job]').evaluateAll((all) => all.map((row) => row.getAttribute('data-job')))
    await eventually('the newest is on top', async () => (await rows())[0] === second)
    await page.getByLabel('Order').selectOption('changed')
    await eventually('the last changed is on top', async () => (await rows())[0] === first)
    expect(page.url()).toContain('sort=changed')
    await page.reload()
    await eventually('an address is the view', async () => (await rows())[0] === first)

    const query = page.getByRole('combobox', { name: 'Query' })
    await query.fill('type:errand input.n')
    await page.getByRole('option', { name: /input\.note:/ }).waitFor()
    await query.press('Tab')
    expect(await query.inputValue()).toBe('type:errand input.note:')
    await page.goto(`${fixture.gateway.url}/jobs?q=state:succeeded%20class:none`)
    await page.getByText('Nothing matches').waitFor()
    await page.getByRole('button', { name: /2 jobs/ }).click()
    await eventually('what was in the way is gone', async () => (await rows()).length === 2)

    const held = (await pawl.enqueue(shared, { key: 'wall', wall: true })).id
    await eventually('its key is broken', async () => (await pawl.limits.get('wall'))?.state === 'broken')
    const behind = (await pawl.enqueue(shared, { key: 'wall' })).id
    await page.getByRole('button', { name: 'Held', exact: true }).click()
    await eventually('what the key holds is listed', async () => (await rows()).includes(behind))
    expect(await rows()).not.toContain(first)
    expect(held).not.toBe(behind)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('shows a move by its address, lights it in time and events, and looks into a stretch of time', async () => {
    const id = await enqueue('fail', 'closer')
    await inState(id, 'dead_lettered')
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${id}`)
    await page.getByText(/move 4 of 4/).waitFor()
    await page.keyboard.press(',')
    await page.getByText(/move 3 of 4/).waitFor()
    expect(page.url()).toMatch(/\?move=3#rev-3$/)
    await page.reload()
    await page.getByText(/move 3 of 4/).waitFor()
    await page.locator('#rev-3[aria-current="true"]').waitFor()
    await page.locator('[data-lit]').waitFor()

    const brush = page.locator('[data-brush]')
    const box = await brush.boundingBox()
    if (box === null) throw new Error('there is an axis')
    await page.mouse.move(box.x + box.width * 0.2, box.y + 5)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 5, { steps: 3 })
    await page.mouse.up()
    const whole = page.getByRole('button', { name: 'Whole' })
    await whole.waitFor()
    await brush.dblclick()
    await whole.waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'The time axis' }).press('+')
    await whole.click()

    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Open in tail' }).click()
    await eventually('the tail is about it', async () => page.url().endsWith(`/tail?q=${id}`))
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('draws very many lanes as a screenful of them, old runs folded, and the line of now through all', async () => {
    const worker = fixture.pawl.work([stepped], { concurrency: 1 })
    const { id } = await fixture.pawl.enqueue(stepped)
    await eventually('it waits after many steps', async () => (await fixture.pawl.get(id))?.state === 'parked', {
      withinMs: 60_000,
    })
    const { page, complaints } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${id}`)
    const lanes = page.locator('[data-lane]')
    const list = page.getByRole('list', { name: 'Runs and their steps' })
    await lanes.getByText(/waits for approved/).waitFor()
    expect(await lanes.count()).toBeLessThanOrEqual(60)
    expect(await lanes.locator('[data-now]').count()).toBe(await lanes.count())
    await list.evaluate((place) => place.scrollTo(0, 0))
    const first = lanes.getByRole('button', { name: `Run 1: ${STEPS + 1} lanes` })
    await first.click()
    await eventually('it is open', async () => (await first.getAttribute('aria-expanded')) === 'true')
    await lanes.getByText('step 1.3', { exact: true }).waitFor()
    expect(await lanes.count()).toBeLessThanOrEqual(60)
    expect(complaints).toEqual([])
    await page.context().close()
    await worker[Symbol.asyncDispose]()
  })

  it('opens the tree of what a job has spawned, branch by branch, and speaks a document’s words where it is told to', async () => {
    const worker = fixture.pawl.work([tree, branch, leaf], { concurrency: 4 })
    const { id } = await fixture.pawl.enqueue(tree)
    await eventually('it has grown', async () => (await fixture.pawl.find({ types: ['leaf'] })).jobs.length === 1)
    const { page } = await fixture.enter('operator')
    await page.goto(`${fixture.gateway.url}/jobs/${id}?tab=children`)
    const twig = page.getByRole('list', { name: 'Children', exact: true })
    await twig.getByRole('button', { name: /What pj_.* has spawned/ }).click()
    await twig.getByRole('link', { name: 'leaf' }).waitFor()
    await page.getByLabel('Words').selectOption('003')
    await page
      .getByRole('note')
      .getByText(/Words of 003/)
      .waitFor()
    await page.getByRole('button', { name: 'Speak as pawl' }).click()
    await page.getByRole('note').waitFor({ state: 'detached' })
    await page.context().close()
    await worker[Symbol.asyncDispose]()
  })
})
