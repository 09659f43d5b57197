import { queueOf } from '../../codec/lane.ts'
import { storable } from '../../codec/text.ts'
import type { Answered, Asked, FeedRows } from '../protocol.ts'
import { plainLane } from './hall/lanes.ts'
import type { Reading } from './reading.ts'
import { all, type Cell, one } from './rows.ts'

/** `[rev, type, kind, at, job, job, …]` */
export type Group = readonly [rev: number, type: string, kind: number, at: number, ...jobs: number[]]

export const groupsOf = (items: Cell): readonly Group[] => JSON.parse(String(items)) as readonly Group[]

/** Entries read at a time: one may hold a whole page. */
const ENTRIES = 8

export function feed(reading: Reading, { after, limit }: Asked<'feed'>): Answered<'feed'> {
  const { sql, kinds } = reading
  const end = one(sql.lastPosition)?.[0] as number
  const purged = reading.purged()
  const items: FeedRows['items'][number][] = []
  if (after === null) return { items, end, purged }
  const [from, seen] = after
  for (let first = from; ; ) {
    const entries = all(sql.entriesFrom, first, ENTRIES)
    for (const [position, text] of entries) {
      let index = 0
      for (const [rev, type, kind, , ...jobs] of groupsOf(text ?? '[]')) {
        for (const id of jobs) {
          index += 1
          if (position === from && index <= seen) continue
          if (items.length === limit) return { items, end, purged }
          kinds.send(kind)
          items.push([position as number, index, id, rev, type, kind])
        }
      }
    }
    if (entries.length < ENTRIES) return { items, end, purged }
    first = (entries.at(-1)?.[0] as number) + 1
  }
}

export function tally(reading: Reading, tenant: Asked<'tally'>): Answered<'tally'> {
  const { sql, kinds } = reading
  type Count = [kind: number, state: string, jobs: number]
  const rows = tenant === null ? all<Count>(sql.tally) : all<Count>(sql.tallyOf, storable(tenant))
  for (const [kind] of rows) kinds.send(kind)
  return { rows, end: one(sql.lastPosition)?.[0] as number, purged: reading.purged() }
}

/** Lane by lane, each by its first row: as many steps as there are lanes with something in them. */
export function backlog(reading: Reading, lanes: Asked<'backlog'>): Answered<'backlog'> {
  const { sql } = reading
  const found = new Map<string, [tenant: string, name: string, since: number]>()
  let lane = -1
  for (let looked = 0; looked < lanes; looked += 1) {
    const first = one(sql.nextLane, lane)
    if (first === undefined) break
    lane = first[0] as number
    const at = first[1] as number
    // The sides of a queue have its names.
    const [tenant, name] = one(sql.queueNames, queueOf(plainLane(lane))) as readonly [string, string]
    const queue = JSON.stringify([tenant, name])
    found.set(queue, [tenant, name, Math.min(at, found.get(queue)?.[2] ?? at)])
  }
  return { rows: [...found.values()], purged: reading.purged() }
}
