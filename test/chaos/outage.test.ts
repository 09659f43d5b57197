import { expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/postgres.ts'

it('a database server that is killed and comes back costs time, and no job', async () => {
  await using server = await startPostgres()
  await using pawl = await open(server.url, { migrate: true, log: 'silent' })
  let ran = 0
  const steady = defineJob({
    type: 'steady',
    lease: '3s',
    async run(_: undefined, ctx) {
      await ctx.step('work', () => new Promise<void>((resolve) => setTimeout(resolve, 20)))
      ran += 1
    },
  })
  const jobs = 60
  const handles = await pawl.enqueueMany(
    steady,
    Array.from({ length: jobs }, () => undefined),
  )
  await using worker = pawl.work([steady], { concurrency: 4, poll: '200ms' })
  await eventually('some to have run', () => ran > 10)
  await server.kill()
  await eventually('the watchdog to stop a handler whose lease cannot be renewed', () => worker.running < 4)
  await server.restart()
  await Promise.all(handles.map((handle) => handle.result({ timeout: '60s' })))
  for (const handle of handles) {
    const ended = (await handle.events()).filter(({ to }) => to === 'succeeded')
    expect(ended.length).toBe(1)
    expect(await handle.job()).toMatchObject({ state: 'succeeded', failures: 0, steps: 1 })
  }
  expect((await pawl.verify()).discrepancies).toEqual([])
})
