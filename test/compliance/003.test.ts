/** Document 003, the formal machine: its states, its table cell by cell, its invariants and its derive, by their lines. */
import { describe, expect, it } from 'vitest'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { log } from '../../src/core/dialects/history.ts'
import { view } from '../../src/core/dialects/view.ts'
import { Actor, fault } from './actor.ts'
import { chaos } from './chaos.ts'
import { disorder } from './order.ts'
import { onStores } from './stage.ts'

const strict = { dialect: '003' } as const
const SHORT = { leaseMs: 300, heartbeatMs: 100 }
const SOON = { base: 1, max: 1 } as const

const WORDS = [
  ...['job_created', 'job_queued', 'job_requeued', 'job_leased', 'job_running'],
  ...['job_waiting', 'wait_completed', 'job_completed', 'job_failed', 'job_cancelled'],
] as const

/** Line, state, what leads there, and a cell per word; `—` is illegal. */
const TABLE = [
  [51, '(none)', '', 'Queued Queued Queued — — — — — — —'],
  [52, 'Queued', 'job_created', '— — Queued Running Running — Queued — — —'],
  [53, 'Running', 'job_created job_leased', '— — Queued — — Waiting Queued Completed Failed Cancelled'],
  [54, 'Waiting', 'job_created job_leased job_waiting', '— — — — — — Queued — — Cancelled'],
  [55, 'Parked', 'job_created job_leased job_parked', '— — — — — — Queued — — Cancelled'],
  [56, 'Retrying', 'job_created job_leased job_retrying', '— — Queued Running Running — Queued — — —'],
  [57, 'Completed', 'job_created job_leased job_completed', '— — — — — — — — — —'],
  [58, 'Failed', 'job_created job_leased job_failed', '— — Queued — — — — — — —'],
  [59, 'Cancelled', 'job_created job_leased job_cancelled', '— — — — — — — — — —'],
] as const

const CELLS = TABLE.flatMap(([line, state, way, row]) =>
  row.split(' ').map((next, i) => ({ line, state, way: way.split(' ').filter(Boolean), word: WORDS[i] ?? '', next })),
)

/** The status each word sets, wherever the job is. */
const SETS: Readonly<Record<string, string>> = {
  job_created: 'Queued',
  job_queued: 'Queued',
  job_requeued: 'Queued',
  job_leased: 'Running',
  job_running: 'Running',
  job_waiting: 'Waiting',
  wait_completed: 'Queued',
  job_completed: 'Completed',
  job_failed: 'Failed',
  job_cancelled: 'Cancelled',
}

const CONSTANTS: Readonly<Record<string, string>> = {
  Queued: 'StatusPending',
  Running: 'StatusRunning',
  Waiting: 'StatusWaiting',
  Completed: 'StatusCompleted',
  Failed: 'StatusFailed',
  Cancelled: 'StatusCancelled',
}

const derived = (words: readonly string[]) =>
  deriveDialect(
    '003',
    words.map((type) => ({ type })),
  )

describe('003 DeriveStatusFromEvents on any log', () => {
  it.each(CELLS)('003:$line $state × $word → $next', ({ state, way, word, next }) => {
    const before = derived(way)
    expect(before.status ?? '(none)').toBe(state)
    expect(before.violations).toEqual([])
    const after = derived([...way, word])
    // Illegal, and still obeyed: the last event about the status counts (003:63).
    expect(after.status).toBe(next === '—' ? SETS[word] : next)
    const broken = after.violations.map(({ rule }) => rule)
    if (next === '—') expect(broken).toContainEqual(expect.stringMatching(/^(illegal_move|after_the_end)$/))
    // Failed × job_requeued stands in the table, against the document's own first invariant.
    else expect(broken).toEqual(state === 'Failed' ? ['invariant'] : [])
  })

  it.each(Object.entries(SETS))('003:78 %s sets %s, and its constant', (word, status) => {
    expect(derived([word])).toMatchObject({ status, constant: CONSTANTS[status] })
  })

  it('003:41 other events change no status', () => {
    const words = ['job_created', 'plan_generated', 'job_leased', 'node_started', 'tool_invocation_started']
    expect(derived(words)).toMatchObject({ status: 'Running', passedOver: 3, violations: [] })
  })

  it('003:63 after an ending the last event about the status counts, and is reported', () => {
    const after = derived(['job_created', 'job_leased', 'job_completed', 'job_running'])
    expect(after.status).toBe('Running')
    expect(after.violations.map(({ rule }) => rule)).toEqual(['invariant', 'after_the_end'])
  })

  it('003:77 events are read in their order, each as it comes', () => {
    const words = ['job_created', 'job_leased', 'job_waiting', 'wait_completed', 'job_running', 'job_failed']
    const statuses = words.map((_, i) => derived(words.slice(0, i + 1)).status)
    expect(statuses).toEqual(['Queued', 'Running', 'Waiting', 'Queued', 'Running', 'Failed'])
  })
})

