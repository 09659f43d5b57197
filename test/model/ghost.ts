/**
 * The oracle: the model's own books about a job, kept beside the record from the accepted events alone and by rules
 * written down a second time, as plainly as possible. Whatever core and these books disagree about is a finding.
 */
import type { Event } from '../../src/core/event.ts'
import { isTerminal, type Job, type State } from '../../src/core/job.ts'
import type { Policy } from '../../src/core/policy.ts'
import { must } from './breach.ts'

type Recorded = Extract<Event, { type: 'recorded' }>['payload']

export interface Ghost {
  /** The one fence that may speak, and until when. */
  readonly fence: string | undefined
  readonly leaseEnd: number
  /** Of this generation and phase. */
  readonly failures: number
  readonly stalls: number
  /** Claims in a row that ended without a word; 2 stands for more. */
  readonly silences: number
  /** Somebody handed it back who does not know its type. */
  readonly needs: boolean
  /** A soft cancel was accepted and the job has not ended since. */
  readonly cancel: boolean
  /** Signals accepted that no wait has been given yet. */
  readonly owed: number
  /** Steps to undo. */
  readonly undo: readonly string[]
  /** Where a compensating job is going. */
  readonly intended: State | undefined
  readonly deadline: number | undefined
  readonly startBy: number | undefined
  /** A duplicate has come since somebody began: with the end comes another job, unless a cancel says not. */
  readonly next: boolean
  readonly drops: boolean
  /** Somebody was asked about the job as it is now. */
  readonly asked: boolean
}

export const BORN: Ghost = {
  fence: undefined,
  leaseEnd: 0,
  failures: 0,
  stalls: 0,
  silences: 0,
  needs: false,
  cancel: false,
  owed: 0,
  undo: [],
  intended: undefined,
  deadline: undefined,
  startBy: undefined,
  next: false,
  drops: false,
  asked: false,
}

/** The books after one more event, and whether it was allowed to happen. */
export function account(ghost: Ghost, before: Job | undefined, event: Event, now: number, policy: Policy): Ghost {
  const owned = event.state === 'claimed' || event.state === 'running'
  const silences = owned || ghost.fence === undefined ? ghost.silences : silenced(ghost, event)
  const next = {
    ...ghost,
    silences,
    ...entered(ghost, event, now, policy),
    ...told(ghost, event, policy),
    ...(bringsAnother(before, event) && { asked: false }),
  }
  if (event.type === 'claimed') mayClaim(ghost, before, now, policy)
  if (event.type === 'stalled') mayStall(ghost, event, now)
  if (event.type === 'replaced') mayReplace(before, event, policy)
  if (event.type === 'approved') must(ghost.asked, 'I16', 'approved, and nobody was asked about what it says now')
  if (event.type === 'started') return { ...next, startBy: undefined }
  if (isTerminal(event.state)) mayEnd(ghost, event)
  if (isTerminal(event.state))
    return { ...next, fence: undefined, cancel: false, deadline: undefined, startBy: undefined }
  return owned ? next : { ...next, fence: undefined }
}

/** Somebody has had its input in hand. */
export const isBegun = ({ state, attempt }: Job): boolean => attempt > 0 || (state !== 'pending' && state !== 'queued')

/** Somebody has let it in as it was. */
export const isLetIn = ({ state }: Job, { admission }: Policy): boolean => admission && state !== 'pending'

const bringsAnother = (before: Job | undefined, event: Event): boolean =>
  event.type === 'replaced' && event.payload.newer.input !== before?.newer?.input

function mayReplace(before: Job | undefined, event: Extract<Event, { type: 'replaced' }>, policy: Policy): void {
  const { newer } = event.payload
  const isNext = before !== undefined && isBegun(before)
  const isFixed = before !== undefined && isLetIn(before, policy)
  // Of what was let in a duplicate without an input may still move the time.
  if (!isFixed) must(isNext === (newer.next !== undefined), 'I3', 'a newer input is where nobody would look for it')
  if (isNext) must(newer.input === before.newer?.input, 'I3', 'the input has changed under who runs it')
  if (isFixed) must(newer.input === before.newer?.input, 'I3', 'the input has changed after somebody let it in')
}

/** Whoever hands a job back has not seen what it does; whoever ends its run in any other way has. */
function silenced({ silences }: Ghost, event: Event): number {
  if (event.type === 'stalled') return Math.min(2, silences + 1)
  return event.type === 'released' && event.reason !== 'snoozed' ? silences : 0
}

/** Where a document has no way from an orphan to an end, losing one costs nothing: 001 has none, 000B and 004 from what ran. */
const costs = ({ from }: Event, { dialect }: Policy): boolean =>
  dialect !== '001' && ((dialect !== '000B' && dialect !== '004') || from === 'running')

/** Two missed heartbeats, or the lease, whichever is shorter. */
export const windowMs = (policy: Policy): number =>
  Math.min(policy.leaseMs, policy.missedHeartbeats * policy.heartbeatMs + 1_000)

