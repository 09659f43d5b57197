/**
 * The heart. `decide` answers a command with the events it causes, with the answer it was given before, or with a
 * refusal; it never throws for a domain reason, reads no clock and changes nothing.
 *
 * The order of the checks is part of the contract: words that make no sense (INVALID), repetitions, ownership,
 * revision, the job's dialect, the table, and last the command's own guards.
 */
import { assert } from './assert.ts'
import type { Command, Enqueue } from './command.ts'
import { decideAdmit } from './decide/admit.ts'
import { decideApprove } from './decide/approve.ts'
import { decideAskApproval } from './decide/ask-approval.ts'
import { decideCancel } from './decide/cancel.ts'
import { decideCheckpoint } from './decide/checkpoint.ts'
import { decideClaim } from './decide/claim.ts'
import { decideCompensated } from './decide/compensated.ts'
import { decideComplete } from './decide/complete.ts'
import { decideDeadLetter } from './decide/dead-letter.ts'
import { decideDeny } from './decide/deny.ts'
import { bornAs, enqueued, sameEnqueue } from './decide/enqueue.ts'
import { decideExpire } from './decide/expire.ts'
import { decideFail } from './decide/fail.ts'
import { decideHeartbeat } from './decide/heartbeat.ts'
import { decideProgress } from './decide/progress.ts'
import { decideRecord } from './decide/record.ts'
import { decideRelease } from './decide/release.ts'
import { decideReopen } from './decide/reopen.ts'
import { decideReplace } from './decide/replace.ts'
import { decideRequeue } from './decide/requeue.ts'
import { decideReschedule } from './decide/reschedule.ts'
import { decideSignal } from './decide/signal.ts'
import { decideStall } from './decide/stall.ts'
import { decideStart } from './decide/start.ts'
import { decideStrip } from './decide/strip.ts'
import { decideWait } from './decide/wait.ts'
import { bondOf } from './dialects/bond.ts'
import { prohibitedCommand, prohibitedEvents } from './dialects/strict.ts'
import { type Draft, draft, type MemoBody } from './draft.ts'
import type { Annotation, Event } from './event.ts'
import { evolve } from './evolve.ts'
import { isEnded, type Job, type Receipt, type Time } from './job.ts'
import { annotationOf } from './late.ts'
import { nextOf } from './newer.ts'
import { ownership, type Trespass } from './ownership.ts'
import { askedOf } from './recast.ts'
import { alreadyDone, repetition } from './receipt.ts'
import type { Refusal } from './refusal.ts'
import { refuse } from './refuse.ts'
import type { Ruling } from './ruling.ts'
import { NO_STEPS, type Step } from './steps.ts'
import { tickCommand } from './tick.ts'
import { isCommand, type Move, movesFrom } from './transitions.ts'
import { validate } from './validate.ts'

export type Decision =
  | {
      readonly kind: 'accepted'
      readonly events: readonly Event[]
      /** The record with the events applied. */
      readonly job: Job
      /** Memos that core itself writes: how a wait ended. */
      readonly bodies: readonly MemoBody[]
      /** A job to enqueue in the same commit (002: a retry is a new job). */
      readonly successor: Omit<Enqueue, 'id'> | undefined
    }
  | { readonly kind: 'replayed'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly annotation: Annotation | undefined }

/**
 * `caused`: the events this request id has caused already, where the caller knows of any. `steps`: where the store's clock
 * was set forward.
 */
export function decide(
  job: Job | undefined,
  command: Command,
  now: Time,
  caused: readonly Event[] = NONE,
  steps: readonly Step[] = NO_STEPS,
): Decision {
  const violations = validate(command, now)
  if (violations.length > 0) return refused(refuse('INVALID', { command: nameOf(command), job, violations }))
  if (command.type === 'enqueue') return decideEnqueue(job, command, now)
  if (job === undefined) return refused(refuse('NOT_FOUND', { command: command.type }))

  const before = repetition(job, command, caused)
  if (before?.kind === 'replay') return { kind: 'replayed', receipt: before.receipt }
  if (before?.kind === 'reuse') {
    const message = `Request ${command.requestId} was a ${before.receipt.command} at rev ${before.receipt.rev} of job ${job.id}.`
    return refused(refuse('REQUEST_ID_REUSED', { command: command.type, job, message }))
  }
  const done = alreadyDone(job, command)
  if (done !== undefined) return { kind: 'replayed', receipt: done }

  const common = commonRefusal(job, command, now, steps)
  if (common !== undefined) return common

  const d = draft(job, command, now, steps)
  const rule = RULES[command.type] as (d: Draft, job: Job, command: Command) => Ruling
  const ruling = rule(d, job, command)
  if (ruling !== undefined && 'code' in ruling) {
    return refused(refuse(ruling.code, { ...ruling, command: command.type, job }))
  }
  const mute = prohibitedEvents(job, command, d.events)
  if (mute !== undefined) return refused(refuse(mute.code, { command: command.type, job, message: mute.message }))
  return accepted(job, d, ruling?.successor ?? nextOf(d, job))
}

