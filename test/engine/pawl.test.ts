import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { bodyRef } from '../../src/core/body.ts'
import {
  type DefinedJob,
  defineJob,
  defineSpec,
  type InputOf,
  Invalid,
  implementJob,
  JobCancelled,
  JobDeadLettered,
  JobDenied,
  JobFailed,
  type JobHandle,
  JobTimedOut,
  type OutputOf,
  type Pawl,
  PermanentError,
  Refused,
  WaitTimedOut,
} from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const crawl = defineJob({
  type: 'crawl.page',
  input: z.object({ url: z.url(), depth: z.int().default(0) }),
  output: z.object({ chunks: z.int() }),
  queue: 'crawl',
  dedupe: ({ url }) => (url.endsWith('/same') ? url : undefined),
  async run(input) {
    expectTypeOf(input).toEqualTypeOf<{ url: string; depth: number }>()
    return { chunks: input.depth + 1 }
  },
})
const add = defineJob({ type: 'add', run: ({ a, b }: { a: number; b: number }) => a + b })
const tick = defineJob({ type: 'tick', run: () => undefined })
const LANES = ['default', 'crawl'].map((queue) => ({ tenant: 'default', queue, priority: 5 }))

/** A worker by hand: claims the next job and says what became of it. */
async function claimNext({ contract }: Pawl) {
  const claimed = await contract.claimNext({ workerId: 'w', lanes: LANES, requestId: crypto.randomUUID() })
  if (claimed === undefined) throw new Error('nothing to claim')
  const { job, fence } = claimed
  return { ...claimed, asked: { jobId: job.id, fence, requestId: crypto.randomUUID() } }
}

