/** A JobResult of document 002 as the command it stands for. */
import type { Cancel, Complete, DeadLetterNow, Fail, Unstamped } from '../command.ts'
import { TIMEOUT_CODE } from '../errors.ts'
import type { Annotation, Event } from '../event.ts'
import { type Fields, present } from './dialect.ts'
import { lateWorkerOf } from './worker-name.ts'

export const RESULT_STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'DENIED', 'TIMEOUT'] as const

export interface JobResult {
  readonly status: (typeof RESULT_STATUSES)[number]
  readonly result_ptr?: string | undefined
  readonly execution_ms?: number | undefined
  readonly error_code?: string | undefined
  readonly error_message?: string | undefined
  /** What the dispatch came with. The document names the worker instead, and a name is nobody's proof. */
  readonly fence: string
}

/** A failure without a code of its own. */
const FAILED_CODE = 'FAILED'

export function commandOfResult(result: JobResult): Unstamped<Complete | Fail | Cancel | DeadLetterNow> {
  const { fence, result_ptr: resultPtr, execution_ms: executionMs, error_message: message = '' } = result
  switch (result.status) {
    case 'SUCCEEDED':
      return { type: 'complete', fence, resultPtr, executionMs }
    case 'FAILED':
      return { type: 'fail', fence, fault: { code: result.error_code ?? FAILED_CODE, message }, executionMs }
    case 'TIMEOUT':
      return { type: 'fail', fence, fault: { code: TIMEOUT_CODE, message }, executionMs }
    case 'CANCELLED':
      return { type: 'cancel', mode: 'soft', fence, reason: result.error_message }
    case 'DENIED':
      return { type: 'deadLetter', reason: 'policy_violation', stage: 'exec', message: result.error_message, fence }
  }
}

const STATUS_OF = {
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  dead_lettered: 'DENIED',
} as const

/** One that came when the job had ended, or was somebody else's: as it was told, though it changed nothing. `log`: the job's. */
export function lateResultOf(word: Annotation, log: readonly Event[]): Fields | undefined {
  if (word.outcome === undefined) return undefined
  const { state, resultPtr, error, executionMs } = word.outcome
  return present({
    status: error?.code === TIMEOUT_CODE ? 'TIMEOUT' : STATUS_OF[state],
    result_ptr: resultPtr,
    worker_id: lateWorkerOf(word, log),
    execution_ms: executionMs,
    error_code: error?.code,
    error_message: error?.message,
  })
}