/** A tick is not a command: core resolves it into stall, requeue, expire or cancel. Undefined: nothing is due. */
export function decideTick(
  job: Job,
  now: Time,
  asked: { readonly actor: string; readonly requestId: string },
  steps: readonly Step[] = NO_STEPS,
): Decision | undefined {
  const command = tickCommand(job, now, asked, steps)
  if (command === undefined) return undefined
  // The ticker states which revision it judged, as every command on a job bound to 001 must.
  const first = decide(job, { ...command, expectedRev: job.rev }, now, NONE, steps)
  if (first.kind !== 'accepted' || first.job.state !== 'stalled') return first
  // An orphan found by the ticker does not stay one: stall and requeue are two transitions in one commit.
  const requestId = `${asked.requestId}/requeue`
  const second = decide(first.job, { ...asked, requestId, type: 'requeue', expectedRev: first.job.rev }, now)
  assert(second.kind === 'accepted', 'a stalled job can be requeued')
  return { ...second, events: [...first.events, ...second.events], bodies: [...first.bodies, ...second.bodies] }
}

function decideEnqueue(job: Job | undefined, command: Enqueue, now: Time): Decision {
  if (job === undefined) {
    const event = enqueued(command, now)
    return { kind: 'accepted', events: [event], job: evolve(undefined, event), bodies: [], successor: undefined }
  }
  if (sameEnqueue({ id: job.id, spec: askedOf(job) }, command)) {
    const { requestId } = command
    return {
      kind: 'replayed',
      receipt: {
        requestId,
        command: 'enqueue',
        digest: '',
        rev: 1,
        state: bornAs(job.spec.kind.policy),
        at: job.spec.createdAt,
      },
    }
  }
  const message = `Job ${job.id} was enqueued with other words.`
  return refused(refuse('ID_TAKEN', { command: 'enqueue', job, message, holder: job.id }))
}

/** Everything that is judged alike for all commands: ownership, revision, dialect, table. */
function commonRefusal(job: Job, command: Command, now: Time, steps: readonly Step[]): Decision | undefined {
  const trespass = ownership(job, command, now, steps)
  if (trespass !== undefined) return late(job, command, now, trespass)

  const { expectedRev } = command
  const base = bondOf(job.spec.kind.policy).exactRevision ? job.rev : job.baseRev
  if (expectedRev !== undefined && (expectedRev < base || expectedRev > job.rev)) {
    const others = base === job.rev ? '' : `, last changed by others at rev ${base}`
    const message = `Expected rev ${expectedRev} of job ${job.id}; it is at rev ${job.rev}${others}.`
    return refused(refuse('REV_CONFLICT', { command: command.type, job, message }))
  }
  const strict = prohibitedCommand(job, command)
  if (strict !== undefined) {
    return refused(refuse(strict.code, { command: command.type, job, message: strict.message }))
  }
  if (movesFrom(command.type, job.state) !== undefined) return undefined
  const code = isEnded(job) ? 'ENDED' : 'ILLEGAL_TRANSITION'
  const message = `Job ${job.id} is ${job.state}; the machine has no ${command.type} from there.`
  return refused(refuse(code, { command: command.type, job, message }))
}

const NONE: readonly Event[] = []

/** One rule per command, each in a file of its own. */
const RULES: {
  readonly [T in Exclude<Command, Enqueue>['type']]: (
    d: Draft,
    job: Job,
    command: Extract<Command, { type: T }>,
  ) => Ruling
} = {
  admit: decideAdmit,
  deny: decideDeny,
  askApproval: decideAskApproval,
  approve: decideApprove,
  claim: decideClaim,
  start: decideStart,
  heartbeat: decideHeartbeat,
  progress: decideProgress,
  checkpoint: decideCheckpoint,
  record: decideRecord,
  complete: decideComplete,
  fail: decideFail,
  wait: decideWait,
  signal: decideSignal,
  release: decideRelease,
  reschedule: decideReschedule,
  replace: decideReplace,
  stall: decideStall,
  requeue: decideRequeue,
  cancel: decideCancel,
  expire: decideExpire,
  deadLetter: decideDeadLetter,
  compensated: decideCompensated,
  reopen: decideReopen,
  strip: decideStrip,
}

function accepted(before: Job, d: Draft, successor: Omit<Enqueue, 'id'> | undefined): Decision {
  const moves = movesFrom(d.command.type, before.state)
  assert(moves !== undefined && isAmong(moves, d), 'every move is in the table')
  return { kind: 'accepted', events: d.events, job: d.job, bodies: d.bodies, successor }
}

function isAmong(moves: readonly Move[], { job, events }: Draft): boolean {
  let found = false
  for (const { to, events: types } of moves) found ||= to === job.state && sameEvents(types, events)
  return found
}

function sameEvents(types: readonly string[], events: readonly Event[]): boolean {
  let same = types.length === events.length
  for (let i = 0; i < types.length; i += 1) same &&= types[i] === events[i]?.type
  return same
}

const refused = (refusal: Refusal): Decision => ({ kind: 'refused', refusal, annotation: undefined })

function late(job: Job, command: Command, now: Time, trespass: Trespass): Decision {
  const refusal = refuse(trespass.code, { command: command.type, job, message: trespass.message })
  return { kind: 'refused', refusal, annotation: annotationOf(job, command, now, trespass) }
}

/** An unknown command has no name the refusal could carry. */
const nameOf = (command: unknown): Command['type'] | undefined => {
  const type = (command as Partial<Command> | null | undefined)?.type
  return isCommand(type) ? type : undefined
}
