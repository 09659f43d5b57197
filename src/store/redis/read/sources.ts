/** Where a search looks: the sorted sets in which all that can match is, by the narrowest that it names. */
import type { State, Time } from '../../../core/job.ts'
import { codeMark, correlationMark, marksOf } from '../../codec/marks.ts'
import type { JobQuery } from '../../store.ts'
import { markWord } from '../job/encode.ts'
import { idDigits } from '../job/id-text.ts'
import type { ReadParts } from './read-log.ts'
import { readTally } from './tally.ts'

export interface Sources {
  readonly now: Time
  readonly sources: readonly string[]
  /** A job that may match besides: one with the correlation that is its own id has no mark for it. */
  readonly own: string | undefined
}

export async function sourcesOf(parts: ReadParts, query: JobQuery): Promise<Sources> {
  const { now, counts } = await readTally(parts)
  const inScope = counts.filter(({ kind, state }) => isWanted(query, parts.kinds.get(kind), state))
  const marks = marksBy(query)
  if (marks === undefined)
    return { now, sources: inScope.map(({ kind, code }) => `in:${kind}:${code}`), own: undefined }
  const own = query.correlationId === undefined ? undefined : idDigits(query.correlationId)
  const tenants = new Set(inScope.map(({ kind }) => parts.kinds.get(kind).tenant))
  return { now, sources: [...tenants].map((tenant) => `mark:${markWord(marks(tenant))}`), own }
}

type KindNames = { readonly tenant: string; readonly queue: string; readonly type: string }

const isWanted = ({ tenant, queues, types, states }: JobQuery, kind: KindNames, state: State): boolean =>
  (tenant === undefined || tenant === kind.tenant) &&
  (queues === undefined || queues.includes(kind.queue)) &&
  (types === undefined || types.includes(kind.type)) &&
  (states === undefined || states.includes(state))

/** One of the marks that it names, by tenant; undefined where it names none. */
function marksBy(query: JobQuery): ((tenant: string) => string) | undefined {
  const { correlationId, code } = query
  if (marksOf('', query).length > 0) return (tenant) => marksOf(tenant, query)[0] as string
  if (correlationId !== undefined) return (tenant) => correlationMark(tenant, correlationId)
  if (code !== undefined) return (tenant) => codeMark(tenant, code)
  return undefined
}
