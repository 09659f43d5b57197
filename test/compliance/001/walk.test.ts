/** Document 001 from its first line to its last, in its own names: `DistributedJobQueue`. */
import { expect, it } from 'vitest'
import {
  derive,
  distributedJobQueue,
  type JobRecord,
  type OwnedTransition,
  type QueueOptions,
  validateJob,
  validateTransition,
} from '../../../src/contract.ts'
import { Refused } from '../../../src/library/errors.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import { onStores } from '../stage.ts'

/** The document's own list of operations. */
const OPERATIONS = ['enqueue', 'claimNext', 'start', 'heartbeat', 'complete', 'fail', 'stall', 'requeueStalled']

onStores('001 in its own names', { ticker: false }, (stage) => {
  const queue = (more: Partial<QueueOptions> = {}) =>
    distributedJobQueue(stage().pawl, { type: fresh('type'), queue: fresh('queue'), ...more })
  const about = (record: JobRecord) => ({
    job_id: record.job_id,
    request_id: fresh('request'),
    cas: { expected_rev: record.rev },
  })
  const must = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('there is none')
    return value
  }
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'accepted',
      (error: unknown) => (error instanceof Refused ? error.code : String(error)),
    )

  it('001:24 has the eight operations', () => {
    const jobs = queue() as object as Record<string, unknown>
    for (const name of OPERATIONS) expect([name, typeof jobs[name]]).toEqual([name, 'function'])
  })

  it('001:61 001:104 a life, from one line to the other: each record keeps its status’s rules, each step the contract, each event is in the log', async () => {
    const jobs = queue({ lease: '1s', heartbeat: '400ms' })
    const walk: { readonly record: JobRecord; readonly events: readonly unknown[] }[] = []
    const step = async (action: string, after: JobRecord, actor = 'system'): Promise<JobRecord> => {
      expect(validateJob(after)).toEqual([])
      const events = await jobs.events(after.job_id)
      const before = walk.at(-1)
      const asked = { action, actor, request_id: 'r', cas: { expected_rev: before?.record.rev ?? 0 } } as never
      const was = before && { ...before.record, events: before.events }
      expect([action, validateTransition(was, asked, { ...after, events })]).toEqual([action, []])
      walk.push({ record: after, events })
      return after
    }
    const claim = async (worker_id: string) => must(await jobs.claimNext({ request_id: fresh('claim'), worker_id }))
    const lost = (record: JobRecord) => eventually('the lease to expire', () => jobs.stall(about(record)))

    const queued = await step(
      'enqueue',
      await jobs.enqueue({ request_id: 'e', dedupe_key: 'any: 任意', payload: { n: 1 } }),
    )
    expect(queued).toMatchObject({ status: 'queued', attempt: 0, dedupe_key: 'any: 任意', contract_version: 1 })
    const claimed = await step('claimNext', await claim('w1'))
    expect(claimed).toMatchObject({ status: 'claimed', attempt: 1, owner: { worker_id: 'w1' } })
    const kept = await step('heartbeat', await jobs.heartbeat({ ...about(claimed), actor: 'w1' }), 'w1')
    const orphan = await step('stall', await lost(kept))
    const again = await step('requeueStalled', await jobs.requeueStalled(about(orphan)))
    expect(again).toMatchObject({ status: 'queued', attempt: 1 })
    const second = await step('claimNext', await claim('w2'))
    const orphaned = await step('stall', await lost(second))
    const third = await step('claimNext', await claim('w3'))
    expect(third).toMatchObject({ status: 'claimed', attempt: 3, rev: orphaned.rev + 1 })
    const running = await step('start', await jobs.start({ ...about(third), actor: 'w3' }), 'w3')
    const beaten = await step('heartbeat', await jobs.heartbeat({ ...about(running), actor: 'w3' }), 'w3')
    const done = await step(
      'complete',
      await jobs.complete({ ...about(beaten), actor: 'w3', result: { sum: 3 } }),
      'w3',
    )
    expect(done).toMatchObject({ status: 'succeeded', attempt: 3, result: { sum: 3 } })
    expect(await jobs.get(done.job_id)).toEqual(done)
    const log = await jobs.events(done.job_id)
    expect(log.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
      ...['enqueued producer', 'claimed worker:w1', 'heartbeat worker:w1', 'stalled system', 'requeued system'],
      ...['claimed worker:w2', 'stalled system', 'claimed worker:w3', 'started worker:w3', 'heartbeat worker:w3'],
      'succeeded worker:w3',
    ])
    expect(derive('001', log, done.rev)).toMatchObject({ status: 'succeeded', violations: [] })
  })

  it('001:31 001:76 fail ends it, with its error', async () => {
    const jobs = queue()
    await jobs.enqueue({ request_id: fresh('e') })
    const claimed = must(await jobs.claimNext({ request_id: fresh('c'), worker_id: 'w1' }))
    const running = await jobs.start({ ...about(claimed), actor: 'w1' })
    const failed = await jobs.fail({
      ...about(running),
      actor: 'w1',
      error: { message: 'no such page', code: 'E_404' },
    })
    expect(failed).toMatchObject({ status: 'failed', error: { message: 'no such page', code: 'E_404' } })
    expect(validateJob(failed)).toEqual([])
    expect(await jobs.claimNext({ request_id: fresh('c'), worker_id: 'w1' })).toBeUndefined()
  })

  it('001:86 cas compares the revision exactly, and status and owner where it names them', async () => {
    const jobs = queue()
    await jobs.enqueue({ request_id: fresh('e') })
    const claimed = must(await jobs.claimNext({ request_id: fresh('c'), worker_id: 'w1' }))
    const start = (cas: object) =>
      jobs.start({ ...about(claimed), actor: 'w1', cas: { expected_rev: claimed.rev, ...cas } })
    for (const cas of [
      { expected_rev: claimed.rev - 1 },
      { expected_rev: claimed.rev + 1 },
      { expected_status: 'queued' },
      { expected_owner: 'w2' },
    ])
      expect([cas, await codeOf(start(cas))]).toEqual([cas, 'REV_CONFLICT'])
    const without = { job_id: claimed.job_id, request_id: fresh('s'), actor: 'w1' } as OwnedTransition
    expect(await codeOf(jobs.start(without))).toBe('REV_REQUIRED')
    expect(await jobs.get(claimed.job_id)).toMatchObject({ rev: claimed.rev, status: 'claimed' })
    expect(await start({ expected_status: 'claimed', expected_owner: 'w1' })).toMatchObject({ status: 'running' })
  })

  it('001:87 only the owner speaks for a job: by its name here, by its fence anywhere', async () => {
    const options = { type: fresh('type'), queue: fresh('queue') }
    const jobs = queue(options)
    await jobs.enqueue({ request_id: fresh('e') })
    const claimed = must(await jobs.claimNext({ request_id: fresh('c'), worker_id: 'w1' }))
    expect(await codeOf(jobs.start({ ...about(claimed), actor: 'w2' }))).toBe('STALE_FENCE')
    const elsewhere = queue(options)
    expect(await codeOf(elsewhere.start({ ...about(claimed), actor: 'w1' }))).toBe('STALE_FENCE')
    const fence = must(claimed.lease?.fence)
    expect(await elsewhere.start({ ...about(claimed), actor: 'w1', fence })).toMatchObject({ status: 'running' })
  })

  it('001:91 the same request_id again: the same record, nothing more', async () => {
    const jobs = queue()
    const request_id = fresh('e')
    const first = await jobs.enqueue({ request_id, payload: 1 })
    expect(await jobs.enqueue({ request_id, payload: 1 })).toEqual(first)
    const claim = { request_id: fresh('c'), worker_id: 'w1' }
    const claimed = must(await jobs.claimNext(claim))
    expect(await jobs.claimNext(claim)).toEqual(claimed)
    const start = { ...about(claimed), actor: 'w1' }
    const running = await jobs.start(start)
    expect(await jobs.start(start)).toEqual(running)
    expect(await jobs.events(first.job_id)).toHaveLength(3)
  })
})
