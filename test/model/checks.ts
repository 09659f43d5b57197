/**
 * What is checked on every step: the invariants of core (its own functions, always the shipped ones), the transition
 * table, the fold, and the model's books.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from '../../src/core/command.ts'
import type { Decision } from '../../src/core/decide.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { untold } from '../../src/core/dialects/telling.ts'
import type { Event } from '../../src/core/event.ts'
import { recordBreaches, stepBreaches } from '../../src/core/invariants.ts'
import { DEAD_LETTER_REASONS, isOwned, isTerminal, type Job } from '../../src/core/job.ts'
import type { Policy } from '../../src/core/policy.ts'
import { movesFrom } from '../../src/core/transitions.ts'
import { breach, must } from './breach.ts'
import type { Core } from './core.ts'
import { account, type Ghost } from './ghost.ts'
import { requestsIn } from './row.ts'
import type { Unit } from './unit.ts'

type Accepted = Extract<Decision, { kind: 'accepted' }>
type Refused = Extract<Decision, { kind: 'refused' }>

/** A unit, or the nothing that a job is before it is enqueued. */
interface Before {
  readonly job: Job | undefined
  readonly ghost: Ghost
}

/** Judges an accepted command and gives the books after it. */
export function judge(
  core: Core,
  { job: before, ghost: books }: Before,
  command: Command | undefined,
  decision: Accepted,
  now: number,
): Ghost {
  const { events, job } = decision
  const { policy } = job.spec.kind
  must(events.length > 0, 'I3', 'accepted without an event')
  if (command !== undefined) ownedBy(books, command, now)
  inTable(before, events)
  if (before !== undefined && policy.dialect !== undefined) {
    const mute = untold(DIALECTS[policy.dialect], before, events)
    must(mute === undefined, 'letter', `nobody did what leads from ${mute?.from} to ${mute?.to}`)
  }
  let ghost = books
  let here = before
  for (const event of events) {
    const after = core.evolve(here, event)
    for (const { invariant, what } of stepBreaches(here, event, after)) breach(invariant, what)
    stamped(event, after)
    ruled(here, event, now, policy)
    blamed(ghost, event, policy)
    ghost = account(ghost, here, event, now, policy)
    here = after
  }
  must(isDeepStrictEqual(here, job), 'I3', 'folding the events does not give the record')
  agrees(job, ghost)
  told(before, decision)
  if (command?.type === 'cancel' && before !== undefined) cancelled(before, command, job)
  return ghost
}

/** Rules of single events that the table cannot tell. */
function ruled(before: Job | undefined, event: Event, now: number, policy: Policy): void {
  switch (event.type) {
    case 'enqueued':
    case 'reopened':
      return must(event.to === (policy.admission ? 'pending' : 'queued'), 'admission', `${event.type} to ${event.to}`)
    case 'denied':
      return must(
        before?.state === 'pending' || before?.attempt === 0,
        'admission',
        'denied after somebody had claimed it',
      )
    case 'signalled': {
      const { wait } = before as Job
      const { name, key } = event.payload.signal
      return must(wait?.name === name && wait.key === key, 'signal', 'woken by another signal')
    }
    case 'released': {
      if (event.reason !== 'unknown_type') return undefined
      const putOffMs = before?.needs === undefined ? 0 : 10_000
      return must(event.payload.runAt === now + putOffMs, 'needs', `put off by ${event.payload.runAt - now} ms`)
    }
    case 'retry_scheduled': {
      const { code, message } = event.payload.failure
      const ends = code === 'E_TIMEOUT' && policy.onAttemptTimeout === 'timed_out' && before?.phase === 'run'
      must(!ends || event.command === 'requeue', 'retry', 'tried again where a time limit is the end')
      if (message === 'askedAtOnce') return must(event.payload.runAt === now, 'retry', 'not when asked for')
      if (message === 'askedLate')
        return must(event.payload.runAt === before?.deadlineAt, 'retry', 'put off beyond the deadline')
      const curve = event.payload.failure.class === 'throttled' ? policy.throttled : policy.retry
      return must(
        event.payload.runAt === now + curve.baseMs,
        'retry',
        `due again after ${event.payload.runAt - now} ms`,
      )
    }
    default:
      return undefined
  }
}

