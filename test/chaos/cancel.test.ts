import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { Refused } from '../../src/library/errors.ts'
import { open } from '../../src/open.ts'
import { redisMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { calm, hold, NEVER_BEATS, short } from './jobs.ts'
import { openProcessesFixture, STORES } from './processes.ts'

/** No heartbeat can have brought what is heard here. */
const HINTING = [...STORES, ...(redisMissing() === undefined ? (['redis'] as const) : [])]

describe.each(HINTING)('by a hint, on %s', (store) => {
  it.each([
    ['soft', 'CancelRequestedError'],
    ['hard', 'LeaseConflictError'],
  ] as const)('a %s cancel does not wait for a heartbeat where hints arrive', async (mode, reason) => {
    await using fixture = await openProcessesFixture(store)
    const worker = await fixture.start()
    const job = await fixture.pawl.enqueue(calm)
    await worker.said({ what: 'run' })
    // Whatever the worker says about a job is answered with a cancel, too: from here on it has nothing to say.
    await eventually('a start', async () => (await job.job())?.state === 'running')
    await job.cancel({ mode })
    await worker.said({ what: 'aborted', reason })
  })

  it.each([
    ['soft', 'CancelRequestedError'],
    ['hard', 'LeaseConflictError'],
  ] as const)('a %s cancel of a handler behind HTTP does not wait for a heartbeat', async (mode, name) => {
    await using fixture = await openProcessesFixture(store)
    await using gateway = await startGateway({ engine: fixture.pawl.engine, auth: false, port: 0 })
    await using remote = await open(gateway.url, { log: 'silent' })
    let reason: unknown
    const distant = defineJob({
      type: 'distant',
      ...NEVER_BEATS,
      run: (_: undefined, ctx) =>
        new Promise<void>((_, reject) => {
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason
            reject(reason)
          })
        }),
    })
    await using _worker = remote.work([distant])
    const job = await fixture.pawl.enqueue(distant)
    await eventually('a start', async () => (await job.job())?.state === 'running')
    await job.cancel({ mode })
    await eventually('the handler to hear of it', () => reason !== undefined)
    expect(reason).toMatchObject({ name })
  })
})

