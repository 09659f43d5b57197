/** An operation as the route takes it, from the job that it is. */
import { OPERATIONS_QUEUE, type OperationSpec } from '../core/operation.ts'
import type { EnqueueRequest } from '../engine/engine.ts'
import { jsonWith } from './words.ts'

export const isOperation = ({ kind }: EnqueueRequest): boolean => kind.queue === OPERATIONS_QUEUE

/** Who asks, and for which queues, the gateway knows from the token. */
export function operationText({ input = '{}', requestId }: EnqueueRequest): string {
  const { action, query, dryRun, reason, canary, edit, mode } = JSON.parse(input) as OperationSpec
  const words = {
    action,
    query,
    dryRun,
    reason,
    requestId,
    canary: canary?.first,
    canaryWithin: canary?.withinMs,
    mode: action === 'cancel' ? mode : undefined,
  }
  return jsonWith(words, edit ?? {})
}
