/** The work that the demo makes up: it comes while its schedule is not paused. */
import { expect, it } from 'vitest'
import { openingHand, workload } from '../../src/cli/demo/workload.ts'
import { open } from '../../src/open.ts'
import { realTimers } from '../../src/system/timers.ts'

it('stops while the schedule `demo-work` is paused, and goes on where it was', async () => {
  await using pawl = await open('memory:', { log: 'silent', ticker: false })
  await openingHand(pawl)
  const work = workload(pawl, realTimers, 1)
  const jobs = async () => (await pawl.find({ limit: 500 })).jobs.length
  const before = await jobs()
  await work.runOnce()
  const one = await jobs()
  expect(one).toBeGreaterThan(before)
  await pawl.schedules.pause('demo-work')
  await work.runOnce()
  expect(await jobs()).toBe(one)
  await pawl.schedules.resume('demo-work')
  await work.runOnce()
  expect(await jobs()).toBeGreaterThan(one)
})
