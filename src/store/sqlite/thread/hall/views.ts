/** The hall as somebody asks about it: keys with what is taken of them, and what holds a job. */
import { atKey, atLane, atQueue } from '../../../../core/flow/hall.ts'
import { countOf, type KeyUse, type Slot } from '../../../../core/flow/slots.ts'
import type { Watch } from '../../../../core/flow/watch.ts'
import type { Time } from '../../../../core/job.ts'
import type { JobRow } from '../../job-row.ts'
import type { Answered, Asked } from '../../protocol.ts'
import type { KeyViewRow } from '../../rows.ts'
import type { Reading } from '../reading.ts'
import { all, one } from '../rows.ts'
import type { ReadStatements } from '../statements.ts'
import { BELOW_LET_IN, heldLane } from './lanes.ts'
import { TableHall, useOf } from './table-hall.ts'

/** Probes that are told of, jobs that are counted as held, and flows as others, at most. */
const PROBES = 10
const COUNTED = 1_000
/** Jobs that are gone through at a time. */
const CHUNK = 500

export function keys(reading: Reading, { tenant, names, after, limit }: Asked<'keys'>, now: Time): Answered<'keys'> {
  const { sql } = reading
  const found =
    names === null
      ? all<[id: number]>(sql.keysFrom, tenant, after, limit)
      : names.slice(0, limit).flatMap((name) => all<[id: number]>(sql.keyByName, tenant, name))
  return { views: found.flatMap(([id]) => viewOf(sql, id, now)), purged: reading.purged() }
}

/** What lets a job in, as of now; `flow`: the name of its flow. */
export function lobby(
  { sql }: Reading,
  { id, tenant, keys: names, flow }: Asked<'lobby'>,
  now: Time,
): Answered<'lobby'> {
  const [lane] = one(sql.laneOfJob, id) ?? []
  const [number, letInto] = (one(sql.flowByName, flow) ?? []) as readonly number[]
  const waiting = letInto === undefined ? [] : all(sql.waitingAt, atLane(String(letInto)), number ?? 0, COUNTED)
  const views = names.flatMap((name) => all<[id: number]>(sql.keyByName, tenant, name))
  return {
    held: typeof lane === 'number' && lane < 0,
    views: views.flatMap(([key]) => viewOf(sql, key, now)),
    others: waiting.length,
    watch: typeof lane === 'number' && lane < 0 ? watchOf(sql, -lane, now) : null,
  }
}

/** What came and what was freed is looked at by the commit that it is of: nothing of that kind is ever left. */
function watchOf(sql: ReadStatements, flow: number, now: Time): Watch | null {
  const hall = new TableHall(sql, now, 0)
  const { waitsAt, nextAt, queue, keys } = hall.flow(String(flow))
  if (nextAt !== undefined) return { by: 'time', at: nextAt }
  if (waitsAt?.startsWith('lane ')) return { by: 'lane' }
  if (waitsAt === atQueue(queue)) return { by: 'queue', isPaused: hall.isPaused(queue) }
  const key = keys.find((each) => waitsAt === atKey(each))
  const [name, wakeAt] = key === undefined ? [] : (one(sql.wakeOf, Number(key)) ?? [])
  return typeof name === 'string' ? { by: 'key', key: name, wakeAt: (wakeAt as Time | null) ?? undefined } : null
}

/** Jobs that stand or are owned, so many at a time: first the owned by their numbers, then the others by their places. */
export function occupants(reading: Reading, after: Asked<'occupants'>): Answered<'occupants'> {
  const { sql } = reading
  const [lane, readyAt, last] = after
  const owned = lane === 0 ? all<[id: number]>(sql.leasesFrom, last, CHUNK) : []
  if (owned.length === CHUNK) return { jobs: wholes(reading, owned), next: [0, 0, owned.at(-1)?.[0] ?? 0] }
  const from = lane === 0 ? [BELOW_LET_IN, 0, 0] : [lane, readyAt, last]
  const standing = all<[id: number, lane: number, readyAt: Time]>(sql.standingFrom, ...from, CHUNK)
  const end = standing.at(-1)
  return {
    jobs: wholes(reading, [...owned, ...standing]),
    next: standing.length < CHUNK || end === undefined ? null : [end[1], end[2], end[0]],
  }
}

const wholes = (reading: Reading, rows: readonly (readonly [id: number, ...rest: unknown[]])[]): readonly JobRow[] =>
  rows.map(([id]) => reading.whole(id)).filter((job) => job !== undefined)

/** A key of which nobody has said anything is none to those who ask. */
function viewOf(sql: ReadStatements, key: number, now: Time): readonly KeyViewRow[] {
  const [name, rev, gate, text, log] = one(sql.keyDocument, key) as readonly [
    string,
    number,
    string,
    string,
    string | null,
  ]
  if (rev === 0) return []
  const use = useOf(sql, key)
  return [{ name, rev, gate, text, log, count: countOf(use, now), probes: probesOf(use), held: heldAt(sql, key) }]
}

const probesOf = ({ gate, slots }: KeyUse): readonly Slot[] =>
  gate.since === 0
    ? []
    : slots
        .filter(({ letInAt }) => letInAt >= gate.since)
        .sort((a, b) => a.letInAt - b.letInAt)
        .slice(0, PROBES)

function heldAt(sql: ReadStatements, key: number): number {
  let held = 0
  for (const [flow] of all<[flow: number]>(sql.waitingAt, atKey(String(key)), 0, COUNTED)) {
    held += all(sql.standingIn, heldLane(flow), COUNTED - held).length
    if (held >= COUNTED) break
  }
  return held
}
