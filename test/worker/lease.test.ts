import { describe, expect, it } from 'vitest'
import { LeaseConflictError } from '../../src/core/thrown.ts'
import type { Context } from '../../src/worker/context.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

/** Runs until it is told to stop; remembers why. */
function patient(policy = {}) {
  const reasons: unknown[] = []
  const contexts: Context[] = []
  const job = definition(
    (_, ctx) =>
      new Promise((_, reject) => {
        contexts.push(ctx)
        ctx.signal.addEventListener('abort', () => {
          reasons.push(ctx.signal.reason)
          reject(ctx.signal.reason)
        })
      }),
    policy,
  )
  return { job, reasons, contexts }
}

const eventsOf = async (fixture: WorkerFixture, id: string) =>
  (await fixture.engine.events({ by: 'job', id, afterRev: 0, limit: 500 })).events

describe('a lease', () => {
  it('is renewed for as long as the handler runs, and nobody else gets the job', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons, contexts } = patient()
    const id = await fixture.enqueue(job)
    fixture.work([job])
    fixture.work([job])
    await fixture.time.advance(60_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'running', attempt: 1, stalls: 0 })
    expect(reasons).toEqual([])
    expect(contexts.length).toBe(1)
    const beats = (await eventsOf(fixture, id)).filter(({ type }) => type === 'heartbeat')
    expect(beats.length).toBeGreaterThan(0)
  })

  it('of a worker that is gone ends, and the job runs again within lease + 6 s, once', async () => {
    await using fixture = openWorkerFixture()
    const { job, contexts } = patient()
    const id = await fixture.enqueue(job)
    const { mortal } = fixture.work([job])
    await fixture.time.advance(1_000)
    mortal.kill()
    fixture.work([job])
    await fixture.time.advance(2_000 + 6_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'running', attempt: 2, stalls: 1, failures: 0 })
    expect(contexts.length).toBe(2)
  })

  it('that cannot be renewed: the watchdog stops the handler before anybody else can have the job', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons, contexts } = patient()
    const id = await fixture.enqueue(job)
    const { mortal, worker } = fixture.work([job])
    await fixture.time.advance(1_000)
    mortal.silence(id)
    const lease = (await fixture.load(id)).lease
    for (let i = 0; i < 300 && reasons.length === 0; i += 1) await fixture.time.advance(10)
    expect(reasons[0]).toBeInstanceOf(LeaseConflictError)
    expect(fixture.time.now()).toBeLessThan(lease?.expiresAt ?? 0)
    expect((await fixture.load(id)).attempt).toBe(1)
    expect(worker.running).toBe(0)
    await expect(contexts[0]?.step('late', () => 1)).rejects.toBeInstanceOf(LeaseConflictError)
    await fixture.time.advance(5_000)
    expect((await fixture.load(id)).stalls).toBeGreaterThan(0)
  })

  it('that is over: a zombie’s outcome is refused and changes nothing', async () => {
    await using fixture = openWorkerFixture()
    let finish = (_: unknown) => {}
    const job = definition((_, ctx) => (ctx.attempt === 1 ? new Promise((resolve) => (finish = resolve)) : 'second'))
    const id = await fixture.enqueue(job)
    const { mortal } = fixture.work([job])
    await fixture.time.advance(500)
    mortal.silence(id)
    // Its clock stands still: no watchdog warns it.
    const frozen = { ...fixture.work([job], { clock: { now: () => 0, monotonicMs: () => 0 } }) }
    expect(frozen.worker.running).toBe(0)
    await fixture.time.advance(10_000)
    finish('first')
    await fixture.time.advance(1_000)
    expect(await fixture.body(id, 'output')).toBe('second')
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 2 })
  })
})

