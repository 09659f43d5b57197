import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { openTesting } from '../../src/testing/testing.ts'

const hello = defineJob({ type: 'hello', run: async (input: { name: string }) => `hello ${input.name}` })

describe('pawl/testing', () => {
  it('runs what is enqueued, and gives its result', async () => {
    await using testing = await openTesting([hello])
    const job = await testing.pawl.enqueue(hello, { name: 'ann' })
    await testing.drain()
    expect(await job.result()).toBe('hello ann')
    const found = await testing.expectEnqueued(hello, { name: 'ann' })
    expect(found.id).toBe(job.id)
    await expect(testing.expectEnqueued(hello, { name: 'bob' })).rejects.toThrow(/expected a job hello with .*bob.*ann/)
  })

  it('makes two days pass in no time', async () => {
    const runs: number[] = []
    const patient = defineJob({
      type: 'patient',
      async run(_: undefined, ctx) {
        runs.push(testing.now.getTime())
        await ctx.sleep('2d')
        runs.push(testing.now.getTime())
      },
    })
    await using testing = await openTesting([patient])
    const start = testing.now.getTime()
    const job = await testing.pawl.enqueue(patient)
    await testing.drain()
    expect((await job.job())?.state).toBe('parked')
    await testing.advance('1d')
    expect((await job.job())?.state).toBe('parked')
    await testing.advance('25h')
    expect((await job.job())?.state).toBe('succeeded')
    const dayMs = 86_400_000
    expect(runs.map((at) => Math.round((at - start) / dayMs))).toEqual([0, 2, 2])
  })

  it('runs a delayed job when its time comes, and a retry on its curve', async () => {
    const at: number[] = []
    const flaky = defineJob({
      type: 'flaky',
      retry: { base: '10s', factor: 3, max: '1h', jitter: 'none' },
      run: async (_: undefined, ctx) => {
        at.push(testing.now.getTime())
        if (ctx.attempt < 3) throw new Error('no')
      },
    })
    await using testing = await openTesting([flaky])
    const start = testing.now.getTime()
    const job = await testing.pawl.enqueue(flaky, undefined, { delay: '1h' })
    await testing.advance('2h')
    expect((await job.job())?.state).toBe('succeeded')
    expect(at.map((each) => each - start)).toEqual([3_600_000, 3_610_000, 3_640_000])
  })

  it('crashes a worker: the job runs again elsewhere when its lease is over, and steps do not', async () => {
    const ran: string[] = []
    const agent = defineJob({
      type: 'agent',
      lease: '30s',
      async run(_: undefined, ctx) {
        await ctx.step('think', () => void ran.push(`think ${ctx.attempt}`))
        if (ctx.attempt === 1) await new Promise(() => {})
        ran.push(`act ${ctx.attempt}`)
      },
    })
    await using testing = await openTesting([agent])
    const job = await testing.pawl.enqueue(agent)
    await testing.waitForState(job.id, 'running')
    await testing.crashWorker()
    expect((await job.job())?.state).toBe('running')
    await testing.advance('1m')
    expect(await testing.waitForState(job.id, 'succeeded')).toMatchObject({ stalls: 1, failures: 0, attempt: 2 })
    expect(ran).toEqual(['think 1', 'act 2'])
  })

  it('loses a lease: the handler is told, and the job runs again', async () => {
    let reason: unknown
    const slow = defineJob({
      type: 'slow',
      lease: '30s',
      run: (_: undefined, ctx) =>
        ctx.attempt > 1
          ? undefined
          : new Promise<void>((_, reject) => {
              ctx.signal.addEventListener('abort', () => {
                reason = ctx.signal.reason
                reject(ctx.signal.reason)
              })
            }),
    })
    await using testing = await openTesting([slow])
    const job = await testing.pawl.enqueue(slow)
    await testing.advance('1s')
    await testing.loseLease(job.id)
    expect(reason).toMatchObject({ name: 'LeaseConflictError' })
    await testing.drain()
    expect(await testing.waitForState(job.id, 'succeeded')).toMatchObject({ attempt: 2, stalls: 1 })
  })

  it('says what is still running instead of waiting for ever', async () => {
    const stuck = defineJob({ type: 'stuck', run: () => new Promise<void>(() => {}) })
    await using testing = await openTesting([stuck], { patienceMs: 50 })
    const job = await testing.pawl.enqueue(stuck)
    await expect(testing.drain()).rejects.toThrow(`drain: still running: ${job.id} (stuck)`)
    await expect(testing.waitForState(job.id, 'succeeded')).rejects.toThrow(/not succeeded/)
  })

  it('leaves a paused queue alone', async () => {
    await using testing = await openTesting([hello])
    await testing.pawl.pause('default')
    const job = await testing.pawl.enqueue(hello, { name: 'x' })
    await testing.drain()
    expect((await job.job())?.state).toBe('queued')
    await testing.pawl.resume('default')
    await testing.drain()
    expect((await job.job())?.state).toBe('succeeded')
  })
})
