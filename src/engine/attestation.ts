/**
 * Who has verified which stretch of a job's log, with its hash: an entry of the audit log, whose own chain keeps it as it was
 * written. A log that is verified again is held against what others have attested. The hash is of the events that live as
 * long as the job, so that shortening a log breaks nobody's word.
 */
import { isLasting } from '../core/compact.ts'
import type { Event } from '../core/event.ts'
import type { Job } from '../core/job.ts'
import { sha256 } from '../system/digest.ts'
import type { AuditEntry, AuditLog } from './audit.ts'
import type { Discrepancy } from './discrepancy.ts'

export interface Attestation {
  /** First and last revision. */
  readonly fromRev: number
  readonly toRev: number
  readonly hash: string
}

export function attestationOf(events: readonly Event[]): Attestation {
  const [first, last] = [events[0], events.at(-1)]
  return { fromRev: first?.rev ?? 0, toRev: last?.rev ?? 0, hash: hashOf(events) }
}

/** The words by which it stands in the audit log. */
export const attested = ({ id }: Job, attestation: Attestation) =>
  ({ act: 'log.verified', about: id, attestation }) as const

/** Attestations of this job's log that its events do not match any more. */
export async function broken(audit: AuditLog, job: Job, events: readonly Event[]): Promise<readonly Discrepancy[]> {
  const found: Discrepancy[] = []
  let cursor: number | undefined
  do {
    const page = await audit.page(job.spec.kind.tenant, cursor, PAGE)
    for (const entry of page.entries) if (entry.about === job.id) found.push(...differenceTo(entry, job, events))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

const PAGE = 200

function differenceTo(
  { attestation, by, at }: AuditEntry,
  { id }: Job,
  events: readonly Event[],
): readonly Discrepancy[] {
  if (attestation === undefined) return []
  const { fromRev, toRev, hash } = attestation
  if (hashOf(events.filter(({ rev }) => rev >= fromRev && rev <= toRev)) === hash) return []
  const what = `revisions ${fromRev} to ${toRev} are not what ${by} verified on ${new Date(at).toISOString()}`
  return [{ job: id, about: 'log', invariant: undefined, what }]
}

/** A line of JSON each, its members in this order. */
const hashOf = (events: readonly Event[]): string =>
  sha256(
    events
      .filter(isLasting)
      .map(({ rev, seq, type, from, to, at, actor, requestId, attempt, generation, cause, reason, payload }) =>
        JSON.stringify([rev, seq, type, from, to, at, actor, requestId, attempt, generation, cause, reason, payload]),
      )
      .join('\n'),
  )