describe('a soft cancel', () => {
  it('reaches the handler at once where there is a hint', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons } = patient()
    const id = await fixture.enqueue(job)
    fixture.work([job])
    await fixture.time.advance(200)
    await fixture.settle(id, { type: 'cancel', mode: 'soft', reason: 'changed our mind' })
    await fixture.time.advance(20)
    expect(reasons).toMatchObject([{ name: 'CancelRequestedError', message: 'changed our mind' }])
    expect(await fixture.load(id)).toMatchObject({ state: 'cancelled', failures: 0 })
  })

  it('is told in words, where who keeps the leases cannot read them', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons } = patient({ lease: '10s', heartbeat: '3s' })
    const id = await fixture.enqueue(job)
    const { mortal } = fixture.work([job], {
      heardCancel: (about, cancel) => ({ ...cancel, reason: `${about.id}: ${cancel.reason} in words` }),
    })
    mortal.deafen()
    await fixture.time.advance(4_000)
    await fixture.settle(id, { type: 'cancel', mode: 'soft', reason: 'changed' })
    await fixture.time.advance(4_000)
    expect(reasons).toMatchObject([{ message: `${id}: changed in words` }])
  })

  it('reaches it within one heartbeat where there is none', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons } = patient({ lease: '10s', heartbeat: '3s' })
    const id = await fixture.enqueue(job)
    const { mortal } = fixture.work([job])
    // The worker hears no hints at all.
    mortal.deafen()
    await fixture.time.advance(4_000)
    await fixture.settle(id, { type: 'cancel', mode: 'soft' })
    await fixture.time.advance(100)
    expect(reasons).toEqual([])
    await fixture.time.advance(3_400)
    expect(reasons).toMatchObject([{ name: 'CancelRequestedError' }])
    const cancelled = await fixture.load(id)
    expect(cancelled.state).toBe('cancelled')
    expect(cancelled.cancel?.deliveredAt).toBeDefined()
  })

  it('comes too late for a handler that finishes anyway', async () => {
    await using fixture = openWorkerFixture()
    let finish = () => {}
    const job = definition(() => new Promise<void>((resolve) => (finish = resolve)))
    const id = await fixture.enqueue(job)
    fixture.work([job])
    await fixture.time.advance(200)
    await fixture.settle(id, { type: 'cancel', mode: 'soft' })
    await fixture.time.advance(100)
    finish()
    await fixture.time.settle()
    expect((await fixture.load(id)).state).toBe('succeeded')
    expect((await eventsOf(fixture, id)).at(-1)?.reason).toBe('cancel_came_too_late')
  })
})

describe('a hard cancel', () => {
  it('ends the job, aborts the handler and fences it', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons, contexts } = patient()
    const id = await fixture.enqueue(job)
    fixture.work([job])
    await fixture.time.advance(200)
    await fixture.settle(id, { type: 'cancel', mode: 'hard' })
    await fixture.time.advance(100)
    expect(reasons[0]).toBeInstanceOf(LeaseConflictError)
    await expect(contexts[0]?.checkpoint({})).rejects.toBeInstanceOf(LeaseConflictError)
    expect((await fixture.load(id)).state).toBe('cancelled')
  })
})

describe('stopping', () => {
  it('lets running handlers finish and hands back what has not begun', async () => {
    await using fixture = openWorkerFixture()
    const slow = definition(() => fixture.time.sleep(2_000), { lease: '10s' })
    const ids = []
    for (let i = 0; i < 6; i += 1) ids.push(await fixture.enqueue(slow))
    const { worker } = fixture.work([slow], { concurrency: 2 })
    await fixture.time.advance(500)
    const stopped = worker.stop({ drain: '10s' })
    await fixture.time.advance(5_000)
    await stopped
    const states = await Promise.all(ids.map(async (id) => (await fixture.load(id)).state))
    expect(states).toEqual(['succeeded', 'succeeded', 'queued', 'queued', 'queued', 'queued'])
    expect(worker.held).toBe(0)
  })

  it('aborts what does not finish in time and hands it back without burning budget', async () => {
    await using fixture = openWorkerFixture()
    const { job, reasons } = patient({ lease: '60s' })
    const deaf = definition(() => new Promise(() => {}), { lease: '60s' }, { type: 'deaf' })
    const first = await fixture.enqueue(job)
    const second = await fixture.enqueue(deaf)
    const { worker } = fixture.work([job, deaf])
    await fixture.time.advance(500)
    let stopped = false
    void worker.stop({ drain: '4s' }).then(() => (stopped = true))
    await fixture.time.advance(4_000)
    expect(stopped).toBe(true)
    expect(reasons).toMatchObject([{ name: 'ShutdownError' }])
    for (const id of [first, second]) {
      expect(await fixture.load(id)).toMatchObject({ state: 'queued', failures: 0, stalls: 0, attempt: 1 })
    }
  })

  it('leaves no timer behind', async () => {
    await using fixture = openWorkerFixture()
    await fixture.time.settle()
    const before = fixture.time.pending
    const quick = definition(() => {})
    const { worker } = fixture.work([quick])
    await fixture.enqueue(quick)
    await fixture.time.advance(3_000)
    await worker.stop()
    expect(fixture.time.pending).toBe(before)
  })
})
