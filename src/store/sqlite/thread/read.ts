import { hash53 } from '../../../core/hash.ts'
import { Burden, lettersIn } from '../burden.ts'
import { type JobLog, type JobRow, jobIn } from '../job-row.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { LoadedRow, LoadRow } from '../rows.ts'
import type { Reading } from './reading.ts'
import { all, one } from './rows.ts'
import { Room, stretchesAfter, stretchesAsked } from './stretches.ts'
import { sumOf } from './sum.ts'

export function load(reading: Reading, rows: Asked<'load'>, burden = new Burden()): Answered<'load'> {
  const loaded: (LoadedRow | null)[] = []
  for (const row of rows) {
    if (loaded.length > 0 && burden.isFull) break
    const found = loadOne(reading, row)
    loaded.push(found)
    burden.take(lettersIn(found))
  }
  return loaded
}

function loadOne(reading: Reading, row: LoadRow): LoadedRow | null {
  const [id, key, purpose, tenant, names, request, events, check] = row
  const number = id ?? (one(reading.sql.named, tenant, purpose, key)?.[0] as number | undefined)
  const job = number === undefined ? undefined : reading.whole(number)
  if (job === undefined) return null
  const jobId = jobIn(job).id
  const bodies = names.flatMap((name) => bodiesNamed(reading, jobId, name))
  const asked = request === null ? [] : stretchesAsked(reading, jobId, hash53(request))
  return [
    job,
    bodies,
    asked,
    events === null ? null : wholeLog(reading, job, events),
    check && isAltered(reading, jobId),
  ]
}

/** Cut short where it is longer than so many events. */
function wholeLog(reading: Reading, job: JobRow, events: number): JobLog {
  return { job, ...stretchesAfter(reading, jobIn(job).id, 0, new Room(events)) }
}

function isAltered({ sql }: Reading, id: number): boolean {
  const [input, sum] = (one(sql.summed, id) ?? [null, null]) as [string | null, number | null]
  return sumOf(input) !== sum
}

type NamedBody = readonly [name: string, text: string]

/** A name that ends in `/` stands for all that begin with it. */
function bodiesNamed({ sql }: Reading, id: number, name: string): readonly NamedBody[] {
  if (name.endsWith('/')) {
    const stored = all<NamedBody>(sql.bodiesFrom, id, name, after(name))
    const begin = `\u0001${JSON.stringify(name).slice(0, -1)}`
    return [...stored, ...all<NamedBody>(sql.bodiesFrom, id, begin, after(begin))]
  }
  const inline = name === 'input' ? one(sql.input, id) : name === 'output' ? one(sql.output, id, id) : undefined
  if (typeof inline?.[0] === 'string') return [[name, inline[0]]]
  const found = one(sql.body, id, name)
  return found === undefined ? [] : [found as NamedBody & typeof found]
}

/** The first text after all that begin with this one, which ends in an ASCII character. */
const after = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)

export function log(reading: Reading, { id, afterRev, limit }: Asked<'log'>): Answered<'log'> {
  const job = reading.whole(id)
  const purged = reading.purged()
  if (job === undefined) return { found: null, purged }
  // One more than wanted, to know whether there is more.
  return { found: { job, ...stretchesAfter(reading, id, afterRev, new Room(limit + 1)) }, purged }
}

export function annotations(reading: Reading, id: Asked<'annotations'>): Answered<'annotations'> {
  return { texts: all(reading.sql.annotations, id).map(([text]) => text as string), purged: reading.purged() }
}