onStores('003', {}, (stage) => {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  /** The record's state, held against the fold of its own log in the document's words. */
  const stateOf = async (each: Actor, id: string): Promise<unknown> => {
    const shown = await each.view(id)
    const fold = deriveDialect('003', await each.log(id))
    expect(fold.status).toBe(shown['State'])
    expect(fold.constant).toBe(shown['JobStatus'])
    expect(fold.violations).toEqual([])
    return shown['State']
  }
  const words = async (each: Actor, id: string) => (await each.log(id)).map((entry) => entry['Event'])

  const waiting = async (each: Actor, more: object = { timeoutMs: 50_000 }) => {
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'wait', fence, name: 'approved', ...more })
    return { id: job.id, fence, leaseExpiresAt: job.lease?.expiresAt ?? 0 }
  }

  describe('states and cells that live jobs reach', () => {
    it('003:11 003:51 (none) × job_created → Queued: it can be claimed', async () => {
      const each = actor()
      const { id } = await each.enqueue()
      expect(await stateOf(each, id)).toBe('Queued')
      expect((await each.claim())?.job.id).toBe(id)
    })

    it('003:12 003:52 Queued × job_leased → Running: claimed and started are one there (003:20)', async () => {
      const each = actor()
      const { job, fence } = await each.assigned()
      expect(await stateOf(each, job.id)).toBe('Running')
      await each.must(job.id, { type: 'start', fence })
      expect(await stateOf(each, job.id)).toBe('Running')
      expect(await words(each, job.id)).toEqual(['job_created', 'job_leased'])
    })

    it('003:13 003:53 Running × job_waiting → Waiting', async () => {
      const each = actor()
      const { id } = await waiting(each)
      expect(await stateOf(each, id)).toBe('Waiting')
      expect((await each.job(id)).state).toBe('waiting')
    })

    it('003:14 a long wait is parked: no scheduler sees it, and a signal wakes it', async () => {
      const each = actor()
      const { id } = await waiting(each, {})
      expect((await each.job(id)).state).toBe('parked')
      // 003:80: told as Waiting.
      expect(await stateOf(each, id)).toBe('Waiting')
      expect(await each.claim()).toBeUndefined()
      await each.must(id, { type: 'signal', name: 'approved' })
      expect(await stateOf(each, id)).toBe('Queued')
    })

    it('003:15 003:53 003:65 Running × job_requeued → Queued: a failure that is tried again', async () => {
      const each = actor({ retry: { attempts: 3, ...SOON } })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      expect((await each.job(job.id)).state).toBe('retrying')
      expect(await stateOf(each, job.id)).toBe('Queued')
      expect((await words(each, job.id)).at(-1)).toBe('job_requeued')
      expect((await each.claimed()).job).toMatchObject({ id: job.id, attempt: 2 })
      expect(await stateOf(each, job.id)).toBe('Running')
    })

    it('003:53 Running × job_requeued → Queued: a lease that was lost (lease shortened)', async () => {
      const each = actor({}, SHORT)
      const { job } = await each.assigned()
      await each.until(job.id, 'queued')
      expect(await stateOf(each, job.id)).toBe('Queued')
      expect((await words(each, job.id)).at(-1)).toBe('job_requeued')
    })

    it.each([
      ['003:16', 'complete', 'Completed', 'job_completed'],
      ['003:17', 'fail', 'Failed', 'job_failed'],
      ['003:18', 'cancel', 'Cancelled', 'job_cancelled'],
    ] as const)('%s 003:53 Running: %s → %s', async (_, type, state, word) => {
      const each = actor()
      const { job, fence } = await each.running()
      if (type === 'complete') await each.must(job.id, { type, fence })
      else if (type === 'fail') await each.must(job.id, { type, fence, fault: fault('bad_request') })
      else await each.must(job.id, { type, mode: 'hard' })
      expect(await stateOf(each, job.id)).toBe(state)
      expect((await words(each, job.id)).at(-1)).toBe(word)
    })

    it('003:54 003:64 Waiting × wait_completed → Queued, and it can be claimed again', async () => {
      const each = actor()
      const { id } = await waiting(each)
      await each.must(id, { type: 'signal', name: 'approved' })
      expect(await stateOf(each, id)).toBe('Queued')
      expect(await words(each, id)).toEqual(['job_created', 'job_leased', 'job_waiting', 'wait_completed'])
      expect((await each.claim())?.job).toMatchObject({ id, attempt: 2 })
    })

    it.each([
      ['003:54 Waiting', { timeoutMs: 50_000 }],
      ['003:55 Parked', {}],
    ] as const)('%s × job_cancelled → Cancelled', async (_, more) => {
      const each = actor()
      const { id } = await waiting(each, more)
      await each.must(id, { type: 'cancel', mode: 'hard' })
      expect(await stateOf(each, id)).toBe('Cancelled')
    })

    it.each(['queued', 'retrying'] as const)('003:52 003:56 %s × job_cancelled is no cell: refused', async (state) => {
      const each = actor({ retry: { attempts: 3, base: '1h', max: '1h', jitter: 'none' } })
      let { id } = await each.enqueue()
      if (state === 'retrying') {
        const { job, fence } = await each.begin(await each.claimed())
        await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
        id = job.id
      }
      expect((await each.job(id)).state).toBe(state)
      await each.refused(id, { type: 'cancel', mode: 'hard' }, 'DIALECT_FORBIDS')
    })

    it('003:58 Failed × job_requeued → Queued: an operator reopens it', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('bad_request') })
      await each.must(job.id, { type: 'reopen' })
      expect((await each.view(job.id))['State']).toBe('Queued')
      const fold = deriveDialect('003', await each.log(job.id))
      // The cell stands in the table; invariant 1 of the same document forbids it, and derive says so.
      expect(fold.status).toBe('Queued')
      expect(fold.violations.map(({ rule }) => rule)).toEqual(['invariant'])
      expect((await each.claim())?.job).toMatchObject({ id: job.id, attempt: 2, generation: 1 })
    })

    it.each(['complete', 'cancel'] as const)('003:57 003:59 nothing leads out of what %s ended', async (type) => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, type === 'complete' ? { type, fence } : { type, mode: 'hard' })
      await each.refused(job.id, { type: 'reopen' }, 'DIALECT_FORBIDS', 'ILLEGAL_TRANSITION')
      await each.refused(job.id, { type: 'signal', name: 'approved' }, 'ENDED')
      await each.refused(job.id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
    })

    it('003:64 a repeated signal is a replay and adds no wait_completed', async () => {
      const each = actor()
      const { id } = await waiting(each)
      await each.must(id, { type: 'signal', name: 'approved', requestId: 'click' })
      const before = await each.events(id)
      expect(await each.must(id, { type: 'signal', name: 'approved', requestId: 'click' })).toMatchObject({
        replayed: true,
      })
      expect(await each.events(id)).toEqual(before)
    })

    it('003:41 heartbeats, progress, checkpoints and steps change no state', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'heartbeat', fence })
      await each.must(job.id, { type: 'progress', fence, counters: { nodes: 1 } })
      await each.must(job.id, { type: 'record', fence, artifact: { name: 'trace', ptr: 'p' } })
      expect(await stateOf(each, job.id)).toBe('Running')
      expect(await words(each, job.id)).toEqual(['job_created', 'job_leased'])
    })

    it('003:30–39 a live job’s log has no words but the document’s', async () => {
      const each = actor({ retry: { attempts: 2, ...SOON } })
      const { id } = await waiting(each)
      await each.must(id, { type: 'signal', name: 'approved' })
      for (const code of ['network_error', 'bad_request']) {
        const { fence } = await each.begin(await each.claimed())
        await each.must(id, { type: 'fail', fence, fault: fault(code) })
      }
      const done = await each.running()
      await each.must(done.job.id, { type: 'complete', fence: done.fence })
      const stopped = await each.running()
      await each.must(stopped.job.id, { type: 'cancel', mode: 'hard' })
      const told = await Promise.all([id, done.job.id, stopped.job.id].map((one) => words(each, one)))
      // job_queued and job_running are its other words for what job_created and job_leased tell.
      expect(new Set(told.flat())).toEqual(
        new Set(WORDS.filter((word) => word !== 'job_queued' && word !== 'job_running')),
      )
    })
  })

  describe('invariants', () => {
    it('003:88 1: one ending, and nothing about the status after it', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'complete', fence })
      const ends = ['job_completed', 'job_failed', 'job_cancelled']
      const told = await words(each, job.id)
      expect(told.filter((word) => ends.includes(String(word)))).toEqual([told.at(-1)])
    })

    it('003:89 2: what is Waiting was told by job_waiting, and leaves by wait_completed', async () => {
      const each = actor()
      const { id } = await waiting(each)
      expect((await words(each, id)).at(-1)).toBe('job_waiting')
      expect(await each.claim()).toBeUndefined()
      await each.must(id, { type: 'signal', name: 'approved' })
      await each.claimed()
      expect((await words(each, id)).slice(-3)).toEqual(['job_waiting', 'wait_completed', 'job_leased'])
    })

    it('003:89 2: a wait that times out is completed, too', async () => {
      const each = actor()
      const { id } = await waiting(each, { timeoutMs: 50 })
      await each.until(id, 'queued')
      expect((await words(each, id)).at(-1)).toBe('wait_completed')
      expect(await stateOf(each, id)).toBe('Queued')
    })

    it('003:90 3: what is Running was told by job_leased, with no ending after it', async () => {
      const each = actor()
      const { job } = await each.running()
      expect((await words(each, job.id)).at(-1)).toBe('job_leased')
      expect(await stateOf(each, job.id)).toBe('Running')
    })

    it('003:91 4: a blocked job is not reclaimed, long after its lease would have expired (lease shortened)', async () => {
      const each = actor({}, { leaseMs: 1_000, heartbeatMs: 400 })
      const { id, leaseExpiresAt } = await waiting(each)
      const bystander = await each.assigned()
      // Somebody else's lease, granted later, has been reaped: the reaper has been here.
      await each.until(bystander.job.id, 'queued')
      expect(each.pawl.engine.now()).toBeGreaterThan(leaseExpiresAt)
      expect((await each.claim())?.job.id).toBe(bystander.job.id)
      expect(await each.claim()).toBeUndefined()
      expect(await each.job(id)).toMatchObject({ state: 'waiting', attempt: 1, stalls: 0 })
      await each.must(id, { type: 'signal', name: 'approved' })
      expect((await each.claim())?.job.id).toBe(id)
    })

    it('003:79 003:88–91 after chaos, every job’s state is the fold of its own history, and no history breaks a rule', async () => {
      const each = actor({ retry: { attempts: 6, ...SOON } }, { leaseMs: 250, heartbeatMs: 100 })
      const { histories } = await chaos(each, { jobs: 40, workers: 6, seed: 3 })
      for (const { job, events } of histories) {
        expect(disorder(events)).toEqual([])
        const fold = deriveDialect('003', log(events, '003'))
        expect([job.id, fold.status, fold.violations]).toEqual([job.id, view(job, '003')['State'], []])
        for (let n = 1; n < events.length; n += 1)
          expect(deriveDialect('003', log(events.slice(0, n), '003')).violations).toEqual([])
      }
      expect((await each.pawl.verify({ queues: [each.queue] })).discrepancies).toEqual([])
    })
  })
})
