/** What always holds, numbered. The model checker, the conformance suite and `verify` check these very functions. */
import { maxAttemptsOf } from './admission.ts'
import type { Event } from './event.ts'
import { fenceOf, nonceIn } from './fence.ts'
import { isOwned, isTerminal, type Job, RANK } from './job.ts'
import { needOf, withType } from './needs.ts'
import { askedOf } from './recast.ts'

export const INVARIANTS = {
  I1: 'At most one live lease per job, and it names exactly one fence.',
  I2: '(generation, attempt, rank) strictly increases on every state change.',
  I3: 'Exactly one transition event per state change; seq is gap-free; folding the events gives the record.',
  I4: 'Terminal states never change within a generation.',
  I5: 'Each state has exactly its fields: owner and lease while owned, a result when succeeded, an error when it ended badly, a wait while suspended, runAt before it runs; terminal records have no timer; what a job needs is its own type and what routing has asked for, and stays until it is let in anew.',
  I6: 'attempt + 1 exactly on claim, never elsewhere, never reset.',
  I7: 'rev + 1 per accepted event, unchanged by a refusal or a replay.',
  I8: 'No owner command with another fence is ever accepted.',
  I9: 'Every acknowledged enqueue has a record: accepted = live + terminal + purged.',
  I10: 'Per generation and phase: executions ending in failure ≤ maxAttempts, stalls ≤ maxStalls + 1; shared: their sum ≤ maxAttempts.',
  I11: 'A projection never runs ahead of the ledger and converges on it.',
  I12: 'At most one live job per (tenant, type, dedupeKey).',
  I13: 'Concurrency and rate limits are never exceeded, measured from the events.',
  I14: 'After close, connections, listeners, timers and heap are back at the baseline.',
  I15: 'Once faults stop, every runnable job reaches a terminal state within its stated bounds.',
  I16: 'Every accepted mutation names actor, request and correlation.',
} as const

export type InvariantName = keyof typeof INVARIANTS

export interface Breach {
  readonly invariant: InvariantName
  readonly what: string
}

/** What is wrong with a step from one record to the next by one event. */
export function stepBreaches(before: Job | undefined, event: Event, after: Job): readonly Breach[] {
  const found: Breach[] = []
  const breach = (invariant: InvariantName, what: string) => found.push({ invariant, what })
  const beats = event.type === 'heartbeat' ? event.payload.count : event.type === 'compacted' ? event.payload.count : 1
  if (after.rev !== event.rev || event.rev !== (before?.rev ?? 0) + beats)
    breach('I7', `rev ${before?.rev ?? 0} → ${event.rev}`)
  if (event.actor === '' || event.requestId === '' || event.correlationId === '') breach('I16', 'anonymous')
  const moved = before?.state !== after.state
  if (moved !== (event.seq !== undefined)) breach('I3', `${event.type} ${moved ? 'moved' : 'did not move'} the job`)
  if (event.seq !== undefined && (event.seq !== (before?.seq ?? 0) + 1 || after.seq !== event.seq))
    breach('I3', `seq ${before?.seq ?? 0} → ${event.seq}`)
  if (event.seq !== undefined && (event.from !== before?.state || event.to !== after.state))
    breach('I3', `${event.type} says ${event.from} → ${event.to}`)
  if (before !== undefined) found.push(...moveBreaches(before, event, after, moved))
  return found
}

function moveBreaches(before: Job, event: Event, after: Job, moved: boolean): readonly Breach[] {
  const found: Breach[] = []
  const breach = (invariant: InvariantName, what: string) => found.push({ invariant, what })
  if (moved && !isForward(before, after)) breach('I2', `${triple(before)} → ${triple(after)}`)
  if (moved && isTerminal(before.state) && after.generation === before.generation)
    breach('I4', `${before.state} → ${after.state}`)
  const claims = event.type === 'claimed' ? 1 : 0
  if (after.attempt !== before.attempt + claims)
    breach('I6', `attempt ${before.attempt} → ${after.attempt} by ${event.type}`)
  if (isOwned(before) && isOwned(after) && before.lease.fence !== after.lease?.fence)
    breach('I1', 'the fence changed under its owner')
  if (after.updatedAt < before.updatedAt) breach('I3', 'time ran backwards')
  if (before.spec !== after.spec && event.type !== 'admitted' && event.type !== 'reopened')
    breach('I5', 'it is something else than it was admitted as')
  if (!staysNeeded(before, event, after)) breach('I5', 'it needs something else than before')
  return found
}

