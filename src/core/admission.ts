/** Admission: what a policy says about a job, what is said to the job then, and what its record tells of it. */
import type { Approval, Terms } from './approval.ts'
import type { Admit, Approve, AskApproval, Deny, Unstamped } from './command.ts'
import { isEnded, type Job, type Kind, type Time } from './job.ts'
import { jobHashOf } from './job-hash.ts'
import type { Route } from './needs.ts'
import { destinationOf, type Recast, type Redirect, recastAmiss } from './recast.ts'
import { isReserved } from './reserved.ts'

/** A policy's word about one job. */
export interface Judged {
  readonly letsIn: boolean
  readonly rule: string
  readonly policyHash: string
  readonly reason: string | undefined
  /** Under which it is let in. */
  readonly terms: Terms | undefined
  /** Somebody must approve it first. */
  readonly approval: { readonly expiresMs: number; readonly fourEyes: boolean } | undefined
  /** Where it goes when it is let in. Absent: to whoever claims from its queue. */
  readonly route?: Route | undefined
  /** What is made of it then. */
  readonly recast?: Omit<Recast, 'redirect'> | undefined
  /** The topic it goes to instead. What that comes to is not the policy's to say. */
  readonly redirect?: Pick<Redirect, 'from' | 'to' | 'rule'> | undefined
}

/** A word about a job, and where it goes by it. */
export interface Addressed extends Omit<Judged, 'recast' | 'redirect'> {
  readonly recast?: Recast | undefined
}

/** A live worker, as far as routing asks. */
export interface Present {
  readonly pool: string | undefined
  readonly can: readonly string[]
}

/** A denial by a policy is told as what document 000 calls it. */
const VIOLATION = 'policy_violation'

/**
 * What is said to a job that was judged. An approval holds for the policy that asked for it and for the job as it was then; of
 * another policy, or of a job whose input was replaced, it is asked for anew. `enqueuedBy`: asked for where the rule wants another pair of
 * eyes. Where nobody can be told from whoever that was, nobody could answer: it is denied at once, rather than when the time is over.
 */
export function sentenceOf(
  job: Job,
  judged: Addressed,
  now: Time,
  enqueuedBy: string | undefined,
): Unstamped<Admit | Deny | AskApproval> {
  const { rule, policyHash, reason, terms, approval, route, recast } = judged
  if (!judged.letsIn) return { type: 'deny', rule, policyHash, reason, cause: VIOLATION }
  const amiss = recastAmiss(job, recast)
  if (amiss !== undefined) return { type: 'deny', rule, policyHash, reason: amiss, cause: VIOLATION }
  if (approval === undefined) return { type: 'admit', rule, policyHash, terms, route, recast }
  const asked = job.approval
  const stands = asked !== undefined && asked.policyHash === policyHash && asked.jobHash === jobHashOf(job)
  const inTime = stands && now < asked.expiresAt
  if (inTime && asked.given !== undefined)
    return { type: 'admit', rule, policyHash, terms, route, recast, reason: `Approved by ${asked.given.by}.` }
  if (stands && !inTime && asked.given === undefined)
    return { type: 'deny', rule, policyHash, reason: 'Nobody approved it in time.', cause: VIOLATION }
  const notBy = approval.fourEyes ? enqueuedBy : undefined
  const untold = notBy === undefined ? undefined : untoldOf(rule, notBy, bringerOf(job, notBy))
  if (untold !== undefined) return { type: 'deny', rule, policyHash, reason: untold, cause: VIOLATION }
  return { type: 'askApproval', rule, policyHash, expiresMs: approval.expiresMs, notBy, reason }
}

/**
 * What a word about a job comes to, where it is sent to another topic: `announced` is what workers of its own tenant have said of
 * that, if they have. It keeps its own policy, each bound the narrower of both. What is pawl's own nobody is sent to.
 */
export function addressed(judged: Judged, { spec }: Pick<Job, 'spec'>, announced: Kind | undefined): Addressed {
  const { redirect, recast, ...word } = judged
  if (redirect === undefined) return { ...word, recast: recast && { ...recast, redirect: undefined } }
  const { to, rule } = redirect
  const { queue, type } = destinationOf(spec, to, announced)
  if (isReserved(queue) || isReserved(type))
    return { ...word, letsIn: false, rule, reason: `Topic ${to} comes to queue ${queue}, which is pawl’s own.` }
  const made = { labels: recast?.labels, throttles: recast?.throttles, redirect: { ...redirect, queue, type } }
  return { ...word, terms: narrowed(word.terms, announced), recast: made }
}

function narrowed(terms: Terms | undefined, announced: Kind | undefined): Terms | undefined {
  if (announced === undefined) return terms
  const { attemptMs, maxAttempts } = announced.policy
  return {
    attemptMs: Math.min(terms?.attemptMs ?? attemptMs, attemptMs),
    maxAttempts: Math.min(terms?.maxAttempts ?? maxAttempts, maxAttempts),
  }
}

