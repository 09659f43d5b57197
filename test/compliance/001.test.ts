/** Document 001, plan 02: the contract, operation by operation, and its validators; every statement, by its line. */
import { describe, expect, it } from 'vitest'
import { ACTION_RULES, ACTIONS, type Action, type ContractStatus, STATUSES } from '../../src/core/contract/rules.ts'
import { validateJob } from '../../src/core/contract/validate-job.ts'
import { validateTransition } from '../../src/core/contract/validate-transition.ts'
import { LEFT_OPEN } from '../../src/core/dialects/contradictions.ts'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { view } from '../../src/core/dialects/view.ts'
import type { Job } from '../../src/core/job.ts'
import { PermanentError } from '../../src/core/thrown.ts'
import { defineSpec, implementJob } from '../../src/library/define-job.ts'
import { Refused } from '../../src/library/errors.ts'
import { eventually } from '../support/eventually.ts'
import { Actor, fault, fresh } from './actor.ts'
import { onStores } from './stage.ts'

const strict = { dialect: '001' } as const
/** Plan 04 says how long a lease lasts; a test that lets it expire cannot wait for that. */
const SHORT = { leaseMs: 150, heartbeatMs: 50 }

/** One job and whoever holds it. */
interface Held {
  readonly job: Job
  readonly fence: string
}