/** What is wrong with a record by itself. */
export function recordBreaches(job: Job): readonly Breach[] {
  const found: Breach[] = []
  const breach = (invariant: InvariantName, what: string) => found.push({ invariant, what })
  for (const [field, states] of Object.entries(FIELDS)) {
    const has = job[field as keyof typeof FIELDS] !== undefined
    if (has !== states.includes(job.state)) breach('I5', `${field} is ${has ? 'present' : 'absent'} while ${job.state}`)
  }
  if (
    isTerminal(job.state) &&
    (job.nextTickAt !== undefined ||
      job.readyAt !== undefined ||
      job.deadlineAt !== undefined ||
      job.startBy !== undefined)
  ) {
    breach('I5', `a timer survives in ${job.state}`)
  }
  if ((job.phase === 'compensate') !== (job.intended !== undefined))
    breach('I5', 'a compensation knows its ending, and only a compensation does')
  if (job.approval !== undefined && job.state !== 'pending') breach('I5', `an approval is asked for in ${job.state}`)
  if (askedOf(job).kind.tenant !== job.spec.kind.tenant) breach('I5', 'it is another tenant’s')
  const { type = job.spec.kind.type } = needOf(job.needs)
  if (type !== job.spec.kind.type) breach('I5', `it needs type ${type}`)
  const { maxStalls, budget } = job.spec.kind.policy
  const maxAttempts = maxAttemptsOf(job)
  const { failures, stalls } = job
  if (budget === 'shared' ? failures + stalls > maxAttempts : failures > maxAttempts || stalls > maxStalls + 1) {
    breach('I10', `${failures} failures and ${stalls} stalls`)
  }
  if (job.lease !== undefined && job.lease.fence !== fenceOf(job.generation, job.attempt, nonceIn(job.lease.fence)))
    breach('I1', `fence ${job.lease.fence}`)
  return found
}

/** Nothing is taken away: its type is added to what routing has asked for. That is asked for when it is let in, each chance anew. */
function staysNeeded({ needs, spec }: Job, { type }: Event, after: Job): boolean {
  if (needs === undefined || needs === after.needs) return true
  const typed = needOf(needs).type
  // Its type may be another then: which one, the record by itself says.
  if (type === 'admitted' || type === 'reopened') return typed === undefined || needOf(after.needs).type !== undefined
  return withType(needs, spec.kind.type) === after.needs
}

/** Which states have which field, and no others. */
export const FIELDS = {
  runAt: ['pending', 'queued', 'retrying'],
  owner: ['claimed', 'running'],
  lease: ['claimed', 'running'],
  wait: ['waiting', 'parked'],
  result: ['succeeded'],
  error: ['failed', 'dead_lettered', 'timed_out'],
  deadLetter: ['dead_lettered'],
  verdict: ['denied'],
  endedAt: ['succeeded', 'failed', 'cancelled', 'timed_out', 'denied', 'dead_lettered'],
} as const satisfies Record<string, readonly Job['state'][]> as Readonly<
  Record<
    'runAt' | 'owner' | 'lease' | 'wait' | 'result' | 'error' | 'deadLetter' | 'verdict' | 'endedAt',
    readonly Job['state'][]
  >
>

export const isForward = (before: Job, after: Job): boolean =>
  after.generation !== before.generation
    ? after.generation > before.generation
    : after.attempt !== before.attempt
      ? after.attempt > before.attempt
      : RANK[after.state] > RANK[before.state]

const triple = (job: Job): string => `(${job.generation}, ${job.attempt}, ${job.state})`
