/**
 * Every night at half past two, Berlin time: also in the night in which there is no half past two, and once in the one that has
 * two of them.
 *
 *   node examples/nightly-schedule.ts
 */
import { defineJob } from '../src/index.ts'
import { openTesting } from '../src/testing/testing.ts'

const report = defineJob({
  type: 'report.build',
  async run(_: undefined, ctx) {
    console.log(`report built at ${clock.format(ctx.job.spec.createdAt)}`)
  },
})

const clock = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin',
  dateStyle: 'short',
  timeStyle: 'short',
})

// The same engine, in time that passes when we say so. An application writes `await using pawl = await open()`.
for (const [season, now] of [
  ['spring', '2026-03-27T12:00:00Z'],
  ['autumn', '2026-10-23T12:00:00Z'],
] as const) {
  await using testing = await openTesting([report], { now: new Date(now) })
  const { pawl } = testing
  await pawl.schedule('nightly', { cron: '30 2 * * *', timeZone: 'Europe/Berlin' }, report)
  const next = await pawl.schedules.next('nightly', 3)
  console.log(`${season}: ${next.map((at) => at.toISOString()).join(', ')}`)
  await testing.advance('3d')
}
