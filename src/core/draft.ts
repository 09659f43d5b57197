/**
 * One decision in the making: the events so far and the job as they leave it. Each event is folded in as it is made,
 * so the next one is stamped from the truth and a decision can never disagree with `evolve`.
 */
import { assert } from './assert.ts'
import type { Command } from './command.ts'
import type { Event, ObservationPayloads, ObservationType, TransitionPayloads, TransitionType } from './event.ts'
import { evolve } from './evolve.ts'
import type { Job, State, Time } from './job.ts'
import { digestOf } from './receipt.ts'

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
  readonly events: Event[]
  readonly bodies: MemoBody[]
  readonly digest: string
}

export const draft = (job: Job, command: Command, now: Time): Draft => ({
  job,
  command,
  at: Math.max(now, job.updatedAt),
  events: [],
  bodies: [],
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
  circumstance: Circumstance = {},
): void {
  assert(d.job.state !== to, `${type} changes the state`)
  const seq = d.job.seq + 1
  add(d, { ...stamp(d, circumstance), type, seq, from: d.job.state, to, state: to, payload } as Event)
}

/** Something worth knowing that changes no state. */
export function observe<T extends ObservationType | 'compensating'>(
  d: Draft,
  type: T,
  payload: T extends ObservationType ? ObservationPayloads[T] : TransitionPayloads['compensating'],
  circumstance: Circumstance = {},
): void {
  const { state } = d.job
  add(d, { ...stamp(d, circumstance), type, seq: undefined, from: undefined, to: undefined, state, payload } as Event)
}

function add(d: Draft, event: Event): void {
  d.job = evolve(d.job, event)
  d.events.push(event)
}

function stamp(d: Draft, { reason, at, attempt, generation }: Circumstance) {
  const { job, command } = d
  return {
    jobId: job.id,
    rev: job.rev + 1,
    at: at ?? d.at,
    actor: command.actor,
    command: command.type,
    requestId: command.requestId,
    digest: d.digest,
    correlationId: command.correlationId ?? job.spec.correlationId,
    traceparent: command.traceparent ?? job.spec.traceparent,
    cause: command.cause,
    reason,
    generation: generation ?? job.generation,
    attempt: attempt ?? job.attempt,
    version: 1 as const,
  }
}
