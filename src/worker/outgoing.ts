/**
 * What a handler's own calls carry along, by the W3C's names, so that the services that answer them can be found by the job's trace and
 * by its correlation: `traceparent` as the producer gave it, where it gave one, and `baggage`.
 */
import type { Job } from '../core/job.ts'

/** The name under which the correlation travels as baggage. */
export const CORRELATION = 'correlation_id'

export function outgoingHeaders({ correlationId, traceparent }: Job['spec']): Readonly<Record<string, string>> {
  const baggage = `${CORRELATION}=${encodeURIComponent(correlationId)}`
  return traceparent === undefined ? { baggage } : { traceparent, baggage }
}