/** Who was lost twice in a row was alone the second time, and has itself to blame; nobody else has. */
function blamed(ghost: Ghost, event: Event, { dialect }: Policy): void {
  if (event.command !== 'requeue' || !('failure' in event.payload) || event.payload.failure === undefined) return
  const guilty = ghost.silences > 1 && dialect === undefined
  const { code } = event.payload.failure
  must(guilty === (code === 'E_CRASH'), 'apart', `${code} after ${ghost.silences} silent ends`)
}

function cancelled(before: Job, command: Extract<Command, { type: 'cancel' }>, after: Job): void {
  if (command.mode === 'hard') must(after.state === 'cancelled', 'cancel', 'a hard cancel that did not end the job')
  else if (isOwned(before) && command.fence === undefined)
    must(after.state === before.state, 'cancel', 'a soft cancel took the job from its owner')
}

/** I8: whoever speaks under a fence has the live one, by the model's books. */
function ownedBy(ghost: Ghost, command: Command, now: number): void {
  if (!('fence' in command) || command.fence === undefined) return
  must(
    command.fence === ghost.fence,
    'I8',
    `${command.type} accepted from ${command.fence}; the fence is ${ghost.fence}`,
  )
  must(
    command.type === 'stall' || now < ghost.leaseEnd,
    'I8',
    `${command.type} accepted from an owner whose lease had ended`,
  )
}

/** The events of each command are one row of the machine. */
function inTable(before: Job | undefined, events: readonly Event[]): void {
  for (const { command, from, path, to } of requestsIn(before?.state ?? 'none', events)) {
    const known = movesFrom(command, from)?.some((move) => move.to === to && isDeepStrictEqual(move.events, path))
    must(known === true, 'I3', `no ${command} from ${from} by ${path.join(', ')} to ${to}`)
  }
}

function stamped(event: Event, after: Job): void {
  must(event.state === after.state, 'I3', `${event.type} says ${event.state}, the record ${after.state}`)
  must(
    event.attempt === after.attempt,
    'I6',
    `${event.type} says attempt ${event.attempt}, the record ${after.attempt}`,
  )
  must(event.generation === after.generation, 'I4', `${event.type} says generation ${event.generation}`)
}

/** The record against itself and against the books. */
export function agrees(job: Job, ghost: Ghost): void {
  for (const { invariant, what } of recordBreaches(job)) breach(invariant, what)
  must(job.lease?.fence === ghost.fence, 'I1', `the record names ${job.lease?.fence}, the books ${ghost.fence}`)
  must(job.stalls === ghost.stalls, 'I10', `${job.stalls} stalls on the record, ${ghost.stalls} in the books`)
  const silences = job.lastClaim?.silences ?? 0
  must(silences === ghost.silences, 'apart', `${silences} silent ends on the record, ${ghost.silences} in the books`)
  const over = job.failures - ghost.failures
  // A time limit that ends a running attempt is told as its failure: one more than the handlers said, at the end only.
  must(
    over === 0 || (over === 1 && isTerminal(job.state)),
    'I10',
    `${job.failures} failures on the record, ${ghost.failures} in the books`,
  )
  must((job.needs !== undefined) === ghost.needs, 'needs', `it needs ${job.needs}`)
  must(!ghost.cancel || job.cancel !== undefined, 'cancel', 'a requested cancel was forgotten')
  const asked = ghost.cancel || job.cancel === undefined || job.phase === 'compensate' || isTerminal(job.state)
  must(asked, 'cancel', 'a cancel that nobody requested')
  must(
    job.inbox.length === ghost.owed,
    'signal',
    `${job.inbox.length} signals in the inbox, ${ghost.owed} accepted and not given`,
  )
  const books = ghost.undo.join()
  must(job.compensations.join() === books, 'compensate', `${job.compensations.join()} to undo, ${books} in the books`)
  must(
    job.intended?.state === ghost.intended,
    'compensate',
    `going for ${job.intended?.state}, by the books ${ghost.intended}`,
  )
  const { wait } = job
  const missed = wait !== undefined && job.inbox.some(({ name, key }) => name === wait.name && key === wait.key)
  must(!missed, 'signal', 'waits for a signal that is in its inbox')
  timed(job, ghost)
  if (job.deadLetter !== undefined) lettered(job)
}