describe.each(STORES)('the library on %s', (name) => {
  it('enqueues, runs, answers: typed from end to end', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await using worker = pawl.work([crawl, add, tick], { concurrency: 4 })
    const page = await pawl.enqueue(crawl, { url: 'https://example.org' })
    const sum = await pawl.enqueue(add, { a: 1, b: 2 })
    const nothing = await pawl.enqueue(tick)
    expectTypeOf(page).toEqualTypeOf<JobHandle<{ chunks: number }, { url: string; depth?: number | undefined }>>()
    expectTypeOf(sum.result).returns.resolves.toEqualTypeOf<number>()
    expect(await page.result({ timeout: '20s' })).toEqual({ chunks: 1 })
    expect(await sum.result({ timeout: '20s' })).toBe(3)
    expect(await nothing.result({ timeout: '20s' })).toBeUndefined()
    expect(worker.id).not.toBe('')
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  it('finds the queue and the policy of a type that is known by name only, once a worker has announced it', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await expect(pawl.enqueue<typeof crawl>('crawl.page', { url: 'https://x.org' })).rejects.toThrow(
      /no worker has announced/,
    )
    const stray = await pawl.enqueue<typeof add>(
      'add',
      { a: 1, b: 1 },
      { queue: 'elsewhere', policy: { lease: '90s' } },
    )
    expect((await stray.job())?.spec.kind).toMatchObject({ queue: 'elsewhere', policy: { leaseMs: 90_000 } })
    await using worker = pawl.work([crawl])
    const handle = await eventually('the type to be announced', () =>
      pawl.enqueue<typeof crawl>('crawl.page', { url: 'https://x.org' }).catch(() => undefined),
    )
    expectTypeOf(handle).toEqualTypeOf<JobHandle<{ chunks: number }, { url: string; depth?: number | undefined }>>()
    expect((await handle.job())?.spec.kind).toEqual({
      tenant: 'default',
      queue: 'crawl',
      type: 'crawl.page',
      policy: crawl.policy,
    })
    expect(await handle.result({ timeout: '20s' })).toEqual({ chunks: 1 })
    expect(worker.id).not.toBe('')
  })

  it('enqueues many at once, each its own job, keys and all', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const urls = [...Array(2_500).keys()].map((n) => ({
      url: `https://x.org/${n % 2_400}${n % 100 === 0 ? '/same' : ''}`,
    }))
    const handles = await pawl.enqueueMany(crawl, urls, (_, i) => ({ labels: { n: String(i) } }))
    expectTypeOf(handles).toEqualTypeOf<
      readonly JobHandle<{ chunks: number }, { url: string; depth?: number | undefined }>[]
    >()
    expect(new Set(handles.map(({ id }) => id)).size).toBe(2_499)
    expect(handles.filter(({ deduped }) => deduped)).toHaveLength(1)
    const { jobs } = await pawl.find({ labels: { n: '7' } })
    expect(jobs.map(({ id }) => id)).toEqual([handles[7]?.id])
  })

  it('tells each ending by its own error, with the record and the last failure', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const once = { onExhausted: 'failed', retry: { attempts: 1 } } as const
    const failing = defineSpec({ type: 'failing', ...once })
    const guarded = defineSpec({ type: 'guarded', admission: true })
    const hasty = defineSpec({ type: 'hasty', deadline: 1 })

    const failed = await pawl.enqueue(failing)
    const claimed = await claimNext(pawl)
    await pawl.contract.fail({ ...claimed.asked, error: { code: 'E_GPU_OOM', message: 'no memory' } })
    await expect(failed.result()).rejects.toMatchObject({ name: 'JobFailed', code: 'E_GPU_OOM', id: failed.id })
    await expect(failed.result()).rejects.toBeInstanceOf(JobFailed)

    const letter = await pawl.enqueue(add, { a: 1, b: 2 })
    const word = {
      type: 'deadLetter',
      reason: 'policy_violation',
      stage: 'input',
      actor: 'ann',
      requestId: 'r1',
    } as const
    await pawl.engine.settle([{ id: letter.id, command: word }])
    await expect(letter.result()).rejects.toBeInstanceOf(JobDeadLettered)

    const cancelled = await pawl.enqueue(add, { a: 1, b: 2 })
    await cancelled.cancel({ reason: 'changed my mind', actor: 'operator:ann' })
    const error = await cancelled.result().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(JobCancelled)
    expect(String(error)).toBe(`JobCancelled: Job ${cancelled.id} was cancelled: changed my mind`)

    const denied = await pawl.enqueue(guarded)
    const deny = { type: 'deny', rule: 'no-friday', policyHash: 'h', actor: 'kernel', requestId: 'r2' } as const
    await pawl.engine.settle([{ id: denied.id, command: deny }])
    await expect(denied.result()).rejects.toBeInstanceOf(JobDenied)

    const late = await pawl.enqueue(hasty)
    await eventually('the deadline to pass', async () => {
      const expire = { type: 'expire', actor: 'system', requestId: crypto.randomUUID() } as const
      const [answer] = await pawl.engine.settle([{ id: late.id, command: expire }])
      return answer?.ok
    })
    await expect(late.result()).rejects.toBeInstanceOf(JobTimedOut)
  })

  it('waits for a result for as long as it is asked to, and no longer', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const handle = await pawl.enqueue(add, { a: 1, b: 2 })
    await expect(handle.result({ timeout: 30 })).rejects.toBeInstanceOf(WaitTimedOut)
    await expect(handle.result({ timeout: 'soon' as never })).rejects.toBeInstanceOf(Invalid)
    const results = [handle.result(), handle.result({ timeout: '30s' }), pawl.handle<typeof add>(handle.id).result()]
    const claimed = await claimNext(pawl)
    await pawl.contract.complete({ ...claimed.asked, result: 3 })
    expect(await Promise.all(results)).toEqual([3, 3, 3])
    await expect(pawl.result('pj_vvvv')).rejects.toThrow('no job')
  })
})

