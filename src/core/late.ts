/**
 * A word from a dead fence changes nothing and is kept beside the log, with what it said: the result of work that was done
 * too late is still the only trace of where that result is.
 */
import type { Command } from './command.ts'
import type { Annotation, LateOutcome } from './event.ts'
import type { Job, Time } from './job.ts'
import type { Trespass } from './ownership.ts'

/** Undefined where nobody can have been given the fence it came with. */
export const annotationOf = (job: Job, command: Command, now: Time, { claim }: Trespass): Annotation | undefined =>
  claim && {
    jobId: job.id,
    generation: claim.generation,
    attempt: claim.attempt,
    command: command.type,
    at: now,
    actor: command.actor,
    requestId: command.requestId,
    correlationId: command.correlationId ?? job.spec.correlationId,
    outcome: outcomeOf(command),
  }

/** A value that came too late is not kept, its size and digest are; a pointer is kept as it is. */
function outcomeOf(command: Command): LateOutcome | undefined {
  switch (command.type) {
    case 'complete': {
      const { resultPtr, result, executionMs } = command
      return { ...NOTHING, state: 'succeeded', resultPtr, result, executionMs }
    }
    case 'fail': {
      const { fault, executionMs } = command
      return { ...NOTHING, state: 'failed', error: { code: fault.code, message: fault.message }, executionMs }
    }
    case 'cancel':
      return { ...NOTHING, state: 'cancelled' }
    case 'deadLetter':
      return { ...NOTHING, state: 'dead_lettered', error: { code: command.reason, message: command.message ?? '' } }
    default:
      return undefined
  }
}

const NOTHING = { resultPtr: undefined, result: undefined, error: undefined, executionMs: undefined }