/** No timer is forgotten: the tick comes no later than the earliest of them, and a job that may run says when. */
function timed(job: Job, ghost: Ghost): void {
  if (isTerminal(job.state)) return
  must(job.deadlineAt === ghost.deadline, 'timers', 'the deadline is not the one that was set')
  must(job.startBy === ghost.startBy, 'timers', 'startBy is not the one that was set')
  const running = job.state === 'running' && job.startedAt !== undefined
  const graced = job.lease !== undefined && job.phase === 'run' && job.cancel !== undefined
  const early = job.state === 'queued' || job.state === 'claimed'
  const { attemptMs, cancelGraceMs, dialect } = job.spec.kind.policy
  // 004 fails only what runs, or was lost while it did; 001 leaves the time of an attempt to its worker.
  const ends = dialect !== '004' || job.state === 'running' || (job.state === 'stalled' && job.startedAt !== undefined)
  const clocks = [
    job.lease === undefined ? undefined : ghost.leaseEnd,
    ends ? ghost.deadline : undefined,
    early ? ghost.startBy : undefined,
    running && dialect !== '001' ? (job.startedAt as number) + attemptMs : undefined,
    graced ? (job.cancel as { requestedAt: number }).requestedAt + cancelGraceMs : undefined,
    job.wait?.timeoutAt,
  ].filter((clock) => clock !== undefined)
  const earliest = Math.min(...clocks)
  must(clocks.length === 0 || (job.nextTickAt ?? Infinity) <= earliest, 'timers', 'the next tick would come too late')
  if (job.lease !== undefined)
    must(job.lease.expiresAt === ghost.leaseEnd, 'timers', 'the lease ends at another time than granted')
  const ready = job.state === 'queued' || job.state === 'retrying' ? job.runAt : undefined
  if (job.state !== 'stalled') must(job.readyAt === ready, 'timers', `readyAt is not runAt while ${job.state}`)
}

function lettered(job: Job): void {
  const { deadLetter: letter, spec, attempt } = job
  if (letter === undefined) return
  must(DEAD_LETTER_REASONS.includes(letter.reason), 'letter', `reason ${letter.reason}`)
  must(letter.lastError !== undefined && letter.lastError.code !== '', 'letter', 'no last error')
  must(letter.attempts === attempt, 'letter', `${letter.attempts} attempts told, ${attempt} made`)
  must(
    (letter.lastOwner !== null) === attempt > 0,
    'letter',
    `last owner ${letter.lastOwner} after ${attempt} attempts`,
  )
  must(letter.correlationId === spec.correlationId, 'letter', 'no correlation')
}

/** How a wait ended is written where its handler will look. */
function told(before: Job | undefined, { events, bodies, job }: Accepted): void {
  const ended = events.filter(({ type }) => type === 'signalled' || type === 'wait_timed_out')
  must(bodies.length === ended.length, 'signal', `${ended.length} waits ended, ${bodies.length} memos written`)
  const last = events.at(-1)
  must(last?.rev === job.rev, 'I7', `the last event is rev ${last?.rev}, the record ${job.rev}`)
  must(
    job.rev === (before?.rev ?? 0) + events.length,
    'I7',
    `rev ${before?.rev ?? 0} → ${job.rev} by ${events.length} events`,
  )
}

/** A refusal must have a reason that the books share; a word that came too late is noted. */
export function judgeRefusal(
  { job, ghost }: Unit,
  command: Command,
  { refusal, annotation }: Refused,
  now: number,
  real: boolean,
): void {
  if (refusal.code !== 'STALE_FENCE' && refusal.code !== 'LEASE_EXPIRED') return
  const fence = 'fence' in command ? command.fence : undefined
  const live = fence !== undefined && fence === ghost.fence && now < ghost.leaseEnd
  must(!live, 'I8', `${command.type} from the live owner refused: ${refusal.code}`)
  must(!real || annotation !== undefined, 'late', `a late ${command.type} left no note`)
  must(annotation === undefined || annotation.attempt <= job.attempt, 'late', 'a note about an attempt that never was')
}
