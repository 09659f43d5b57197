import type { Action, ContractStatus } from '../../../src/core/contract/rules.ts'
import { validateTransition } from '../../../src/core/contract/validate-transition.ts'
import { view } from '../../../src/core/dialects/view.ts'
import type { Job } from '../../../src/core/job.ts'
import { Refused } from '../../../src/library/errors.ts'
import { eventually } from '../../support/eventually.ts'
import { Actor, fault, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'

export const strict = { dialect: '001' } as const
/** Plan 04 says how long a lease lasts; a test that lets it expire cannot wait for that. */
export const SHORT = { leaseMs: 150, heartbeatMs: 50 }

/** One job and whoever holds it. */
export interface Held {
  readonly job: Job
  readonly fence: string
}

/** Where nothing but the named operation is done to a job: nobody else reaps, so that `stalled` can be seen. */
export const UNATTENDED = { ticker: false } as const

/** The document's own lists. */
export const STATUSES = ['queued', 'claimed', 'running', 'succeeded', 'failed', 'stalled'] as const
export const OPERATIONS = [
  ...['enqueue', 'claimNext', 'start', 'heartbeat', 'complete', 'fail', 'stall', 'requeueStalled'],
] as const
/** From where each operation on a job leads anywhere. */
export const FROM: Readonly<Record<string, readonly string[]>> = {
  start: ['claimed'],
  heartbeat: ['claimed', 'running'],
  complete: ['running'],
  fail: ['running'],
  stall: ['claimed', 'running'],
  requeueStalled: ['stalled'],
}

export function contractOn(stage: () => Stage) {
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

  return { actor, contract, at, about, stalled, operations, NAMES, judged, codeOf }
}
