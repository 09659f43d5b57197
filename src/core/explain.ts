/** "Why is this job not running?", in exactly seven words, with who, when and what to do. */

import type { Approval } from './approval.ts'
import { unreachable } from './assert.ts'
import type { Holding } from './flow/explain.ts'
import type { Job, JobId, State, Time } from './job.ts'
import { type Need, needOf, whatText, whereText } from './needs.ts'

export const WAYS_NOT_TO_RUN = ['pending', 'queued', 'delayed', 'held', 'waiting', 'parked', 'paused'] as const
export type WayNotToRun = (typeof WAYS_NOT_TO_RUN)[number]

export interface Explanation {
  readonly job: JobId
  readonly state: State
  /** One of the seven; or that it does run, or has ended. */
  readonly way: WayNotToRun | 'running' | 'ended'
  readonly because: string
  /** Who must act, or who owns it. */
  readonly who: string | undefined
  /** When it changes by itself; undefined where it does not. */
  readonly when: Time | undefined
  readonly next: string
}

/** What is true around a job and not written on it. */
export interface Circumstances {
  readonly now: Time
  /** Its queue gives nothing away. */
  readonly paused: { readonly by: string | undefined; readonly since: Time | undefined } | undefined
  /** Who is there. Absent: nobody could be asked. */
  readonly workers: Around | undefined
  /** What keeps it from being let in. */
  readonly held: Holding | undefined
}

/** Workers that are there. */
export interface Around {
  /** Of a job that is routed: how many are in its pool, and how many of those can do what it requires. Others are not counted below. */
  readonly routed?: { readonly inPool: number; readonly capable: number } | undefined
  /** How many serve its queue. */
  readonly serving: number
  /** Which of those know its type. */
  readonly able: readonly string[]
}

export function explain(job: Job, around: Circumstances): Explanation {
  const explained = (
    way: Explanation['way'],
    because: string,
    next: string,
    more: { readonly who?: string | undefined; readonly when?: Time | undefined } = {},
  ): Explanation => ({ job: job.id, state: job.state, way, because, who: more.who, when: more.when, next })

  switch (job.state) {
    case 'pending':
      if (job.approval !== undefined) return explainApproval(job, job.approval, explained)
      return explained(
        'pending',
        'It is accepted, and waits for a policy or a person to admit it.',
        `Admit or deny it: pawl jobs admit ${job.id}.`,
        {
          who: 'admission',
          when: job.deadlineAt,
        },
      )
    case 'waiting':
    case 'parked': {
      const { name, key, timeoutAt } = job.wait
      const signal = key === undefined ? `signal ${name}` : `signal ${name} with key ${key}`
      return explained(
        job.state,
        `It waits for the ${signal}${timeoutAt === undefined ? ', without a time limit' : ''}.`,
        `Send it: pawl jobs signal ${job.id} ${name}${key === undefined ? '' : ` --key ${key}`}.`,
        { who: `whoever sends the ${signal}`, when: timeoutAt },
      )
    }
    case 'claimed':
    case 'running': {
      const since = job.state === 'running' ? 'runs it' : 'has claimed it and is about to start'
      const next =
        job.cancel === undefined ? 'Nothing: it runs.' : 'Nothing: a cancel was requested, and is on its way.'
      const who = job.owner.workerId
      return explained('running', `Worker ${who} ${since}.`, next, { who, when: job.lease.expiresAt })
    }
    case 'queued':
    case 'retrying':
    case 'stalled':
      return explainClaimable(job, around, explained)
    case 'succeeded':
    case 'failed':
    case 'cancelled':
    case 'timed_out':
    case 'denied':
    case 'dead_lettered': {
      const again =
        job.state === 'succeeded' || job.state === 'denied' ? 'Enqueue a new job.' : 'Reopen it to run it again.'
      return explained('ended', `It ended as ${job.state}.`, again, { when: job.endedAt })
    }
    default:
      return unreachable(job)
  }
}

type Explained = (
  way: Explanation['way'],
  because: string,
  next: string,
  more?: { readonly who?: string | undefined; readonly when?: Time | undefined },
) => Explanation

