/** How a process ended that ran a job, in words that say what to look for. */
import { CRASH_CODE } from '../../core/errors.ts'
import type { SentError } from './messages.ts'
import { errorOf } from './sent-error.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The error that was thrown and not caught, where the process ended by one. */
  readonly dying: SentError | undefined
}

/** The job's process died while it ran, and it ran nothing else. */
export class CrashError extends Error {
  override readonly name = 'CrashError'
  readonly code = CRASH_CODE
}

export function crashOf({ code, signal, dying }: Exit): CrashError {
  const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}${HINTS[signal] ?? ''}`
  const why = dying === undefined ? '' : `: ${dying.name}: ${dying.message}`
  const message = `The process in which this job ran by itself ${how}${why}.`
  return new CrashError(message, dying === undefined ? undefined : { cause: errorOf(dying) })
}

const HINTS: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: ' (abort(), or V8 had no memory left)',
  SIGKILL: ' (from outside, as the kernel does where memory runs out)',
  SIGSEGV: ' (a fault in native code)',
  SIGBUS: ' (a fault in native code)',
  SIGILL: ' (a fault in native code)',
}
