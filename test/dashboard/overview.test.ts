/** The overview, looked into: which jobs took a line last, a stretch of the charts, and where something was deployed. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'

const missing = chromiumMissing()
if (missing !== undefined) console.log(`dashboard: ${missing}`)

describe.skipIf(missing !== undefined)('the overview', () => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await openDashboardFixture()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const done = async (note: string): Promise<string> => {
    const { id } = await fixture.pawl.enqueue(errand, { what: 'ok', note })
    await eventually(`${id} is done`, async () => (await fixture.pawl.get(id))?.state === 'succeeded')
    return id
  }

  it('names the last ten jobs that took a line, the newest first', async () => {
    const { page, complaints } = await fixture.enter('viewer')
    await page.getByText(/when counting began/).waitFor()
    const ids: string[] = []
    for (let n = 0; n < 11; n += 1) ids.push(await done(`${n}`))
    // A line is pressed beside its middle, where nodes and words may lie over it: the keyboard finds it wherever it runs.
    await page.getByRole('button', { name: /the way “succeed”/ }).press('Enter')
    const list = page.getByRole('list', { name: 'Last jobs that took it' })
    await eventually('they are listed', async () => {
      const links = await list.getByRole('link').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
      return (
        links.join() ===
        ids
          .toReversed()
          .slice(0, 10)
          .map((id) => `/jobs/${id}`)
          .join()
      )
    })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('looks into a stretch of both charts alike, and marks what was deployed', async () => {
    const { page, complaints } = await fixture.enter('viewer')
    // A version is a deployment once a gateway that knows the others has seen it: the browser is told so here.
    await page.route('**/v1/traffic?*', async (route) => {
      const answer = await route.fetch()
      const told: { at: string } = await answer.json()
      await route.fulfill({ response: answer, json: { ...told, deploys: [{ version: 'web@7f3a9c', at: told.at }] } })
    })
    await page.reload()
    const charts = page.locator('[data-plot]')
    await eventually('both are drawn', async () => (await charts.locator('canvas').count()) === 2)
    await page.getByText('1 deploy').first().waitFor()
    expect(await page.getByText('web@7f3a9c').count()).toBe(2)
    await drawnAcross(page, charts.first().locator('.u-over'))
    const whole = page.getByRole('button', { name: 'Whole' })
    await eventually('both look into it', async () => (await whole.count()) === 2)
    await charts.last().locator('.u-over').dblclick()
    await eventually('both show all of it', async () => (await whole.count()) === 0)
    await drawnAcross(page, charts.last().locator('.u-over'))
    await whole.first().click()
    await eventually('both show all of it again', async () => (await whole.count()) === 0)
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

async function drawnAcross(page: Page, place: ReturnType<Page['locator']>): Promise<void> {
  await place.scrollIntoViewIfNeeded()
  const box = await place.boundingBox()
  if (box === null) throw new Error('there is a chart')
  await page.mouse.move(box.x + box.width * 0.2, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.7, box.y + 20, { steps: 3 })
  await page.mouse.up()
}