describe.each(STORES)('what operators and workers say through the library on %s', (name) => {
  it('signals, reschedules, reopens, redrives; what is refused is thrown as the engine said it', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const handle = await pawl.enqueue(add, { a: 1, b: 2 }, { delay: '1h', id: 'sum-1' })
    expect(await pawl.reschedule('sum-1')).toMatchObject({ state: 'queued', jobId: handle.id })
    await pawl.reschedule(handle.id, { priority: 'critical' })
    expect(await pawl.get('sum-1')).toMatchObject({ id: handle.id, priority: 1 })
    await pawl.signal(handle.id, 'note', { by: 'ann' })
    expect(await pawl.body(handle.id, 'signal/1')).toEqual({ by: 'ann' })
    await pawl.cancel(handle.id, { requestId: 'c1' })
    expect(await pawl.cancel(handle.id, { requestId: 'c1' })).toMatchObject({ replayed: true })
    const refused = await pawl.signal(handle.id, 'late').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refused)
    expect((refused as Refused).refusal).toMatchObject({ code: 'ENDED', job: handle.id, state: 'cancelled' })
    await expect(pawl.reopen(handle.id, { expectedRev: 1 })).rejects.toMatchObject({ code: 'REV_CONFLICT' })
    expect(await pawl.reopen(handle.id)).toMatchObject({ state: 'queued' })
    await pawl.cancel(handle.id)
    const filter = { states: ['cancelled'] } as const
    expect(await pawl.redrive(filter, { dryRun: true })).toEqual({ matched: 1, reopened: 0, refused: [] })
    expect(await pawl.redrive(filter)).toEqual({ matched: 1, reopened: 1, refused: [] })
    expect((await pawl.events(handle.id)).map(({ type }) => type)).toEqual([
      'enqueued',
      'rescheduled',
      'rescheduled',
      'signal_stored',
      'cancelled',
      'reopened',
      'cancelled',
      'reopened',
    ])
    await expect(pawl.cancel('pj_vvvv')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('pauses a queue, which is told', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place, { actor: 'operator:ann' })
    const handle = await pawl.enqueue(add, { a: 1, b: 2 })
    const later = await pawl.enqueue(add, { a: 1, b: 2 }, { delay: '1h' })
    await pawl.pause('default')
    await expect(claimNext(pawl)).rejects.toThrow('nothing to claim')
    expect(await pawl.explain(handle.id)).toMatchObject({ way: 'paused', who: 'operator:ann' })
    expect(await pawl.explain(later.id)).toMatchObject({ way: 'delayed', when: (await later.job())?.runAt })
    await pawl.wake('default')
    await expect(claimNext(pawl)).rejects.toThrow('nothing to claim')
    await pawl.resume('default')
    expect(await pawl.explain(handle.id)).toMatchObject({ way: 'queued' })
    const { job, fence } = await claimNext(pawl)
    expect(await pawl.explain(handle.id)).toMatchObject({ way: 'running', who: 'w' })
    const wait = { type: 'wait', name: 'go', fence, actor: 'worker:w' } as const
    await pawl.contract.start({ jobId: job.id, fence, requestId: 's' })
    await pawl.engine.settle([{ id: job.id, command: { ...wait, timeoutMs: 50_000, requestId: 'w1' } }])
    expect(await pawl.explain(handle.id)).toMatchObject({ way: 'waiting' })
    await pawl.signal(job.id, 'go')
    const second = await claimNext(pawl)
    await pawl.contract.start({ jobId: job.id, fence: second.fence, requestId: 's2' })
    await pawl.engine.settle([{ id: job.id, command: { ...wait, fence: second.fence, requestId: 'w2' } }])
    expect(await pawl.explain(handle.id)).toMatchObject({ way: 'parked' })
    const pending = await pawl.enqueue(defineSpec({ type: 'guarded', admission: true }))
    expect(await pawl.explain(pending.id)).toMatchObject({ way: 'pending' })
    await expect(pawl.explain('pj_vvvv')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is written in one commit where it is many words about one job, and read back, every one of them', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const { engine } = pawl
    const { id } = await pawl.enqueue(add, { a: 1, b: 2 })
    const anybody = (n: number) => ({ actor: 'ann', requestId: `a${n}` })
    await engine.settle([
      ...[0, 1, 2].map((n) => ({
        id,
        command: { ...anybody(n), type: 'signal', name: `s${n}`, body: bodyRef('signal', String(n)) } as const,
        bodies: [{ name: 'signal', text: String(n) }],
      })),
      { id, command: { ...anybody(3), type: 'reschedule', priority: 5 } },
    ])
    const { fence } = await claimNext(pawl)
    const own = (n: number) => ({ fence, actor: 'worker:w', requestId: `o${n}` })
    const step = { name: 'one', body: bodyRef('step/one', '1'), compensate: false }
    const answers = await engine.settle([
      { id, command: { ...own(0), type: 'start' } },
      { id, command: { ...own(1), type: 'progress', counters: { n: 1 } } },
      { id, command: { ...own(2), type: 'heartbeat' } },
      { id, command: { ...own(3), type: 'record', step }, bodies: [{ name: 'step/one', text: '1' }] },
      { id, command: { ...own(4), type: 'progress', counters: { n: 2 } } },
      { id, command: { ...own(5), type: 'wait', name: 's1' } },
    ])
    expect(answers.map((answer) => answer.ok && answer.state)).toEqual([...Array(5).fill('running'), 'queued'])
    expect(await pawl.get(id)).toMatchObject({ state: 'queued', counters: { n: 3 }, steps: 1, rev: 13 })
    expect((await pawl.events(id)).map(({ type }) => type)).toEqual([
      ...['enqueued', 'signal_stored', 'signal_stored', 'signal_stored', 'rescheduled', 'claimed', 'started'],
      ...['progressed', 'heartbeat', 'recorded', 'progressed', 'waiting', 'signalled'],
    ])
    expect(await pawl.body(id, 'signal/2')).toBe(1)
    expect(await pawl.body(id, 'step/one')).toBe(1)
    const second = await claimNext(pawl)
    await pawl.contract.complete({ ...second.asked, result: 3 })
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  it('keeps the contract of 001: fence, expectedRev and requestId on every operation', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const { contract } = pawl
    const kind = { ...defineSpec({ type: 'strict', dialect: '001' }) }
    const first = await contract.enqueue({ kind, input: { n: 1 }, requestId: 'e1', dedupeKey: 'k' })
    expect(await contract.enqueue({ kind, input: { n: 1 }, requestId: 'e1', dedupeKey: 'k' })).toMatchObject({
      replayed: true,
      job: { id: first.job.id },
    })
    const claim = { workerId: 'w', lanes: LANES, requestId: 'c1' }
    const claimed = await contract.claimNext(claim)
    expect((await contract.claimNext(claim))?.fence).toBe(claimed?.fence)
    const asked = { jobId: first.job.id, fence: claimed?.fence ?? '' }
    await expect(contract.start({ ...asked, requestId: 's1' })).rejects.toMatchObject({ code: 'REV_REQUIRED' })
    await expect(contract.start({ ...asked, requestId: 's1', expectedRev: 1 })).rejects.toMatchObject({
      code: 'REV_CONFLICT',
    })
    expect(await contract.start({ ...asked, requestId: 's1', expectedRev: 2 })).toMatchObject({
      job: { state: 'running' },
    })
    expect(await contract.start({ ...asked, requestId: 's1', expectedRev: 2 })).toMatchObject({ replayed: true })
    expect(await contract.heartbeat({ ...asked, requestId: 'h1', expectedRev: 3 })).toMatchObject({ job: { rev: 4 } })
    const stall = { jobId: first.job.id, requestId: 'x1', expectedRev: 4 }
    await expect(contract.stall(stall)).rejects.toMatchObject({ code: 'NOT_DUE' })
    await expect(contract.requeueStalled(stall)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' })
    const done = { ...asked, requestId: 'd1', expectedRev: 4, result: { ok: true } }
    await expect(contract.complete({ ...done, expectedRev: 3 })).rejects.toMatchObject({ code: 'REV_CONFLICT' })
    expect(await contract.complete(done)).toMatchObject({ job: { state: 'succeeded', attempt: 1 }, replayed: false })
    expect(await contract.complete(done)).toMatchObject({ replayed: true })
    const error = { code: 'x', message: 'x' }
    await expect(contract.fail({ ...asked, requestId: 'f1', expectedRev: 5, error })).rejects.toMatchObject({
      code: 'STALE_FENCE',
    })
    expect(await pawl.result(first.job.id)).toEqual({ ok: true })
  })
})

describe('what is handed in', () => {
  it('is validated where it is handed in: every place, nothing sent', async () => {
    await using place = await PLACES.memory()
    await using pawl = await openAt(place)
    const error = await pawl.enqueue(crawl, { url: 'nonsense', depth: 0.5 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Invalid)
    expect((error as Invalid).code).toBe('validation_failed')
    expect((error as Invalid).violations.map(({ field }) => field)).toEqual(['input.url', 'input.depth'])
    const bad = [{ url: 'https://x.org' }, { url: 'y' }]
    await expect(pawl.enqueueMany(crawl, bad)).rejects.toThrow('inputs.1.url')
    expect((await pawl.find()).jobs).toEqual([])
  })

  it('is kept as it was, never as something else', async () => {
    await using place = await PLACES.memory()
    await using pawl = await openAt(place)
    const anything = defineSpec({ type: 'anything' })
    for (const hostile of [{ a: Number.NaN }, { a: 1n }, { a: [() => 1] }, new Map()]) {
      await expect(pawl.enqueue(anything, hostile)).rejects.toBeInstanceOf(Invalid)
    }
    const cycle: Record<string, unknown> = {}
    cycle['a'] = { cycle }
    await expect(pawl.enqueue(anything, cycle)).rejects.toThrow('input.a.cycle')
    const { id } = await pawl.enqueue(anything, { zero: -0, text: '\ud800\u0000', list: [null] })
    expect(await pawl.body(id, 'input')).toEqual({ zero: -0, text: '\ud800\u0000', list: [null] })
    expect(await pawl.body((await pawl.enqueue(anything)).id, 'input')).toBeUndefined()
  })

  it('may be validated asynchronously', async () => {
    await using place = await PLACES.memory()
    await using pawl = await openAt(place)
    const slow = defineSpec({ type: 'slow', input: z.string().refine(async (text) => text === 'yes', 'must be yes') })
    await expect(pawl.enqueue(slow, 'no')).rejects.toThrow('input: must be yes')
    expect((await pawl.enqueue(slow, 'yes')).id).toMatch(/^pj_/)
    expect(await pawl.enqueueMany(slow, ['yes', 'yes'])).toHaveLength(2)
  })

  it('is refused with what the engine says where only the engine can know', async () => {
    await using place = await PLACES.memory()
    await using pawl = await openAt(place)
    await pawl.enqueue(add, { a: 1, b: 1 }, { id: 'x' })
    await expect(pawl.enqueue(add, { a: 2, b: 2 }, { id: 'x' })).rejects.toMatchObject({ code: 'ID_TAKEN' })
    await expect(pawl.enqueue(add, { a: 1, b: 1 }, { priority: 11 })).rejects.toMatchObject({ code: 'INVALID' })
    await expect(pawl.enqueue(add, { a: 1, b: 1 }, { delay: 'later' as never })).rejects.toBeInstanceOf(Invalid)
    await expect(
      pawl.enqueueMany(
        add,
        [
          { a: 1, b: 1 },
          { a: 2, b: 2 },
          { a: 3, b: 3 },
        ],
        { id: 'x' },
      ),
    ).rejects.toBeInstanceOf(AggregateError)
  })
})

describe('definitions', () => {
  it('are checked when they are made: every violation', () => {
    expect(() => defineJob({ type: 'x', lease: '1ms', retry: { attempts: 0 }, run: () => 1 })).toThrow(
      /lease.*retry\.attempts/,
    )
  })

  it('have a spec for producers, and specs can get their handler elsewhere', () => {
    expect('run' in crawl.spec).toBe(false)
    const handled = implementJob(crawl.spec, async ({ depth }) => ({ chunks: depth }))
    expectTypeOf(handled).toEqualTypeOf<
      DefinedJob<
        'crawl.page',
        { url: string; depth: number },
        { chunks: number },
        { url: string; depth?: number | undefined }
      >
    >()
    expect(handled.policy).toBe(crawl.policy)
  })

  it('carry their types to whoever imports only those', () => {
    expectTypeOf<InputOf<typeof crawl>>().toEqualTypeOf<{ url: string; depth?: number | undefined }>()
    expectTypeOf<OutputOf<typeof crawl>>().toEqualTypeOf<{ chunks: number }>()
    expectTypeOf<InputOf<typeof add>>().toEqualTypeOf<{ a: number; b: number }>()
    expectTypeOf<OutputOf<typeof add>>().toEqualTypeOf<number>()
    expectTypeOf<Parameters<Pawl['enqueue']>[0]>().not.toEqualTypeOf<number>()
  })

  it('throw what they mean', () => {
    expect(new PermanentError('no')).toMatchObject({ errorClass: 'permanent', code: 'permanent' })
  })
})
