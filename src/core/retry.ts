/** When a failed attempt is tried again. Pure: the jitter is a hash of what makes this retry unique. */
import { raisedCurve } from './flow/numbers.ts'
import { isThrottling } from './flow/signal.ts'
import { fraction } from './hash.ts'
import type { Failure, Job, Time } from './job.ts'
import { RETRY_AFTER_MAX_MS } from './limits.ts'
import type { Curve, Policy } from './policy.ts'

/** Delay before retry `n` (1, 2, 3 …). Finite for any n: the power may overflow, the cap does not. */
export function retryDelayMs(curve: Curve, n: number, seed: string): number {
  const delayMs = Math.min(curve.maxMs, curve.baseMs * curve.factor ** (n - 1))
  switch (curve.jitter) {
    case 'none':
      return Math.round(delayMs)
    case 'equal':
      return Math.round(delayMs / 2 + (delayMs / 2) * fraction(seed))
    case 'full':
      return Math.round(delayMs * fraction(seed))
  }
}

/** `level`: how often its key was pushed back since it was last open. */
export function retryAt(job: Job, failure: Failure, at: Time, retryAfterMs: number | undefined, level = 0): Time {
  const n = retryNumber(job)
  const seed = `${job.id}/${job.generation}/${job.phase}/${n}`
  if (retryAfterMs === undefined) return at + retryDelayMs(curveFor(job.spec.kind.policy, failure, level), n, seed)
  return Math.min(at + askedDelayMs(retryAfterMs, seed), job.deadlineAt ?? Number.POSITIVE_INFINITY)
}

/**
 * What the failing side asked for is an answer, not a hint: the curve, which only guesses, is not asked. Never earlier;
 * up to a tenth later, because all who were turned away together were told the same time.
 */
const askedDelayMs = (retryAfterMs: number, seed: string): number =>
  Math.min(Math.ceil(retryAfterMs * (1 + fraction(seed) / 10)), RETRY_AFTER_MAX_MS)

/**
 * Which retry this would be. A lost lease is one where it is retried or counted like a failure, and it has been counted
 * before anybody asks; an error of the handler has not.
 */
function retryNumber({ state, failures, stalls, spec }: Job): number {
  if (state === 'stalled') return failures + stalls
  const { budget, onStall } = spec.kind.policy
  return failures + 1 + (budget === 'shared' || onStall === 'retry' ? stalls : 0)
}

function curveFor(policy: Policy, failure: Failure, level: number): Curve {
  const curve = failure.class === 'throttled' ? policy.throttled : policy.retry
  return level > 0 && isThrottling(failure) ? raisedCurve(curve, policy, level) : curve
}
