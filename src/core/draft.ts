/**
 * One decision in the making: the events so far and the job as they leave it. Each event is folded in as it is made,
 * so the next one is stamped from the truth and a decision can never disagree with `evolve`.
 */
import { assert } from './assert.ts'
import type { Command } from './command.ts'
import type { Event, ObservationPayloads, ObservationType, TransitionPayloads, TransitionType } from './event.ts'
import { evolve, evolveOwn } from './evolve.ts'
import type { Job, State, Time } from './job.ts'
import { digestOf } from './receipt.ts'
import { NO_STEPS, type Step } from './steps.ts'

export interface MemoBody {
  readonly name: string
  readonly text: string
}

export interface Draft {
  /** The record as it would be now. */
  job: Job
  readonly command: Command
  /** Never before the job's last event: `at` does not decrease within a job. */
  readonly at: Time
  readonly steps: readonly Step[]
  events: readonly Event[]
  bodies: readonly MemoBody[]
  readonly digest: string
}

export const draft = (job: Job, command: Command, now: Time, steps: readonly Step[] = NO_STEPS): Draft => ({
  job,
  command,
  at: Math.max(now, job.updatedAt),
  steps,
  // Not new ones for each: a list that is pushed to makes room for seventeen, and most commits have one or two.
  events: NO_EVENTS,
  bodies: NO_BODIES,
  digest: digestOf(command),
})

export interface Circumstance {
  readonly reason?: string | undefined
  /** For an implicit start, which happened before it is told. */
  readonly at?: Time | undefined
  readonly attempt?: number | undefined
  readonly generation?: number | undefined
}

/** A state change. */
export function change<T extends TransitionType>(
  d: Draft,
  type: T,
  to: State,
  payload: TransitionPayloads[T],
  circumstance: Circumstance = NO_CIRCUMSTANCE,
): void {
  const { state: from } = d.job
  assert(from !== to, 'a state change changes the state')
  const seq = d.job.seq + 1
  add(d, event(d, type, seq, from, to, payload, circumstance))
}

/** Something worth knowing that changes no state. */
export function observe<T extends ObservationType | 'compensating'>(
  d: Draft,
  type: T,
  payload: T extends ObservationType ? ObservationPayloads[T] : TransitionPayloads['compensating'],
  circumstance: Circumstance = NO_CIRCUMSTANCE,
): void {
  add(d, event(d, type, undefined, undefined, undefined, payload, circumstance))
}

function add(d: Draft, event: Event): void {
  if (d.events.length === 0) {
    d.job = evolve(d.job, event)
    d.events = [event]
  } else {
    d.job = evolveOwn(d.job, event)
    d.events = [...d.events, event]
  }
}

/** One literal with all its keys: a stamp spread into it was made for nothing but to be copied. */
function event(
  { job, command, at: now, digest }: Draft,
  type: Event['type'],
  seq: number | undefined,
  from: State | undefined,
  to: State | undefined,
  payload: object,
  { reason, at, attempt, generation }: Circumstance,
): Event {
  return {
    jobId: job.id,
    rev: job.rev + 1,
    at: at ?? now,
    actor: command.actor,
    command: command.type,
    requestId: command.requestId,
    digest,
    correlationId: command.correlationId ?? job.spec.correlationId,
    traceparent: command.traceparent ?? job.spec.traceparent,
    cause: command.cause,
    reason,
    generation: generation ?? job.generation,
    attempt: attempt ?? job.attempt,
    version: 1,
    type,
    seq,
    from,
    to,
    state: to ?? job.state,
    payload,
  } as Event
}

const NO_CIRCUMSTANCE: Circumstance = {}
const NO_EVENTS: readonly Event[] = []
const NO_BODIES: readonly MemoBody[] = []
