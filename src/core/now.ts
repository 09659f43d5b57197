/**
 * What a job is about at this moment, in one phrase: what a list shows beside each of them. `explain` says the same at length,
 * with what to do. Times are left to whoever shows it: they pass while it is looked at.
 */
import { unreachable } from './assert.ts'
import type { Circumstances } from './explain.ts'
import type { Failure, Job, Time } from './job.ts'
import { needOf, routeText } from './needs.ts'

/** Read as `before`, the moment as people say it, `after`: "due", "in 2 s", "after E_429_RATE". */
export interface Now {
  readonly before: string
  readonly when?: Time | undefined
  readonly after?: string | undefined
  /** How long it worked, of one that has ended. */
  readonly tookMs?: number | undefined
}

export function now(job: Job, around: Circumstances): Now {
  switch (job.state) {
    case 'pending':
      return job.approval === undefined || job.approval.given !== undefined
        ? { before: 'waits to be admitted' }
        : { before: `rule ${job.approval.rule} asks for an approval, until`, when: job.approval.expiresAt }
    case 'queued':
    case 'retrying':
      return job.readyAt === undefined || job.readyAt > around.now ? due(job) : ready(job, job.readyAt, around)
    case 'stalled':
      return stalled(job)
    case 'claimed':
      return { before: `on ${job.owner.workerId}`, after: asked(job, 'about to start') }
    case 'running':
      return { before: `on ${job.owner.workerId}`, after: asked(job, shareOf(job)) }
    case 'waiting':
    case 'parked': {
      const { name, key, timeoutAt } = job.wait
      const signal = `waits for ${key === undefined ? name : `${name} (${key})`}`
      return timeoutAt === undefined ? { before: signal } : { before: `${signal}, until`, when: timeoutAt }
    }
    case 'succeeded':
      return { before: '', tookMs: job.executionMs }
    case 'failed':
    case 'timed_out':
      return { before: job.error.code, after: stageOf(job.error) }
    case 'dead_lettered':
      return { before: job.error.code, after: job.deadLetter.reason }
    case 'cancelled':
      return { before: job.cancel === undefined ? '' : `by ${job.cancel.by}`, after: job.cancel?.reason }
    case 'denied':
      return { before: `rule ${job.verdict.rule}`, after: job.verdict.reason }
    default:
      return unreachable(job)
  }
}

const due = ({ readyAt, nextTickAt, lastFailure }: Job): Now => ({
  before: 'due',
  when: readyAt ?? nextTickAt,
  after: lastFailure && `after ${lastFailure.code}`,
})

function ready(job: Job, since: Time, { paused, held, workers }: Circumstances): Now {
  const { queue, type } = job.spec.kind
  if (paused !== undefined) {
    const by = paused.by === undefined ? '' : `, by ${paused.by}`
    return { before: `paused: queue ${queue}${by}`, when: paused.since }
  }
  if (held !== undefined) return { before: `held by ${held.who}`, when: held.when }
  if (workers?.routed?.capable === 0) return { before: `no worker${routeText(needOf(job.needs))}, ready`, when: since }
  if (workers?.serving === 0) return { before: `no worker serves queue ${queue}, ready`, when: since }
  if (workers !== undefined && workers.able.length === 0)
    return { before: `no worker knows type ${type}, ready`, when: since }
  return { before: 'waits for a worker, ready', when: since }
}

const stalled = ({ lastClaim, readyAt }: Job): Now => ({
  before: lastClaim === undefined ? 'its lease ended' : `lease of ${lastClaim.owner.workerId} ended`,
  when: lastClaim?.leaseExpiresAt,
  after: readyAt === undefined ? 'the ticker decides' : 'free to be claimed',
})

const asked = ({ cancel }: Job, otherwise: string | undefined): string | undefined =>
  cancel === undefined ? otherwise : `cancel requested by ${cancel.by}`

function shareOf({ progress }: Job): string | undefined {
  if (progress === undefined) return undefined
  const { done, total } = progress
  return total === undefined || total <= 0 ? `${done} done` : `${Math.floor((100 * done) / total)} %`
}

const stageOf = ({ stage }: Failure): string | undefined => (stage === 'exec' ? undefined : `in ${stage}`)
