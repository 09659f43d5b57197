/** Events that belong together, job by job: those with the correlation as their own, and those in which it was said. */
import { hash53 } from '../../../core/hash.ts'
import { idNumber } from '../../../core/id.ts'
import { correlationMark } from '../../codec/marks.ts'
import { original } from '../../codec/text.ts'
import { type JobLog, type JobRow, jobIn, type LogRow } from '../job-row.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { Reading } from './reading.ts'
import { all, one } from './rows.ts'
import { Scope } from './scope.ts'
import { Room, stretchAt, stretchesAfter } from './stretches.ts'

/** Jobs looked for at a time. */
const JOBS = 100
/** The revision that a cursor has once a job was read to its end. */
const END = Number.MAX_SAFE_INTEGER

export function correlated(reading: Reading, asked: Asked<'correlated'>): Answered<'correlated'> {
  const { correlationId, after } = asked
  const scope = new Scope(reading, asked)
  const marks = scope.tenants().map((tenant) => hash53(correlationMark(original(tenant), correlationId)))
  const own = idNumber(correlationId) ?? 0
  const room = new Room(asked.limit + 1)
  const jobs: JobLog[] = []
  let last = after
  for (let more = true; more; ) {
    const [lastJob, lastRev] = last
    const ids = jobsFrom(reading, marks, own, lastRev === END ? lastJob : lastJob - 1)
    more = ids.length === JOBS
    for (const id of ids) {
      if (room.isFull) return { jobs, next: last, purged: reading.purged() }
      // Each job weighs at least one event, also one that has none to show: looking costs as well.
      room.takeOne()
      const afterRev = id === lastJob ? lastRev : 0
      const job = reading.whole(id)
      const isOwn = id === own || marks.includes(correlationOf(reading, id))
      const found =
        job !== undefined && scope.has(jobIn(job).kind)
          ? eventsIn(reading, job, marks, isOwn, afterRev, room)
          : undefined
      if (found !== undefined) jobs.push(found)
      const complete = found?.complete ?? true
      last = [id, complete ? END : (found?.log.at(-1)?.[0] ?? afterRev)]
      if (!complete) return { jobs, next: last, purged: reading.purged() }
    }
  }
  return { jobs, next: null, purged: reading.purged() }
}

/** 0: the job's own. */
function correlationOf({ sql }: Reading, id: number): number {
  const [, , correlation] = one(sql.heads, id) ?? []
  return typeof correlation === 'number' ? correlation : 0
}

/** Numbers of jobs that belong to a correlation, in order, each once. */
function jobsFrom(reading: Reading, marks: readonly number[], own: number, after: number): readonly number[] {
  const ids = new Set<number>(own > after ? [own] : [])
  const { correlation } = reading.walks(false)
  for (const mark of marks) {
    for (const walk of [correlation, reading.sql.echoedBy]) {
      for (const [id] of all(walk, mark, after, Number.MAX_SAFE_INTEGER, JOBS)) ids.add(id as number)
    }
  }
  return [...ids].sort((a, b) => a - b).slice(0, JOBS)
}

/** All stretches of a job whose own correlation is asked for; of another job only those in which it occurs. */
function eventsIn(
  reading: Reading,
  job: JobRow,
  marks: readonly number[],
  isOwn: boolean,
  afterRev: number,
  room: Room,
): JobLog {
  const { id } = jobIn(job)
  if (isOwn) return { job, ...stretchesAfter(reading, id, afterRev, room) }
  const log: LogRow[] = []
  for (const mark of marks) {
    for (let rev = afterRev; ; ) {
      const next = one(reading.sql.echoes, mark, id, rev, 1)?.[0] as number | undefined
      if (next === undefined) break
      const stretch = stretchAt(reading, id, next)
      rev = stretch?.[0] ?? next
      if (stretch === undefined) continue
      if (room.isFull) return { job, log, complete: false }
      room.take(stretch)
      log.push(stretch)
    }
  }
  return { job, log, complete: true }
}
