/** The outcome that a late word told, parsed: every key is there, as everywhere else. */
import type { LateOutcome } from '../../core/event.ts'

export function lateOutcome(parsed: Partial<LateOutcome> | undefined): LateOutcome | undefined {
  if (parsed?.state === undefined) return undefined
  const { state, resultPtr, result, error, executionMs } = parsed
  return { state, resultPtr, result: result && { ...result, digest: result.digest }, error, executionMs }
}
