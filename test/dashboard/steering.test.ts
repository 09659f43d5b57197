/** What people steer in the dashboard: what keys let in, and what is done to many jobs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardFixture, openDashboardFixture, shared } from './dashboard-fixture.ts'

describe.skipIf(chromiumMissing() !== undefined).each(['sqlite', 'postgres'] as const)(
  'from the dashboard, on %s',
  (on) => {
    let fixture: DashboardFixture
    beforeAll(async () => {
      fixture = await openDashboardFixture(on)
    })
    afterAll(() => fixture?.[Symbol.asyncDispose]())

    const at = (path: string) => fixture.gateway.url + path
    const inState = (id: string, state: string) =>
      eventually(`${id} is ${state}`, async () => (await fixture.pawl.get(id))?.state === state)

    it('a key that is broken says why, holds its jobs, is set by hand and opened', async () => {
      const key = 'shop.example'
      const { limits } = fixture.pawl
      const { id: first } = await fixture.pawl.enqueue(shared, { key, wall: true })
      await eventually('it is broken', async () => (await limits.get(key))?.state === 'broken')
      const { id: held } = await fixture.pawl.enqueue(shared, { key })
      const { page, complaints } = await fixture.enter('operator')
      await page.goto(at('/limits'))
      await page.getByText('One key is broken, 2 jobs are held').waitFor()
      await page.getByRole('link', { name: key }).click()
      await page.getByText(/Nothing is let in until/).waitFor()
      await page.getByRole('link', { name: first }).waitFor()
      await page.getByLabel('At once').fill('none')
      await page.getByRole('button', { name: 'Set by hand' }).click()
      await page.getByText(/MALFORMED/).waitFor()
      await page.getByLabel('At once').fill('2')
      await page.getByLabel('Starts').fill('10/30s')
      await page.keyboard.press('Enter')
      const byHand = { concurrency: 2, rate: { most: 10, perMs: 30_000 } }
      await eventually(
        'it is set',
        async () => JSON.stringify((await limits.get(key))?.byHand) === JSON.stringify(byHand),
      )
      await page.getByRole('button', { name: 'Remove by hand' }).click()
      await eventually('code holds again', async () => (await limits.get(key))?.byHand === undefined)
      await page.getByRole('button', { name: 'Open the key…' }).click()
      await page.getByRole('button', { name: 'Open the key', exact: true }).click()
      await inState(held, 'succeeded')
      await page.getByText('broken → open').waitFor()
      await page.getByRole('button', { name: 'Try one now' }).hover()
      await page.getByText('Not while it is open. probe works on keys that are broken.').waitFor()
      expect(complaints).toEqual([])
    })
  },
)