function entered(ghost: Ghost, event: Event, now: number, policy: Policy): Partial<Ghost> {
  const fresh = { failures: 0, stalls: 0, cancel: false, intended: undefined }
  switch (event.type) {
    case 'enqueued':
      return {
        ...limits(event.payload.runAt, now, policy),
        failures: event.payload.failures,
        stalls: event.payload.stalls,
      }
    case 'reopened':
      return { ...fresh, ...limits(event.payload.runAt, now, policy) }
    case 'admitted':
      return { startBy: limits(event.payload.runAt, now, policy).startBy }
    case 'released':
    case 'rescheduled':
      // Putting a job off puts off the time by which it must have started, and never brings it forward.
      return ghost.startBy === undefined
        ? {}
        : { startBy: Math.max(ghost.startBy, event.payload.runAt + (policy.startWithinMs ?? 0)) }
    case 'compensating':
      return {
        ...fresh,
        intended: event.payload.intended.state,
        deadline: now + policy.compensateWithinMs,
        startBy: undefined,
      }
    case 'claimed':
      return { fence: event.payload.fence, leaseEnd: now + windowMs(policy) }
    case 'heartbeat':
      return { leaseEnd: now + windowMs(policy) }
    case 'stalled':
      return { stalls: ghost.stalls + (costs(event, policy) ? 1 : 0) }
    case 'retry_scheduled':
      return { startBy: undefined, ...(event.command === 'requeue' ? {} : { failures: ghost.failures + 1 }) }
    case 'failed':
    case 'dead_lettered':
    case 'timed_out':
      return isOfAnAttempt(event) ? { failures: ghost.failures + 1 } : {}
    case 'started':
      return policy.dialect === '004' && ghost.deadline === undefined && policy.deadlineMs !== undefined
        ? { deadline: now + policy.deadlineMs }
        : {}
    default:
      return {}
  }
}

/** Told by its owner, or by a time limit that ran out while somebody owned it. */
const isOfAnAttempt = ({ command, from }: Event): boolean =>
  command === 'fail' || (command === 'expire' && (from === 'claimed' || from === 'running'))

/** In 004 the deadline is a wall clock, which begins with the first start; in 002 nothing that waits is late. */
const limits = (runAt: number, now: number, { dialect, deadlineMs, startWithinMs }: Policy) => ({
  deadline: deadlineMs === undefined || dialect === '004' ? undefined : now + deadlineMs,
  startBy: startWithinMs === undefined || dialect === '002' ? undefined : runAt + startWithinMs,
})

/** Documents that know no release. */
const NO_RELEASE: readonly string[] = ['001', '002', '004']

/** Needs, cancels, signals, steps. */
function told(ghost: Ghost, event: Event, { dialect }: Policy): Partial<Ghost> {
  switch (event.type) {
    case 'released':
      return event.reason === 'unknown_type' ? { needs: true } : {}
    // What nobody could hand back is for those who know it, as soon as it is queued.
    case 'enqueued':
    case 'admitted':
      return event.to === 'queued' && NO_RELEASE.includes(dialect ?? '') ? { needs: true } : {}
    case 'stalled':
      return event.from === 'claimed' && NO_RELEASE.includes(dialect ?? '') ? { needs: true } : {}
    case 'cancel_requested':
      return { cancel: true }
    case 'signal_stored':
      return { owed: ghost.owed + 1 }
    case 'signalled':
      return event.payload.stored ? { owed: ghost.owed - 1 } : {}
    case 'recorded':
      return { undo: stillToUndo(ghost.undo, event.payload) }
    case 'compensated':
      return { undo: [] }
    case 'approval_asked':
      return { asked: true }
    case 'replaced':
      return { next: event.payload.newer.next !== undefined }
    case 'reopened':
      return { next: false, drops: false }
    default:
      return {}
  }
}

function stillToUndo(undo: readonly string[], { step, undone }: Recorded): readonly string[] {
  const all = step?.compensate === true ? [...undo, step.name] : undo
  return all.filter((name) => name !== undone)
}

function mayClaim(ghost: Ghost, before: Job | undefined, now: number, policy: Policy): void {
  must(ghost.fence === undefined, 'I1', 'claimed while somebody owns it')
  must(!ghost.cancel, 'cancel', 'run again although a cancel was requested')
  must(!spent(ghost, policy), 'I10', `run again after ${ghost.failures} failures and ${ghost.stalls} lost leases`)
  must((before?.runAt ?? now) <= now, 'timers', 'claimed before its time')
  // In 004 the wall clock ends what runs, and nothing that waits for its retry.
  const { deadline = now + 1, startBy = now + 1 } = ghost
  if (policy.dialect !== '004') must(deadline > now, 'timers', 'claimed after its deadline')
  // An orphan has been claimed in time, and may be claimed again.
  must(startBy > now || before?.state === 'stalled', 'timers', 'claimed although it was not started in time')
}

const spent = ({ failures, stalls }: Ghost, { budget, maxAttempts, maxStalls }: Policy): boolean =>
  budget === 'shared' ? failures + stalls >= maxAttempts : failures >= maxAttempts || stalls > maxStalls

function mayStall(ghost: Ghost, event: Event, now: number): void {
  const late = event.command === 'expire' && ghost.startBy !== undefined && ghost.startBy <= now
  must(ghost.fence !== undefined, 'I1', 'reaped although nobody owned it')
  must(ghost.leaseEnd <= now || late, 'timers', 'reaped before its lease ended')
}

/** No way out forgets the compensations, and a compensation ends where it was going. */
function mayEnd(ghost: Ghost, event: Event): void {
  const hard = event.command === 'cancel' && event.type === 'cancelled' && event.payload.cancel.mode === 'hard'
  const happy = event.state === 'succeeded' || event.state === 'denied'
  if (ghost.intended === undefined) {
    must(
      happy || hard || ghost.undo.length === 0,
      'compensate',
      `${event.state} with ${ghost.undo.length} steps not undone`,
    )
    return
  }
  if (hard || event.command === 'deadLetter') return
  if (event.command === 'compensated') {
    must(event.state === ghost.intended, 'compensate', `went for ${ghost.intended}, ended ${event.state}`)
    return
  }
  const gaveUp = event.type === 'dead_lettered' && event.payload.deadLetter.reason === 'compensation_failed'
  must(gaveUp, 'compensate', `ended ${event.state} by ${event.command} before its steps were undone`)
}