describe.each(STORES)('on %s', (store) => {
  it('a soft cancel reaches a handler in another process', async () => {
    await using fixture = await openProcessesFixture(store)
    const worker = await fixture.start()
    const job = await fixture.pawl.enqueue(hold)
    await worker.said({ what: 'run' })
    await job.cancel({ reason: 'enough' })
    await worker.said({ what: 'aborted', reason: 'CancelRequestedError' })
    await expect(job.result({ timeout: '10s' })).rejects.toMatchObject({ name: 'JobCancelled' })
    expect(await job.job()).toMatchObject({ state: 'cancelled', failures: 0, cancel: { reason: 'enough' } })
  })

  it('a hard cancel ends the job at once and fences its handler', async () => {
    await using fixture = await openProcessesFixture(store)
    const worker = await fixture.start()
    const job = await fixture.pawl.enqueue(hold)
    await worker.said({ what: 'run' })
    await job.cancel({ mode: 'hard' })
    const ended = await job.job()
    expect(ended?.state).toBe('cancelled')
    await worker.said({ what: 'aborted', reason: 'LeaseConflictError' })
    expect(await job.job()).toEqual(ended)
  })

  it('SIGTERM with 20 running jobs: exit 0 within the drain time, nothing lost, nothing that finished runs twice', async () => {
    await using fixture = await openProcessesFixture(store)
    const worker = await fixture.start({ concurrency: 20, signals: true, drain: '5s' })
    const quick = await fixture.pawl.enqueueMany(
      short,
      Array.from({ length: 10 }, () => ({ ms: 1_000 })),
    )
    const slow = await fixture.pawl.enqueueMany(
      short,
      Array.from({ length: 10 }, () => ({ ms: 60_000 })),
    )
    for (const { id } of [...quick, ...slow]) await worker.said({ what: 'run', id })
    const later = await fixture.pawl.enqueue(short, { ms: 1 })
    const asked = performance.now()
    worker.kill('SIGTERM')
    expect(await worker.exit).toEqual({ code: 0, signal: null })
    // A process that has decided to exit still has to, on a machine that may be busy: the rest is for that.
    expect(performance.now() - asked).toBeLessThan(6_500)
    for (const job of quick) expect(await job.job()).toMatchObject({ state: 'succeeded', attempt: 1 })
    for (const job of slow) {
      expect(await job.job()).toMatchObject({ state: 'queued', failures: 0, stalls: 0, attempt: 1 })
    }
    expect(await later.job()).toMatchObject({ state: 'queued', attempt: 0 })
    expect((await fixture.pawl.verify()).discrepancies).toEqual([])
    const next = await fixture.start({ concurrency: 20 })
    for (const { id } of slow) await next.said({ what: 'run', id, attempt: 2 })
    expect(next.lines.filter(({ what, id }) => what === 'run' && quick.some((job) => job.id === id))).toEqual([])
  })

  it('a second signal does not wait', async () => {
    await using fixture = await openProcessesFixture(store)
    const worker = await fixture.start({ signals: true, drain: '60s' })
    const job = await fixture.pawl.enqueue(short, { ms: 60_000 })
    await worker.said({ what: 'run', id: job.id })
    worker.kill('SIGTERM')
    worker.kill('SIGTERM')
    const again = setInterval(() => worker.kill('SIGTERM'), 50)
    expect(await worker.exit).toEqual({ code: 143, signal: null })
    clearInterval(again)
  })

  it('cancel and complete race: one of them wins, always', { timeout: scaled(120_000, 1_200_000) }, async () => {
    await using fixture = await openProcessesFixture(store)
    const { pawl } = fixture
    const finish = new Map<number, () => void>()
    const racer = defineJob({
      type: 'racer',
      queue: 'racers',
      run: (n: number) => new Promise<string>((resolve) => finish.set(n, () => resolve('finished'))),
    })
    await using _ = pawl.work([racer], { concurrency: 100 })
    const races = scaled(300, 10_000)
    let cancelled = 0
    let spreadMs = 20
    for (let from = 0; from < races; from += 100) {
      finish.clear()
      const numbers = Array.from({ length: 100 }, (_, n) => n)
      const jobs = await pawl.enqueueMany(racer, numbers)
      await eventually('all handlers to run', () => finish.size === jobs.length)
      // Handlers finish while cancels arrive: as long as those took last time, some of both come first.
      const sentMs = performance.now()
      const said = await Promise.all(
        jobs.map(async (job, n) => {
          void pause((spreadMs * ((n * 37) % 100)) / 100).then(finish.get(n))
          return job.cancel({ mode: n % 2 === 0 ? 'soft' : 'hard' }).then(
            (answer) => answer.state,
            (error: unknown) => (error instanceof Refused ? error.code : Promise.reject(error)),
          )
        }),
      )
      spreadMs = performance.now() - sentMs
      await Promise.all(jobs.map((job) => job.result({ timeout: '20s' }).catch(() => {})))
      const { items } = await pawl.engine.load(jobs.map(({ id }) => ({ id })))
      for (const [i, item] of items.entries()) {
        const record = item?.job
        if (record?.state === 'cancelled') cancelled += 1
        // Whoever was told that the job is cancelled was told the truth, and so was whoever was told that it is over.
        if (said[i] === 'cancelled') expect(record?.state).toBe('cancelled')
        if (said[i] === 'ENDED') expect(record?.state).toBe('succeeded')
      }
    }
    expect(cancelled).toBeGreaterThan(0)
    expect(cancelled).toBeLessThan(races)
    // Two endings in one log would be a terminal state that changed.
    expect((await pawl.verify()).discrepancies).toEqual([])
  })
})
