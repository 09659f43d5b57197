import { hash53 } from '../../../core/hash.ts'
import { original, storable } from '../../codec/text.ts'
import type { LoadAnswer, Loaded, LoadItem } from '../../store.ts'
import { list, pairs, type Reply, words } from '../connection/reply.ts'
import { eventsOf, inlineBodies, jobOf, type StoredJob } from '../job/decode.ts'
import { keyName } from '../job/encode.ts'
import { idDigits } from '../job/id-text.ts'
import { ANY_REQUEST, NONE } from '../job/job-text.ts'
import { portions } from '../script/portions.ts'
import { type OwnTexts, withEvicted } from './evicted-rows.ts'
import { type ReadParts, rowOf, stretchesIn } from './read-log.ts'
import { type StoredRow, storedJobs } from './stored-jobs.ts'

/** Jobs of one call that may bring bodies or logs along: how much that is is not known before. */
const WITH_MUCH = 20

export function load(parts: ReadParts, items: readonly LoadItem[]): Promise<LoadAnswer> {
  return parts.calls.repeated(async () => {
    const found: (Loaded | undefined)[] = []
    let now = 0
    const sent = portions(items, ({ bodies, log }) => ((bodies?.length ?? 0) > 0 || log !== undefined ? MUCH : 0))
    for (const part of sent.length === 0 ? [[]] : sent) {
      const answer = await parts.calls.call('load', part.flatMap(itemWords))
      now = parts.calls.timeIn(answer)
      const rows = await withEvicted(parts.calls, answer.slice(1), (digits, job, place) =>
        rowWith(digits, job, part[place] as LoadItem),
      )
      found.push(...(await loaded(parts, part, rows)))
    }
    return { now, items: found }
  })
}

const MUCH = (1 << 20) / WITH_MUCH

function itemWords({ id, key, tenant, bodies = [], requestId, log }: LoadItem): readonly string[] {
  return [
    wantedOf(id, key, tenant),
    String(bodies.length),
    ...bodies.map(storable),
    requestId === undefined ? NONE : String(hash53(requestId)),
    log === undefined ? NONE : String(log),
  ]
}

/** An id; or `k` and the name of the key that the job holds. Nothing where neither can be. */
function wantedOf(id: string, key: LoadItem['key'], tenant: string | undefined): string {
  const digits = key === undefined ? idDigits(id) : undefined
  if (digits !== undefined) return digits
  return tenant === undefined ? '' : `k${keyName(tenant, key ?? 'alias', id)}`
}

/** As `load.lua` answers. */
function rowWith(digits: string, job: OwnTexts, { bodies = [], requestId, log }: LoadItem): Reply {
  const names = bodies.map(storable)
  const isWanted = (name: string) => names.some((each) => (each.endsWith('/') ? name.startsWith(each) : name === each))
  const marks = requestId === undefined ? [] : [ANY_REQUEST, String(hash53(requestId))]
  const told = new Set(
    job.asked.filter((each) => marks.includes(each.split(':', 1)[0] ?? '')).map((each) => Number(each.split(':')[1])),
  )
  const past = log === undefined ? [] : job.past.slice(0, log + 1)
  return [
    digits,
    job.value,
    job.born,
    job.bodies.filter(([name]) => isWanted(name)).flat(),
    stretchWords(job.past.filter(([rev]) => told.has(rev))),
    stretchWords(past),
  ]
}

const stretchWords = (past: OwnTexts['past']): readonly string[] => past.flatMap(([rev, text]) => [String(rev), text])

async function loaded(
  { kinds }: ReadParts,
  items: readonly LoadItem[],
  rows: readonly Reply[],
): Promise<readonly (Loaded | undefined)[]> {
  const there = rows.flatMap((row): StoredRow[] => (row === null ? [] : [rowOf(row)]))
  const stored = (await storedJobs(kinds, there))[Symbol.iterator]()
  return rows.map((row, i) =>
    row === null ? undefined : loadedOne(items[i] as LoadItem, stored.next().value as StoredJob, list(row)),
  )
}

function loadedOne(item: LoadItem, stored: StoredJob, row: readonly Reply[]): Loaded | undefined {
  const { tenant, requestId, log: longest } = item
  if (tenant !== undefined && stored.kind.tenant !== tenant) return undefined
  const [, , , bodies, asked, past] = row
  const caused =
    requestId === undefined
      ? []
      : eventsOf(
          stored,
          stretchesIn(asked).toSorted((a, b) => a.rev - b.rev),
        ).filter((each) => each.requestId === requestId)
  const log = longest === undefined ? undefined : eventsOf(stored, stretchesIn(past))
  return {
    job: jobOf(stored),
    bodies: bodiesOf(item.bodies ?? [], stored, pairs(words(bodies))),
    caused,
    log: log !== undefined && longest !== undefined && log.length <= longest ? log : undefined,
  }
}

function bodiesOf(
  wanted: readonly string[],
  { text }: StoredJob,
  apart: readonly (readonly [string, string])[],
): Readonly<Record<string, string>> {
  const found = new Map(apart.map(([name, body]) => [original(name), original(body)]))
  for (const [name, body] of inlineBodies(text)) if (wanted.includes(name)) found.set(name, body)
  return Object.fromEntries(found)
}
