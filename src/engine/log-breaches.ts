/** What is wrong with a record and its log, each by itself and one against the other. */
import type { Event } from '../core/event.ts'
import { derive, evolve } from '../core/evolve.ts'
import { type Breach, type InvariantName, recordBreaches, stepBreaches } from '../core/invariants.ts'
import type { Job } from '../core/job.ts'
import { differences } from './difference.ts'

export interface LogBreach {
  readonly about: 'record' | 'log'
  readonly invariant: InvariantName
  readonly what: string
}

/** Throws where the log cannot be folded at all. */
export function logBreaches(record: Job, log: readonly Event[]): readonly LogBreach[] {
  const ofRecord = recordBreaches(record).map((breach) => ({ about: 'record', ...breach }) as const)
  if (log.length === 0) return [...ofRecord, { about: 'log', invariant: 'I3', what: 'there is no log' }]
  const ofLog = walk(log).map((breach) => ({ about: 'log', ...breach }) as const)
  const apart = differences(derive(log), record).map(
    (what) => ({ about: 'record', invariant: 'I3', what: `log and record differ at ${what}` }) as const,
  )
  return [...ofRecord, ...ofLog, ...apart]
}

function walk(events: readonly Event[]): readonly Breach[] {
  // One compacted event stands for others all over the log: then the revisions add up, but do not follow each other.
  const compacted = events.some(({ type }) => type === 'compacted')
  const found: Breach[] = []
  let before: Job | undefined
  let revs = 0
  for (const event of events) {
    revs += event.type === 'heartbeat' || event.type === 'compacted' ? event.payload.count : 1
    const after = evolve(before, event)
    for (const { invariant, what } of stepBreaches(before, event, after)) {
      if (invariant !== 'I7' || !compacted) found.push({ invariant, what: `rev ${event.rev}: ${what}` })
    }
    before = after
  }
  const last = events.at(-1)?.rev ?? 0
  if (revs !== last) found.push({ invariant: 'I7', what: `the log has ${revs} revisions and ends at rev ${last}` })
  return found
}
