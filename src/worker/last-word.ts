/** The words that end a run, as commands with the texts they refer to. */
import { bodyRef, mayWrite } from '../core/body.ts'
import type { Fail, Fault, ReleaseReason } from '../core/command.ts'
import { wordForInvalidInput } from '../core/decide/fail.ts'
import type { Stage, Time } from '../core/job.ts'
import { LENGTHS } from '../core/limits.ts'
import type { Policy } from '../core/policy.ts'
import { ValidationError } from '../core/thrown.ts'
import type { Body } from '../store/store.ts'
import { faultOf, sanitised } from './fault.ts'
import type { Said, Voice } from './voice.ts'

export interface LastWord {
  readonly command: Said
  readonly bodies: readonly Body[] | undefined
}

/** When the handler really began, and for how long it ran. */
export interface Timing {
  readonly startedAt: Time
  readonly executionMs: number
}

export function completed(
  voice: Voice,
  text: string | undefined,
  stats: Readonly<Record<string, number>> | undefined,
  { startedAt, executionMs }: Timing,
): LastWord {
  const { actor, requestId, fence } = voice.once('complete')
  const result = text === undefined ? undefined : bodyRef('output', text)
  // Written out: this is the word of every job that goes well, and spreading would show.
  return {
    command: { type: 'complete', actor, requestId, fence, result, stats, executionMs, startedAt },
    bodies: text === undefined ? undefined : [{ name: 'output', text }],
  }
}

export function failed(voice: Voice, error: unknown, attempt: number, timing: Timing, stage?: Stage): LastWord {
  const { fault, body } = faultOf(error, { attempt, now: timing.startedAt + timing.executionMs, stage })
  return { command: { ...voice.once('fail'), ...timing, type: 'fail', fault }, bodies: [body] }
}

/** A failure whose word was refused, without the handler's texts: its class and wait stay, and the message says why there is no more. */
export function barely(said: Fail, why: string): LastWord {
  const { class: errorClass, retryAfterMs } = said.fault
  const message = sanitised(`What went wrong could not be kept: ${why}`, LENGTHS.message)
  const fault: Fault = { code: 'unwritable', message, class: errorClass, stage: 'commit', retryAfterMs }
  return { command: { ...said, fault }, bodies: [] }
}

/** Why a worker gives a job back unrun, or cut short. (A snooze is the handler's own choice.) */
export type Handback = Exclude<ReleaseReason, 'snoozed'>

export function released(voice: Voice, reason: Handback, more: { runAt?: Time; executionMs?: number }) {
  return { command: { ...voice.once('release'), ...more, type: 'release', reason }, bodies: undefined } as const
}

/** An input that cannot be read, or is not what it has to be: which word that is, core says. */
export function invalid(voice: Voice, error: Error, policy: Policy, attempt: number, timing: Timing): LastWord {
  const reason = error instanceof ValidationError ? 'validation_failed' : 'parse_error'
  const thrown = new ValidationError(error.message, { code: reason, stage: 'input', cause: error })
  const { fault, body } = faultOf(thrown, { attempt, now: timing.startedAt + timing.executionMs, stage: undefined })
  const word = wordForInvalidInput(policy, reason, fault, timing)
  return { command: { ...voice.once(word.type), ...word }, bodies: mayWrite(word.type, body.name) ? [body] : undefined }
}