function explainApproval({ id }: Job, approval: Approval, explained: Explained): Explanation {
  const { rule, reason, expiresAt, notBy, given } = approval
  if (given !== undefined)
    return explained(
      'pending',
      `${given.by} has approved it; the policy lets it in, if it still says so.`,
      'Nothing: see that a scheduler runs.',
      {
        who: 'the scheduler',
      },
    )
  const who = notBy === undefined ? 'whoever may approve it' : `whoever may approve it, but ${notBy}`
  return explained(
    'pending',
    `Rule ${rule} asks for an approval${reason === undefined ? '' : `: ${reason}`}`,
    `Look at it (pawl jobs show ${id}), and approve or deny that: ${approveCommand(id, approval)}`,
    { who, when: expiresAt },
  )
}

/** By which a person approves what they have looked at, and nothing that has come since. */
export const approveCommand = (id: JobId, { jobHash, policyHash }: Pick<Approval, 'jobHash' | 'policyHash'>): string =>
  `pawl jobs approve ${id} --job-hash ${jobHash} --policy-hash ${policyHash}`

function explainClaimable(job: Job, around: Circumstances, explained: Explained): Explanation {
  const { now, paused, held } = around
  const { queue } = job.spec.kind
  if (job.readyAt === undefined) {
    return explained(
      'delayed',
      'No worker may have it again; the ticker decides what becomes of it.',
      'Nothing: see that a ticker runs.',
      {
        who: 'the ticker',
        when: job.nextTickAt,
      },
    )
  }
  if (job.readyAt > now) {
    const failed = job.lastFailure === undefined ? '' : ` after ${job.lastFailure.code}`
    const because = job.state === 'retrying' ? `It is to be tried again later${failed}.` : 'It is to run later.'
    return explained('delayed', because, `Wait, or run it now: pawl jobs reschedule ${job.id}.`, { when: job.readyAt })
  }
  if (paused !== undefined) {
    const by = paused.by === undefined ? '' : ` by ${paused.by}`
    return explained('paused', `Queue ${queue} is paused${by}.`, `Resume it: pawl queues resume ${queue}.`, {
      who: paused.by,
    })
  }
  if (held !== undefined) return explained('held', held.because, held.next, { who: held.who, when: held.when })
  return explainQueued(job, around, explained)
}

function explainQueued({ spec, needs, attempt }: Job, { workers }: Circumstances, explained: Explained): Explanation {
  const { queue, type } = spec.kind
  const need = needOf(needs)
  if (workers?.routed?.capable === 0) return explainRouted(need, workers.routed.inPool, explained)
  const handedBack =
    need.type === undefined || attempt === 0 ? '' : ' A worker that does not know it has handed it back, or could not.'
  if (workers !== undefined && workers.serving > 0 && workers.able.length === 0) {
    return explained(
      'queued',
      `No worker that is there knows type ${type}: ${workers.serving} serve queue ${queue}, and none of them has it.${handedBack}`,
      `Start a worker that has type ${type}: pawl work <module>.`,
      { who: `a worker of queue ${queue} that knows type ${type}` },
    )
  }
  if (need.type !== undefined) {
    const able = workers?.able ?? []
    const there = able.length === 0 ? 'none has claimed it yet' : `${listed(able)} could, and has not claimed it yet`
    return explained(
      'queued',
      `It is for workers that know type ${type}: ${there}.${handedBack}`,
      'See who is there: pawl workers ls.',
      { who: able.length === 0 ? `a worker of queue ${queue} that knows type ${type}` : listed(able) },
    )
  }
  return explained(
    'queued',
    `It may run, and no worker has claimed it yet: all are busy, or none serves queue ${queue}.`,
    `See that a worker serves it: pawl workers ls.`,
    { who: `the workers of queue ${queue}` },
  )
}

/** Nobody is there who may have it, by where routing has sent it. */
function explainRouted({ pool, capabilities }: Need, inPool: number, explained: Explained): Explanation {
  const where = whereText(pool)
  const what = whatText(capabilities)
  const options = [
    ...(pool === undefined ? [] : [`--pool ${pool}`]),
    ...(what === '' ? [] : [`--can ${capabilities.join(',')}`]),
  ]
  const nobody = inPool === 0 ? 'nobody is there' : `${inPool} there, and none of them does`
  return explained(
    'queued',
    what === '' ? `No live worker is${where}.` : `No live worker${where}${what}: ${nobody}.`,
    `Start one: pawl work <module> ${options.join(' ')}.`,
    { who: `a worker${where}${what === '' ? '' : ` that${what}`}` },
  )
}

const NAMED = 3

const listed = (workers: readonly string[]): string =>
  workers.length <= NAMED
    ? `worker ${workers.join(' or ')}`
    : `worker ${workers.slice(0, NAMED).join(', ')} or one of ${workers.length - NAMED} others`
