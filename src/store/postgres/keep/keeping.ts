/** Changes that move nothing: words that came too late, compaction of a log, removal of what has ended, and what is said of flow keys. */
import { unreachable } from '../../../core/assert.ts'
import type { Event } from '../../../core/event.ts'
import { evolve } from '../../../core/evolve.ts'
import { idNumber } from '../../../core/id.ts'
import type { Job } from '../../../core/job.ts'
import { askedOf } from '../../../core/recast.ts'
import { STATE_CODES } from '../../codec/codes.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { encodeRecord } from '../../codec/record.ts'
import { storable } from '../../codec/text.ts'
import type { Change, Mend, Verdict } from '../../store.ts'
import { keyMoveRow } from '../flow/flowing.ts'
import type { Flows } from '../flow/flows.ts'
import { mendValues } from '../flow/mending.ts'
import { type LoadParts, whereabouts } from '../read/load.ts'
import { commitsOf } from '../read/logs.ts'
import { enqueuedEvent } from '../read/records.ts'
import { eventsIn } from '../read/stretch.ts'

export type Keeping = Exclude<Change, { kind: 'move' | 'purge' }>

const APPLIED: Verdict = { status: 'applied' }
const CONFLICT: Verdict = { status: 'conflict' }

export interface KeepParts extends LoadParts {
  readonly letting: { readonly flows: Pick<Flows, 'of'> }
}

export function keep(parts: KeepParts, change: Keeping): Promise<Verdict> {
  switch (change.kind) {
    case 'annotate':
      return annotate(parts, change)
    case 'compact':
      return compact(parts, change)
    case 'key':
      return moveKey(parts, change)
    case 'mend':
      return mend(parts, change)
    default:
      return unreachable(change)
  }
}

/** Removes what has ended and has not moved since, in one statement. */
export async function purge({ run, kinds, statements }: LoadParts, jobs: readonly Job[]): Promise<readonly Verdict[]> {
  for (const job of jobs) await kinds.intern(askedOf(job).kind)
  const items = jobs.map((job) => {
    const { id, rev, state } = job
    return { i: idNumber(id) ?? 0, r: rev, k: kinds.of(askedOf(job).kind).id, z: STATE_CODES[state] }
  })
  const [row] = await run(statements.purge, [JSON.stringify(items)])
  const gone = new Set(JSON.parse(String(row?.[1])) as number[])
  return items.map(({ i }) => (gone.has(i) ? APPLIED : CONFLICT))
}

async function moveKey(
  { run, statements }: LoadParts,
  { tenant, move }: Extract<Keeping, { kind: 'key' }>,
): Promise<Verdict> {
  const [row] = await run(statements.flowSet, [JSON.stringify(keyMoveRow(tenant, move))])
  return row?.[0] === true ? APPLIED : CONFLICT
}

async function mend({ run, statements, letting }: KeepParts, change: Mend): Promise<Verdict> {
  await run(statements.flowMend, mendValues(change, letting.flows))
  return APPLIED
}

async function annotate(
  { run, statements }: LoadParts,
  { annotation: a }: Extract<Keeping, { kind: 'annotate' }>,
): Promise<Verdict> {
  const texts = [a.actor, a.requestId, a.correlationId].map(storable)
  const outcome = a.outcome === undefined ? null : storable(JSON.stringify(a.outcome))
  const values = [idNumber(a.jobId) ?? 0, a.generation, a.attempt, a.command, a.at, ...texts, outcome]
  const [row] = await run(statements.annotate, values)
  return row?.[0] === 'a' ? APPLIED : CONFLICT
}

/** The log is read, rewritten as one commit, and put in its place if nobody has touched it since. */
async function compact(
  parts: LoadParts,
  { before, event, replaces }: Extract<Keeping, { kind: 'compact' }>,
): Promise<Verdict> {
  const id = idNumber(before.id) ?? 0
  const row = (await whereabouts(parts, [id])).get(id)
  if (row === undefined) return CONFLICT
  const commits = await commitsOf(parts, id)
  if (commits.at(-1)?.rev !== before.rev) return CONFLICT
  const gone = new Set(replaces)
  const kept = commits.flatMap(eventsIn).filter(({ rev }) => !gone.has(rev))
  const rest: Event[] = [...kept, event].sort((a, b) => a.rev - b.rev)
  const born = evolve(undefined, enqueuedEvent(row))
  const text = encodeEvents(rest, before.spec, baseOf(born), 'alone')
  const values = [id, before.rev, commits.length, text, encodeRecord(before)]
  const [answer] = await parts.run(parts.statements.compact, values)
  return answer?.[0] === 'a' ? APPLIED : CONFLICT
}
