import { assert } from '../../core/assert.ts'
import { hash32 } from '../../core/hash.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Kind } from '../../core/job.ts'
import { STATE_CODES } from '../codec/codes.ts'
import type { JobPage, JobQuery } from '../store.ts'
import type { Channel } from './channel.ts'
import { jobOf } from './decode.ts'
import { labelRows, textOrNull } from './encode.ts'
import type { Kinds } from './kinds.ts'

export async function find(channel: Channel, kinds: Kinds, query: JobQuery): Promise<JobPage> {
  const { states, labels, correlationId, order, limit } = query
  const { now, answered } = await channel.call('find', {
    kinds: await kindsWanted(channel, kinds, query),
    states: states === undefined ? null : states.map((state) => STATE_CODES[state]),
    labels: labelRows(labels ?? {}),
    correlation: correlationId === undefined ? null : hash32(correlationId),
    ownId: correlationId === undefined ? null : (idNumber(correlationId) ?? null),
    parent: textOrNull(query.parentId),
    workflow: textOrNull(query.workflowId),
    dedupe: textOrNull(query.dedupeKey),
    code: textOrNull(query.code),
    createdFrom: query.createdFrom ?? null,
    createdTo: query.createdTo ?? null,
    endedBefore: query.endedBefore ?? null,
    newest: order === 'newest',
    limit,
    after: query.cursor === undefined ? null : cursorNumber(query.cursor),
  })
  const jobs = answered.rows
    .map((row) => jobOf(row, kinds))
    // A hash may be somebody else's too.
    .filter(({ spec }) => correlationId === undefined || spec.correlationId === correlationId)
  return { now, jobs, cursor: answered.cursor === null ? undefined : idText(answered.cursor) }
}

function cursorNumber(cursor: string): number {
  const number = idNumber(cursor)
  assert(number !== undefined, `not a cursor of this store: ${cursor}`)
  return number
}

interface KindFilter {
  readonly tenant?: string | undefined
  readonly queues?: readonly string[] | undefined
  readonly types?: readonly string[] | undefined
}

/** Tenant, queue and type are judged by kind: there are few, and they never change. */
export async function kindsWanted(
  channel: Channel,
  kinds: Kinds,
  { tenant, queues, types }: KindFilter,
): Promise<readonly number[] | null> {
  if (tenant === undefined && queues === undefined && types === undefined) return null
  await channel.call('kinds', null)
  return kinds.matching(
    (kind: Kind) =>
      (tenant === undefined || kind.tenant === tenant) &&
      (queues === undefined || queues.includes(kind.queue)) &&
      (types === undefined || types.includes(kind.type)),
  )
}