/** Why an approval cannot be given by this word; undefined where it can. */
export function approvalAmiss(
  { id, approval, newer }: Pick<Job, 'id' | 'approval'> & Bringer,
  { actor, policyHash, jobHash }: Pick<Approve, 'actor' | 'policyHash' | 'jobHash'>,
  at: Time,
): string | undefined {
  if (approval === undefined) return `Nobody has asked for an approval of job ${id}.`
  if (approval.given !== undefined) return `Job ${id} was approved by ${approval.given.by}.`
  if (approval.expiresAt <= at) return `The time to approve job ${id} is over.`
  if (approval.policyHash !== policyHash)
    return `What is asked for now is by policy ${approval.policyHash}, not ${policyHash}.`
  if (approval.jobHash !== jobHash) return `What is asked for now is about ${approval.jobHash}, not ${jobHash}.`
  return eyesAmiss(approval, { newer }, actor)
}

/** Who has brought its newest input, where a duplicate has. */
interface Bringer {
  readonly newer?: { readonly input?: unknown; readonly by?: string | undefined } | undefined
}

/**
 * Whose word brought the input it has: who enqueued it, unless a duplicate brought another. Undefined in records from before that was written
 * down: whoever enqueued the job need not be the one.
 */
const bringerOf = ({ newer }: Bringer, enqueuedBy: string): string | undefined =>
  newer?.input === undefined ? enqueuedBy : newer.by

/** Whose word it is that names nobody: a program's, of which anybody may be behind, and that of whoever may publish on the bus. */
const NAMELESS = 'operator'
const ON_THE_BUS = 'bus'
/** What speaks for somebody and does not say for whom: who has defined a schedule, and whose job a worker was at, may have asked for it. */
const GO_BETWEEN = /^(?:schedule|worker|system)(?::|$)/

/** Of what nobody can say who has asked for it. */
export const UNTOLD = NAMELESS

const isNobodys = (actor: string): boolean =>
  actor === NAMELESS || nameIn(actor) === ON_THE_BUS || GO_BETWEEN.test(actor)

/** Why nobody's eyes can be told from those of whoever asked for it; undefined where they can. */
function untoldOf(rule: string, enqueuedBy: string, broughtBy: string | undefined): string | undefined {
  const wants = `Rule ${rule} wants another pair of eyes than those of whoever asked for it, and`
  if (broughtBy === undefined) return `${wants} its record does not say who has brought its input: enqueue it anew.`
  const nameless = [enqueuedBy, broughtBy].find(isNobodys)
  if (nameless === undefined) return undefined
  return `${wants} ${nameless} is a name that anybody may be behind: enqueue it under a name of one’s own.`
}

/**
 * Why the eyes of an actor are not another pair; undefined where they are. `producer:ann` and `admin:ann` are one person in two roles.
 * What pawl does by itself is nobody's look at a job.
 */
export function eyesAmiss({ rule, notBy }: Approval, bringer: Bringer, actor: string): string | undefined {
  if (notBy === undefined || actor.startsWith('system:')) return undefined
  const broughtBy = bringerOf(bringer, notBy)
  const untold = untoldOf(rule, notBy, broughtBy)
  if (untold !== undefined) return untold
  const wants = `Rule ${rule} wants another pair of eyes than those of`
  if (isNobodys(actor)) return `${wants} ${notBy}: say whose yours are.`
  if (nameIn(notBy) === nameIn(actor)) return `${wants} ${notBy}, who enqueued it.`
  if (broughtBy !== undefined && nameIn(broughtBy) === nameIn(actor))
    return `${wants} ${broughtBy}, who brought its input.`
  return undefined
}

const nameIn = (actor: string): string => actor.slice(actor.indexOf(':') + 1)

/** Those of the terms that are narrower than what the job has by its policy; undefined where none is. */
export function narrower({ spec }: Pick<Job, 'spec'>, terms: Terms | undefined): Terms | undefined {
  const { attemptMs, maxAttempts } = spec.kind.policy
  const narrow = {
    attemptMs: below(terms?.attemptMs, attemptMs),
    maxAttempts: below(terms?.maxAttempts, maxAttempts),
  }
  return narrow.attemptMs === undefined && narrow.maxAttempts === undefined ? undefined : narrow
}

const below = (term: number | undefined, own: number): number | undefined =>
  term === undefined || term >= own ? undefined : term

/** How long an attempt may run. */
export const attemptMsOf = ({ spec, terms }: Pick<Job, 'spec' | 'terms'>): number =>
  terms?.attemptMs ?? spec.kind.policy.attemptMs

/** How many executions may end in failure. */
export const maxAttemptsOf = ({ spec, terms }: Pick<Job, 'spec' | 'terms'>): number =>
  terms?.maxAttempts ?? spec.kind.policy.maxAttempts

/** Whether a job was let in; undefined where that is open, or where it ended before anybody had a word. */
export function wasLetIn(job: Job): boolean | undefined {
  if (job.state === 'denied') return false
  return job.attempt > 0 || (job.state !== 'pending' && !isEnded(job)) ? true : undefined
}
