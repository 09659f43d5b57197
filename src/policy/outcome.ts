/** What a policy's word comes to for a job, part by part, so that two of them can be compared as a whole, and a word with what became of a job. */
import { narrower, wasLetIn } from '../core/admission.ts'
import type { Job } from '../core/job.ts'
import { changing } from '../core/recast.ts'
import { judgedBy } from './judge.ts'
import type { Judgement } from './judgement.ts'

/** By the name of the part; a part that says nothing is absent. */
export type Outcome = Readonly<Record<string, string | undefined>>

export interface Difference {
  readonly what: string
  readonly was: string | undefined
  readonly now: string | undefined
}

export function outcomeOf({ decision, rule, redirects, throttles, constraint, approval, route }: Judgement): Outcome {
  const isIn = decision !== 'deny'
  return {
    decision,
    rule,
    topic: redirects.map(({ to, rule: by }) => `${to} by ${by}`).join(', ') || undefined,
    keys: isIn ? listed(throttles.map(({ key, limit }) => `${key} ${told(limit)}`)) : undefined,
    timeout: isIn ? told(constraint?.timeout) : undefined,
    attempts: isIn ? told(constraint?.attempts) : undefined,
    labels: isIn ? labelled(constraint?.labels) : undefined,
    approval: isIn ? approval && `within ${approval.expiresMs} ms${approval.fourEyes ? ', four eyes' : ''}` : undefined,
    route: isIn ? route && `${route.id} ${told([route.pool, route.requires, route.nobody])}` : undefined,
  }
}

/**
 * What a record tells of what admission made of a job, and what a word would make of the same one; undefined where that is open. Which rule
 * has let it in, and whom it was routed to, a record does not tell.
 */
export function besideRecord(job: Job, asked: Job, judgement: Judgement): { was: Outcome; now: Outcome } | undefined {
  const letIn = wasLetIn(job)
  if (letIn === undefined) return undefined
  const { verdict, terms, recast } = job
  const was: Outcome = letIn
    ? {
        decision: LET_IN,
        topic: recast?.redirect?.to,
        keys: listed(recast?.keys),
        timeout: told(terms?.attemptMs),
        attempts: told(terms?.maxAttempts),
        labels: labelled(recast?.labels),
      }
    : { decision: TURNED_AWAY, rule: verdict?.rule }
  const { decision, rule, redirects } = judgement
  if (decision === 'deny') return { was, now: { decision: TURNED_AWAY, rule: letIn ? undefined : rule } }
  const judged = judgedBy(judgement)
  const made = changing(asked, judged.recast && { ...judged.recast, redirect: undefined })
  const narrow = narrower(asked, judged.terms)
  const now: Outcome = {
    decision: decision === 'require_approval' ? TO_BE_APPROVED : LET_IN,
    topic: redirects.at(-1)?.to,
    keys: listed(made?.throttles?.map(({ key }) => key)),
    timeout: told(narrow?.attemptMs),
    attempts: told(narrow?.maxAttempts),
    labels: labelled(made?.labels),
  }
  return { was, now: letIn ? now : { decision: now['decision'] } }
}

const LET_IN = 'let in'
const TURNED_AWAY = 'turned away'
const TO_BE_APPROVED = 'to be approved'

/** Part by part, in their order. */
export function differences(was: Outcome, now: Outcome): readonly Difference[] {
  const parts = [...new Set([...Object.keys(was), ...Object.keys(now)])]
  return parts.filter((what) => was[what] !== now[what]).map((what) => ({ what, was: was[what], now: now[what] }))
}

const told = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))

const listed = (names: readonly string[] | undefined): string | undefined =>
  names === undefined || names.length === 0 ? undefined : names.toSorted().join(', ')

const labelled = (labels: Readonly<Record<string, string>> | undefined): string | undefined =>
  listed(labels && Object.entries(labels).map(([name, value]) => `${name}=${value}`))
