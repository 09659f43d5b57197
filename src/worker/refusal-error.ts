/** What a refusal means for the attempt whose word was refused. */
import type { Refusal } from '../core/refusal.ts'
import { LeaseConflictError, PermanentError } from '../core/thrown.ts'
import { barely, type LastWord } from './last-word.ts'
import type { Said } from './voice.ts'

/** This fence will never be accepted again. */
const LOST: ReadonlySet<Refusal['code']> = new Set(['STALE_FENCE', 'LEASE_EXPIRED', 'ENDED', 'NOT_FOUND'])

/** Whether this owner has lost the job for good, whatever it says. */
export const isLost = ({ code }: Refusal): boolean => LOST.has(code)

/** The error that a handler gets whose word was refused. */
export function errorFor(refusal: Refusal | undefined): Error {
  if (refusal === undefined) return new Error('The store gave no answer.')
  if (isLost(refusal)) return new LeaseConflictError(refusal.message)
  return commitError(refusal)
}

/**
 * What is said instead of a last word that was refused, since a job that is left to its lease runs again for nothing: that the
 * attempt has failed; and where that was refused too, the same without anything that could be. Undefined where nothing is left to
 * be said: a worker that hands a job back has nothing to say in its place, unless by a snooze, which is a handler's word like any other.
 */
export function saidInstead(said: Said, refusal: Refusal): LastWord | Error | undefined {
  if (said.type === 'fail') return said.fault.body === undefined ? undefined : barely(said, refusal.message)
  return said.type === 'release' && said.reason !== 'snoozed' ? undefined : commitError(refusal)
}

const commitError = ({ code, message }: Refusal): Error => new PermanentError(message, { code, stage: 'commit' })
