import { expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'

/** The worker speaks to the engine interface and to nothing below it: behind HTTP it does not notice. */
it('runs the same handlers behind HTTP: steps, waits, retries, cancels, leases that are kept', async () => {
  await using home = await open('memory:', { ticker: { everyMs: 100 }, log: 'silent' })
  await using gateway = await startGateway({ engine: home.engine, auth: false, port: 0 })
  await using pawl = await open(gateway.url, { log: 'silent' })
  const ran: string[] = []
  const busy = defineJob({
    type: 'busy',
    lease: '1s',
    retry: { base: 20, factor: 1, max: 20, jitter: 'none' },
    async run(input: { readonly n: number }, ctx) {
      const doubled = await ctx.step('double', () => {
        ran.push(`double ${ctx.attempt}`)
        return input.n * 2
      })
      if (ctx.attempt === 1) throw new Error('once more')
      const word = await ctx.waitFor<string>('word')
      // Longer than the lease.
      await new Promise((resolve) => setTimeout(resolve, 1_600))
      ctx.count('done')
      return `${doubled} ${word.payload}`
    },
  })
  const held = defineJob({
    type: 'held',
    lease: '1s',
    run: (_: undefined, ctx) =>
      new Promise<void>((_, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
      }),
  })
  await using worker = pawl.work([busy, held], { poll: '50ms' })
  expect(worker.keeper).toBe('main')
  const job = await home.enqueue(busy, { n: 21 })
  await eventually('the job to wait', async () => (await job.job())?.wait?.name === 'word')
  await job.signal('word', 'is the answer')
  expect(await job.result({ timeout: '20s' })).toBe('42 is the answer')
  expect(await job.job()).toMatchObject({ stalls: 0, failures: 1, attempt: 3, counters: { done: 1 } })
  expect(ran).toEqual(['double 1'])
  const other = await home.enqueue(held)
  await eventually('the other job to run', async () => (await other.job())?.state === 'running')
  await other.cancel({ reason: 'enough' })
  await expect(other.result({ timeout: '20s' })).rejects.toMatchObject({ name: 'JobCancelled' })
})
