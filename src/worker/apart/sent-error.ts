/** Errors of ours on their way between processes: by name, so that handlers can still tell them apart by their class. */
import { reasonOf } from '../../core/reason.ts'
import { LeaseConflictError, PermanentError } from '../../core/thrown.ts'
import { AttemptTimeoutError, CancelRequestedError, ShutdownError } from '../interrupts.ts'
import { readThrown } from '../thrown-value.ts'
import type { SentError } from './messages.ts'

export function sentError(error: unknown): SentError {
  const { name, code } = readThrown(error)
  return { name, message: reasonOf(error), code }
}

export function errorOf({ name, message, code }: SentError): Error {
  switch (name) {
    case 'LeaseConflictError':
      return new LeaseConflictError(message)
    case 'PermanentError':
      return new PermanentError(message, { code, stage: 'commit' })
    case 'CancelRequestedError':
      return new CancelRequestedError(message)
    case 'AttemptTimeoutError':
      return new AttemptTimeoutError(message)
    case 'ShutdownError':
      return new ShutdownError(message)
    default:
      return Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) })
  }
}