/** Where nothing but the named operation is done to a job: nobody else reaps, so that `stalled` can be seen. */
onStores('001', { ticker: false }, (stage) => {
  const actor = (shortened: object = {}, policy: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)
  const contract = () => stage().pawl.contract

  /** A job brought into each status, by the operations that lead there. */
  const at: Readonly<Record<ContractStatus, (actor: Actor) => Promise<Held>>> = {
    async queued(each) {
      return { job: await each.enqueue(), fence: '0.1.0000000000000000' }
    },
    async claimed(each) {
      const { job, fence } = await each.assigned()
      return { job, fence }
    },
    async running(each) {
      const { job, fence } = await at.claimed(each)
      const { job: running } = await contract().start({ ...about(job), fence })
      return { job: running, fence }
    },
    async succeeded(each) {
      const { job, fence } = await at.running(each)
      return { job: (await contract().complete({ ...about(job), fence, result: 42 })).job, fence }
    },
    async failed(each) {
      const { job, fence } = await at.running(each)
      return { job: (await contract().fail({ ...about(job), fence, error: fault('E_ANY') })).job, fence }
    },
    async stalled(each) {
      const { job, fence } = await at.claimed(each)
      return { job: await stalled(job), fence }
    },
  }

  const about = (job: Job, requestId = fresh('request')) => ({ jobId: job.id, requestId, expectedRev: job.rev })

  /** As soon as the lease has expired by the store's clock; before that it is refused. */
  const stalled = (job: Job): Promise<Job> =>
    eventually('the lease to expire', async () => (await contract().stall(about(job))).job)

  const operations: Readonly<
    Record<
      Exclude<Action, 'enqueue' | 'claimNext'>,
      (held: Held, more?: object) => Promise<{ job: Job; replayed: boolean }>
    >
  > = {
    start: ({ job, fence }, more) => contract().start({ ...about(job), fence, ...more }),
    heartbeat: ({ job, fence }, more) => contract().heartbeat({ ...about(job), fence, ...more }),
    complete: ({ job, fence }, more) => contract().complete({ ...about(job), fence, result: 42, ...more }),
    fail: ({ job, fence }, more) => contract().fail({ ...about(job), fence, error: fault('E_ANY'), ...more }),
    stall: ({ job }, more) => contract().stall({ ...about(job), ...more }),
    requeueStalled: ({ job }, more) => contract().requeueStalled({ ...about(job), ...more }),
  }
  const NAMES = Object.keys(operations) as (keyof typeof operations)[]

  /** Held against the document's own validator, as somebody else's queue would be. */
  const judged = (before: Job | undefined, action: Action, after: Job, more: object = {}) =>
    validateTransition(
      before && view(before, '001'),
      {
        action,
        request_id: 'r',
        cas: { expected_rev: before?.rev ?? 0 },
        actor: before?.owner?.workerId ?? 'nobody',
        ...more,
      },
      view(after, '001'),
    )

  const codeOf = async (promise: Promise<unknown>): Promise<string> => {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return error instanceof Refused ? error.code : `not refused: ${String(error)}`
  }

  describe('statuses', () => {
    it.each([
      ['001:27 001:35–38', 'queued'],
      ['001:28 001:39–42', 'claimed'],
      ['001:29 001:43–46', 'running'],
      ['001:30 001:47–50', 'succeeded'],
      ['001:31 001:51–54', 'failed'],
      ['001:32 001:55–58', 'stalled'],
    ] as const)('%s %s has the fields it must have, and none that it must not', async (_, status) => {
      const each = actor(status === 'stalled' ? SHORT : {})
      const { job } = await at[status](each)
      const record = await each.view(job.id)
      expect(record).toMatchObject({ status })
      expect(validateJob(record)).toEqual([])
    })

    it.each([[42], ['text'], [{ deep: [1, null, { a: true }] }], [null], [undefined]])(
      '001:30 001:48 result is the result itself: %j',
      async (result) => {
        const each = actor()
        const { job, fence } = await at.running(each)
        await contract().complete({ ...about(job), fence, result })
        expect((await each.view(job.id))['result']).toEqual(result ?? null)
      },
    )

    it('001:30 001:48 of a large result there is a pointer, and so where payloads are not read', async () => {
      const each = actor()
      const { job, fence } = await at.running(each)
      await contract().complete({ ...about(job), fence, result: 'x'.repeat(100_000) })
      expect((await each.view(job.id))['result']).toBe(`pawl:/jobs/${job.id}/output`)
      const small = await at.succeeded(actor())
      expect(view(small.job, '001')['result']).toBe(`pawl:/jobs/${small.job.id}/output`)
    })

    it('001:27 a queued job is eligible to be claimed; 001:28 a claimed one belongs to one worker', async () => {
      const each = actor()
      const { job } = await at.queued(each)
      expect((await each.claim('w1'))?.job.id).toBe(job.id)
      expect(await each.claim('w2')).toBeUndefined()
    })

    it('001:23 the six statuses and the operations of the contract', () => {
      expect([...STATUSES]).toEqual(['queued', 'claimed', 'running', 'succeeded', 'failed', 'stalled'])
      expect(Object.keys(contract()).sort()).toEqual([...ACTIONS].sort())
    })
  })

  describe('allowed transitions', () => {
    it('001:64 enqueue creates queued, or returns the record that has the dedupe key', async () => {
      const each = actor()
      const dedupeKey = fresh('any key: 任意 / ☃')
      const asked = { kind: each.spec, input: 1, dedupeKey }
      const first = await contract().enqueue({ ...asked, requestId: fresh('r') })
      expect(judged(undefined, 'enqueue', first.job)).toEqual([])
      const again = await contract().enqueue({ ...asked, requestId: fresh('r') })
      expect(again).toMatchObject({ deduped: true, job: { id: first.job.id, rev: first.job.rev } })
      expect(view(first.job, '001')).toMatchObject({ dedupe_key: dedupeKey })
    })

    it('001:66 claimNext: queued → claimed', async () => {
      const each = actor()
      const { job } = await at.queued(each)
      const claimed = await each.claimed()
      expect(judged(job, 'claimNext', claimed.job)).toEqual([])
    })

    it('001:67 claimNext: stalled → claimed, as a reclaim', async () => {
      const each = actor(SHORT)
      const { job } = await at.stalled(each)
      const claimed = await each.claimed('w2')
      expect(claimed.job).toMatchObject({ id: job.id, state: 'claimed', attempt: 2 })
      expect(judged(job, 'claimNext', claimed.job)).toEqual([])
    })

    it.each([
      ['001:69', 'start', 'claimed', 'running'],
      ['001:71', 'heartbeat', 'claimed', 'claimed'],
      ['001:72', 'heartbeat', 'running', 'running'],
      ['001:74', 'complete', 'running', 'succeeded'],
      ['001:76', 'fail', 'running', 'failed'],
    ] as const)('%s %s: %s → %s', async (_, action, from, to) => {
      const each = actor()
      const held = await at[from](each)
      const { job } = await operations[action](held)
      expect(job.state).toBe(to)
      expect(judged(held.job, action, job)).toEqual([])
    })

    it.each([
      ['001:78', 'claimed'],
      ['001:79', 'running'],
    ] as const)('%s stall: %s → stalled, once the lease has expired', async (_, from) => {
      const each = actor({ leaseMs: 1_000, heartbeatMs: 400 })
      const { job } = await at[from](each)
      expect(await codeOf(contract().stall(about(job)))).toBe('NOT_DUE')
      const after = await stalled(job)
      expect(after.state).toBe('stalled')
      expect(judged(job, 'stall', after)).toEqual([])
    })

    it('001:81 requeueStalled: stalled → queued', async () => {
      const each = actor(SHORT)
      const { job } = await at.stalled(each)
      const { job: after } = await contract().requeueStalled(about(job))
      expect(after.state).toBe('queued')
      expect(judged(job, 'requeueStalled', after)).toEqual([])
    })

    it.each(STATUSES)('001:61 from %s nothing else is allowed', async (status) => {
      const each = actor(status === 'stalled' ? SHORT : {})
      const held = await at[status](each)
      for (const name of NAMES) {
        if (ACTION_RULES[name].moves.some(([from]) => from === status)) continue
        // The owner's own word again, whose outcome the record shows, is a repetition.
        if (status === 'running' && name === 'start') continue
        if ((status === 'succeeded' && name === 'complete') || (status === 'failed' && name === 'fail')) continue
        const before = await each.job(held.job.id)
        expect([name, await codeOf(operations[name](held))]).toEqual([
          name,
          expect.stringMatching(/^(ILLEGAL_TRANSITION|STALE_FENCE|ENDED|DIALECT_FORBIDS)$/),
        ])
        expect(await each.job(held.job.id)).toEqual(before)
      }
      if (status !== 'queued' && status !== 'stalled') expect(await each.claim('w9')).toBeUndefined()
    })

    it.each(['complete', 'fail'] as const)(
      '001:74 001:76 %s of a claimed job is refused: it has not started',
      async (name) => {
        const each = actor()
        const held = await at.claimed(each)
        const refusal = await operations[name](held).catch((error: Error) => error)
        expect(refusal).toMatchObject({ code: 'DIALECT_FORBIDS', message: expect.stringContaining('Say start first') })
        const { job } = await operations.start(held)
        expect((await operations[name]({ ...held, job })).job.state).toBe(name === 'complete' ? 'succeeded' : 'failed')
      },
    )

    it('001:61 a lost lease never ends it: it is requeued, however often', async () => {
      const each = actor(SHORT)
      const { id } = await each.enqueue()
      for (let attempt = 1; attempt <= 6; attempt += 1) {
        const { job } = await each.claimed()
        expect(job).toMatchObject({ id, attempt })
        const { job: queued } = await contract().requeueStalled(about(await stalled(job)))
        expect(queued.state).toBe('queued')
      }
      const words = (await each.log(id)).map(({ type }) => type)
      expect(words.filter((type) => type === 'claimed')).toHaveLength(6)
      expect(words).not.toContain('failed')
    })

    it.each([
      ['deadline', { deadline: '1h' }],
      ['startWithin', { startWithin: '1h' }],
      ['retry.stalls', { retry: { stalls: 3 } }],
      ['onStall', { onStall: 'retry' }],
      ['admission', { admission: true }],
    ] as const)('001:61 a policy that would need another transition is refused: %s', (field, policy) => {
      expect(() => defineSpec({ type: 't', ...strict, ...policy })).toThrow(
        expect.objectContaining({
          violations: [{ field, rule: expect.stringContaining('document 001 cannot tell it') }],
        }),
      )
    })

    it('001:61 what the document does not have is refused: cancel, release, wait, reopen, dead letters', async () => {
      const each = actor()
      const { job, fence } = await at.running(each)
      const expectedRev = job.rev
      await each.refused(job.id, { type: 'cancel', mode: 'hard', expectedRev }, 'DIALECT_FORBIDS')
      await each.refused(job.id, { type: 'release', fence, reason: 'handed_back', expectedRev }, 'DIALECT_FORBIDS')
      await each.refused(job.id, { type: 'wait', fence, name: 'x', expectedRev }, 'DIALECT_FORBIDS')
      const letter = { type: 'deadLetter', reason: 'timeout', stage: 'exec', expectedRev } as const
      await each.refused(job.id, letter, 'DIALECT_FORBIDS')
      const failed = await at.failed(each)
      await each.refused(failed.job.id, { type: 'reopen', expectedRev: failed.job.rev }, 'DIALECT_FORBIDS')
    })
  })

  describe('compare and swap', () => {
    it.each(NAMES)('001:86 %s without expected_rev is refused', async (name) => {
      const each = actor(name === 'requeueStalled' ? SHORT : {})
      const from = name === 'start' ? 'claimed' : name === 'requeueStalled' ? 'stalled' : 'running'
      const held = await at[from](each)
      expect(await codeOf(operations[name](held, { expectedRev: undefined }))).toBe('REV_REQUIRED')
      expect(await each.job(held.job.id)).toEqual(held.job)
    })

    it.each(NAMES)('001:86 %s with a stale or invented expected_rev is refused', async (name) => {
      const each = actor(name === 'requeueStalled' || name === 'stall' ? SHORT : {})
      const from = name === 'start' || name === 'stall' ? 'claimed' : name === 'requeueStalled' ? 'stalled' : 'running'
      const held = await at[from](each)
      for (const expectedRev of [held.job.rev - 1, held.job.rev + 1])
        expect(await codeOf(operations[name](held, { expectedRev }))).toMatch(/^REV_CONFLICT$/)
      expect(await each.job(held.job.id)).toEqual(held.job)
    })

    it('001:86 of several who saw the same revision one wins', async () => {
      const each = actor(SHORT)
      const held = await at.stalled(each)
      const tries = await Promise.all(
        Array.from({ length: 8 }, () =>
          operations.requeueStalled(held).then(
            () => 'won',
            (error: unknown) => (error instanceof Refused ? error.code : String(error)),
          ),
        ),
      )
      expect(tries.filter((each) => each === 'won')).toHaveLength(1)
      for (const lost of tries.filter((each) => each !== 'won')) expect(lost).toMatch(/REV_CONFLICT|ILLEGAL_TRANSITION/)
      expect((await each.events(held.job.id)).filter(({ type }) => type === 'requeued')).toHaveLength(1)
    })

    it('001:86 001:100 the owner’s own heartbeat is a mutation like any other: the revision before it is stale', async () => {
      const each = actor()
      const held = await at.running(each)
      const { job: renewed } = await operations.heartbeat(held)
      for (const name of ['heartbeat', 'complete', 'fail'] as const)
        expect(await codeOf(operations[name](held))).toBe('REV_CONFLICT')
      expect(await each.job(held.job.id)).toEqual(renewed)
      const { job } = await operations.complete({ ...held, job: renewed })
      expect(job).toMatchObject({ state: 'succeeded', rev: held.job.rev + 2 })
    })

    it.each(['start', 'heartbeat', 'complete', 'fail'] as const)(
      '001:87 %s is accepted from the owner only',
      async (name) => {
        const each = actor()
        const { job } = await at[name === 'start' ? 'claimed' : 'running'](each)
        for (const fence of ['0.1.0123456789abcdef', '0.2.0123456789abcdef', 'w1'])
          expect(await codeOf(operations[name]({ job, fence }))).toBe('STALE_FENCE')
        expect(await each.job(job.id)).toEqual(job)
      },
    )

    it('001:87 an owner whose job was reclaimed is an owner no longer', async () => {
      const each = actor(SHORT)
      const old = await at.stalled(each)
      const reclaimed = await each.claimed('w2')
      for (const name of ['start', 'heartbeat', 'complete', 'fail'] as const)
        expect(await codeOf(operations[name]({ job: reclaimed.job, fence: old.fence }))).toBe('STALE_FENCE')
    })

    it('001:88 stall and requeueStalled need no owner', async () => {
      const each = actor(SHORT)
      const { job } = await at.claimed(each)
      const reaped = await eventually('the lease to expire', () =>
        contract().stall({ ...about(job), actor: 'anybody' }),
      )
      const { job: queued } = await contract().requeueStalled({ ...about(reaped.job), actor: 'anybody' })
      expect((await each.events(job.id)).slice(-2).map(({ actor }) => actor)).toEqual(['anybody', 'anybody'])
      expect(queued.state).toBe('queued')
    })
  })

  describe('request_id', () => {
    it.each(NAMES)('001:91 001:101 %s again, same request_id: success, and nothing changes', async (name) => {
      const each = actor(name === 'requeueStalled' || name === 'stall' ? SHORT : {})
      const from = name === 'start' || name === 'stall' ? 'claimed' : name === 'requeueStalled' ? 'stalled' : 'running'
      const held = await at[from](each)
      const requestId = fresh('once')
      const first = await eventually(name, () => operations[name](held, { requestId }))
      const events = await each.events(held.job.id)
      const again = await operations[name](held, { requestId })
      expect(again).toEqual({ job: first.job, replayed: true })
      expect(await each.events(held.job.id)).toEqual(events)
      expect(judged(first.job, name, again.job, { idempotent_retry: true })).toEqual([])
    })

    it('001:91 claimNext again, same request_id: the same claim, no extra attempt', async () => {
      const each = actor()
      await each.enqueue()
      await each.enqueue()
      const requestId = fresh('claim')
      const first = await each.claim('w1', requestId)
      const again = await each.claim('w1', requestId)
      expect(again).toMatchObject({ fence: first?.fence, job: { id: first?.job.id, attempt: 1, rev: first?.job.rev } })
    })

    it('001:91 enqueue again, same request_id: the same record', async () => {
      const each = actor()
      const requestId = fresh('enqueue')
      const first = await contract().enqueue({ kind: each.spec, input: 1, requestId })
      const again = await contract().enqueue({ kind: each.spec, input: 1, requestId })
      expect(again).toMatchObject({ replayed: true, job: { id: first.job.id, rev: first.job.rev } })
    })

    it('001:91 a request_id that meant something else is no repetition', async () => {
      const each = actor()
      const held = await at.running(each)
      const requestId = fresh('reused')
      const beaten = await operations.complete(held, { requestId })
      expect(await codeOf(operations.complete({ ...held, job: beaten.job }, { requestId, result: 43 }))).toBe(
        'REQUEST_ID_REUSED',
      )
    })

    it.each(['complete', 'fail'] as const)(
      '001:92 %s again under another id, same outcome: no duplicate terminal write',
      async (name) => {
        const each = actor()
        const held = await at.running(each)
        const first = await operations[name](held)
        const again = await operations[name]({ ...held, job: first.job })
        expect(again).toEqual({ job: first.job, replayed: true })
      },
    )
  })

  describe('attempt and rev', () => {
    it('001:95–98 attempt starts at 0 and counts claims, nothing else', async () => {
      const each = actor({ leaseMs: 1_000, heartbeatMs: 400 })
      const { job } = await at.queued(each)
      expect(job.attempt).toBe(0)
      const first = await each.claimed()
      expect(first.job.attempt).toBe(1)
      const orphan = await stalled(first.job)
      expect(orphan.attempt).toBe(1)
      const queued = (await contract().requeueStalled(about(orphan))).job
      expect(queued.attempt).toBe(1)
      const second = await each.claimed()
      expect(second.job.attempt).toBe(2)
      let held: Held = second
      for (const name of ['start', 'heartbeat', 'complete'] as const) {
        held = { ...held, job: (await operations[name](held)).job }
        expect([name, held.job.attempt]).toEqual([name, 2])
      }
    })

    it('001:100 rev grows with every accepted mutation, heartbeats included', async () => {
      const each = actor()
      let held = await at.claimed(each)
      for (const name of ['heartbeat', 'start', 'heartbeat', 'heartbeat', 'complete'] as const) {
        const { job } = await operations[name](held)
        expect(job.rev).toBe(held.job.rev + 1)
        held = { ...held, job }
      }
    })

    it('001:101 rev does not grow by a refusal', async () => {
      const each = actor()
      const { job } = await at.running(each)
      await codeOf(operations.complete({ job, fence: 'no' }))
      expect((await each.job(job.id)).rev).toBe(job.rev)
    })
  })

  describe('events', () => {
    it('001:104 each heartbeat is an entry, whoever sends it and however fast', async () => {
      const each = actor()
      const { job, fence } = await at.claimed(each)
      const beat = async () => {
        const [answer] = await stage().pawl.engine.heartbeat([{ id: job.id, fence, requestId: fresh('beat') }])
        if (answer?.ok !== true) throw new Error('the lease is live')
        return answer.rev
      }
      expect(await beat()).toBe(job.rev + 1)
      expect(await beat()).toBe(job.rev + 2)
      await contract().start({ ...about({ ...job, rev: job.rev + 2 } as Job), fence })
      for (const n of [4, 5, 6]) expect(await beat()).toBe(job.rev + n)
      const entries = await each.log(job.id)
      expect(entries.map(({ type, rev }) => [type, rev])).toEqual([
        ...[
          ['enqueued', 1],
          ['claimed', 2],
          ['heartbeat', 3],
          ['heartbeat', 4],
          ['started', 5],
        ],
        ...[
          ['heartbeat', 6],
          ['heartbeat', 7],
          ['heartbeat', 8],
        ],
      ])
    })

    it('001:104 each transition appends an event with from, to, at, actor and request', async () => {
      const each = actor()
      const { job } = await at.succeeded(each)
      const entries = await each.log(job.id)
      expect(entries.map(({ from_status, to_status }) => [from_status, to_status])).toEqual([
        [undefined, 'queued'],
        ['queued', 'claimed'],
        ['claimed', 'running'],
        ['running', 'succeeded'],
      ])
      for (const entry of entries) {
        const said = { at: expect.stringMatching(/Z$/), actor: expect.any(String), request_id: expect.any(String) }
        expect(entry).toMatchObject(said)
      }
      expect(deriveDialect('001', entries)).toMatchObject({ status: 'succeeded', violations: [] })
    })

    it('001:105 the vocabulary is canonical', async () => {
      const each = actor(SHORT)
      const { job } = await at.stalled(each)
      const queued = await contract().requeueStalled(about(job))
      const claimed = await each.claimed()
      expect(claimed.job.id).toBe(queued.job.id)
      const types = (await each.log(job.id)).map(({ type }) => type)
      expect(types).toEqual(['enqueued', 'claimed', 'stalled', 'requeued', 'claimed'])
      const other = actor()
      const failed = await at.failed(other)
      expect((await other.log(failed.job.id)).map(({ type }) => type)).toEqual([
        'enqueued',
        'claimed',
        'started',
        'failed',
      ])
      const beating = await at.running(other)
      await operations.heartbeat(beating)
      expect((await other.log(beating.job.id)).at(-1)).toMatchObject({ type: 'heartbeat', to_status: 'running' })
    })
  })

  describe('workers and other plans', () => {
    it('001:87 001:91 the library’s own worker speaks the contract: results, errors, steps and progress', async () => {
      const each = actor()
      const job = implementJob(each.spec, async (input, ctx) => {
        ctx.count('pages', 2)
        const doubled = await ctx.step('double', () => (input as { n: number }).n * 2)
        await ctx.checkpoint({ doubled })
        if (doubled > 10) throw new PermanentError('too much', { code: 'E_MUCH' })
        return doubled
      })
      await using _ = each.pawl.work([job])
      const good = await each.enqueue({}, { n: 3 })
      const bad = await each.enqueue({}, { n: 30 })
      expect(await each.pawl.result(good.id, { timeout: '15s' })).toBe(6)
      await each.until(bad.id, 'failed')
      for (const { id } of [good, bad]) {
        expect(validateJob(await each.view(id))).toEqual([])
        expect(deriveDialect('001', await each.log(id)).violations).toEqual([])
      }
      expect((await each.job(bad.id)).attempt).toBe(1)
      expect(await each.view(bad.id)).toMatchObject({ status: 'failed', error: { code: 'E_MUCH' } })
    })

    it('001:86 a worker keeps its lease while it speaks, and every word is about the revision it says', async () => {
      const each = actor({ leaseMs: 20_000, heartbeatMs: 50, missedHeartbeats: 300 })
      const beats = async (id: string) => (await each.log(id)).filter(({ type }) => type === 'heartbeat').length
      const job = implementJob(each.spec, async (_, ctx) => {
        for (let n = 0; (await beats(ctx.job.id)) < 3; n += 1) await ctx.step(`step-${n}`, () => n)
        return 'done'
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      await each.until(id, 'succeeded')
      const entries = await each.log(id)
      expect(entries.filter(({ type }) => type === 'started')).toHaveLength(1)
      expect(deriveDialect('001', entries).violations).toEqual([])
    })

    it('001:32 a worker that dies: stalled, requeued and worked again by another (lease shortened)', async () => {
      const each = actor({ leaseMs: 1_500, heartbeatMs: 300 })
      const { job } = await at.claimed(each)
      // Nobody reaps on this stage: this one does, as the ticker of another process.
      const reaper = await stage().another({ ticker: { everyMs: 20 } })
      const survivor = implementJob(each.spec, () => 'done')
      await using _ = each.pawl.work([survivor], { poll: 20 })
      await each.until(job.id, 'succeeded')
      await reaper.close()
      const types = (await each.log(job.id)).map(({ type }) => type)
      expect(types.filter((type) => type !== 'heartbeat')).toEqual([
        ...['enqueued', 'claimed', 'stalled', 'requeued', 'claimed', 'started', 'succeeded'],
      ])
    })

    it('001:109 dedupe_key is opaque', async () => {
      const each = actor()
      for (const dedupeKey of ['a/b?c=d#e', '{"json":true}', '任意', ' x '.repeat(100)]) {
        const first = await contract().enqueue({ kind: each.spec, requestId: fresh('r'), dedupeKey })
        const again = await contract().enqueue({ kind: each.spec, requestId: fresh('r'), dedupeKey })
        expect(again).toMatchObject({ deduped: true, job: { id: first.job.id } })
      }
    })

    it('001:12 001:117 the boundaries with plans 01, 03 and 04 are written down', () => {
      expect(LEFT_OPEN.map(({ plan }) => plan.slice(0, 2))).toEqual(['01', '03', '04'])
    })

    it('001:113–118 the validators name every violation, and throw for nothing', async () => {
      const each = actor()
      const { job } = await at.running(each)
      const record = view(job, '001')
      const broken = { ...record, owner: undefined, lease: undefined, result: 1, attempt: -1, rev: 'x' }
      expect(
        validateJob(broken)
          .map(({ field }) => field)
          .sort(),
      ).toEqual(['attempt', 'lease', 'owner', 'result', 'rev'])
      const jump = validateTransition(
        record,
        { action: 'requeueStalled' },
        { ...record, status: 'queued', attempt: 0, rev: 0 },
      )
      expect(new Set(jump.map(({ field }) => field))).toEqual(
        new Set([
          ...['after.owner', 'after.lease', 'request_id', 'cas.expected_rev', 'after.status', 'after.attempt'],
          'after.rev',
        ]),
      )
      for (const nonsense of [undefined, null, 7, 'x', [], { status: 'asleep' }])
        expect(validateJob(nonsense)).not.toEqual([])
    })

    it('001:118 every record the store keeps passes the validator', async () => {
      for (const status of STATUSES) await at[status](actor(status === 'stalled' ? SHORT : {}))
      const { jobs } = await stage().pawl.find({ limit: 500 })
      expect(new Set(jobs.map((job) => view(job, '001')['status']))).toEqual(new Set(STATUSES))
      for (const job of jobs) expect([job.id, validateJob(view(job, '001'))]).toEqual([job.id, []])
    })
  })
})
