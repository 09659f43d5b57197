/** The feed and its counters. Positions are `entry.place within it`; reading gives positions to what has none yet. */
import { assert } from '../../../core/assert.ts'
import { idText } from '../../../core/id.ts'
import type { State } from '../../../core/job.ts'
import { EVENT_OF, STATE_OF } from '../../codec/codes.ts'
import { mustKnow } from '../../codec/parts.ts'
import { original, storable } from '../../codec/text.ts'
import type { Backlog, FeedItem, Tally, TallyQuery } from '../../store.ts'
import type { Row } from '../connection/client.ts'
import type { LoadParts } from '../read/load.ts'

/** Entries given positions in one go, and how often in a row: a backlog is worked off over several reads. */
const PLACED = 1_000
const PLACED_ROUNDS = 20
const ENTRIES = 20
/** Behind every item of an entry. */
const END = 1_000_000_000

export interface FeedPage {
  readonly feed: readonly FeedItem[]
  readonly cursor: string
}

export async function placeEntries(
  { run, statements }: LoadParts,
  { rounds = PLACED_ROUNDS, patient = false } = {},
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const [row] = await run(statements.placeEntries, [PLACED, patient])
    if (row?.[0] === null || Number(row?.[0]) < PLACED) return
  }
}

export async function feedEnd({
  run,
  statements,
}: LoadParts): Promise<{ now: number; cursor: string; purged: number }> {
  const [row] = await run(statements.feedEnd, [])
  return { now: Number(row?.[0]), cursor: `${row?.[1]}.${END}`, purged: Number(row?.[2]) }
}

export async function feedAfter(parts: LoadParts, after: string, limit: number): Promise<FeedPage> {
  let [pos, place] = after === '' ? [0, END] : positionOf(after)
  const feed: FeedItem[] = []
  let cursor = after
  for (;;) {
    const rows = await parts.run(parts.statements.feedPage, [pos, ENTRIES])
    await parts.kinds.ensure(rows.flatMap((row) => numbers(row[3])))
    for (const row of rows) {
      for (const item of itemsOf(row, parts)) {
        const [itemPos, itemPlace] = positionOf(item.position)
        if (itemPos === pos && itemPlace <= place) continue
        if (feed.length === limit) return { feed, cursor }
        feed.push(item)
        cursor = item.position
      }
    }
    const last = rows.at(-1)
    if (rows.length < ENTRIES || last === undefined) return { feed, cursor }
    pos = Number(last[0])
    place = END
  }
}

export async function tallies(
  { run, kinds, statements }: LoadParts,
  { tenant, queue }: Pick<TallyQuery, 'tenant' | 'queue'>,
): Promise<readonly Tally[]> {
  const whose = tenant === undefined ? null : storable(tenant)
  const rows = await (queue === undefined
    ? run(statements.tallies, [whose])
    : run(statements.talliesIn, [storable(queue), whose]))
  await kinds.ensure(rows.map(([kind]) => Number(kind)))
  const sums = new Map<string, Tally>()
  for (const [id, code, count] of rows) {
    const { tenant, queue, type } = kinds.byId(Number(id)).kind
    const state: State = mustKnow(STATE_OF[String(code)], 'state')
    const name = JSON.stringify([tenant, queue, type, state])
    sums.set(name, { tenant, queue, jobType: type, state, count: Number(count) + (sums.get(name)?.count ?? 0) })
  }
  return [...sums.values()]
}

export async function backlog({ run, statements }: LoadParts, lanes: number): Promise<readonly Backlog[]> {
  const rows = await run(statements.backlog, [lanes])
  return rows.map(([tenant, queue, since]) => ({
    tenant: original(String(tenant)),
    queue: original(String(queue)),
    since: Number(since),
  }))
}

function positionOf(text: string): [number, number] {
  const [pos, place] = text.split('.').map(Number)
  assert(Number.isSafeInteger(pos) && Number.isSafeInteger(place), `not a position of this feed: ${text}`)
  return [pos as number, place as number]
}

function itemsOf([pos, jobs, revs, kinds, shapes, nulls]: Row, parts: LoadParts): FeedItem[] {
  const ids = numbers(jobs)
  const firstRevs = numbers(revs)
  const kindIds = numbers(kinds)
  const patterns = elements(shapes)
  const gone = new Set(nulls === null ? [] : numbers(nulls))
  const items: FeedItem[] = []
  let place = 0
  for (const [n, id] of ids.entries()) {
    const pattern = (patterns.length === 1 ? patterns[0] : patterns[n]) ?? ''
    const rev = (firstRevs.length === 1 ? firstRevs[0] : firstRevs[n]) ?? 0
    const {
      tenant,
      queue,
      type: jobType,
    } = parts.kinds.byId((kindIds.length === 1 ? kindIds[0] : kindIds[n]) ?? 0).kind
    const letters = pattern.slice(1, -1)
    for (let k = 0; k < letters.length; k += 1) {
      place += 1
      if (gone.has(id)) continue
      const type = mustKnow(EVENT_OF[letters[k] as string], 'event')
      items.push({ position: `${pos}.${place}`, jobId: idText(id), rev: rev + k, type, tenant, queue, jobType })
    }
  }
  return items
}

/** `{1,2}` and `{qcc,"-eq"}`: numbers and codes only. */
const numbers = (literal: Row[number] | undefined): number[] => elements(literal).map(Number)

const elements = (literal: Row[number] | undefined): string[] => {
  const inside = String(literal).slice(1, -1).replaceAll('"', '')
  return inside === '' ? [] : inside.split(',')
}
