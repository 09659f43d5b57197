/** Some jobs at a time: records, logs, bodies and keys, in a handful of reads whatever their number. */
import type { Event } from '../core/event.ts'
import { isEnded, type Job, type JobId } from '../core/job.ts'
import { keyOf } from '../core/keys.ts'
import type { LoadItem } from '../store/store.ts'
import { type Discrepancy, unreadable, type Verification } from './discrepancy.ts'
import type { Engine } from './engine.ts'
import { logBreaches } from './log-breaches.ts'
import { still } from './still.ts'
import { alteredBodies } from './verify-bodies.ts'

/** Logs up to this long come with the record; longer ones are read a page at a time. */
const SHORT_LOG = 200
/** How often a job is looked at again that moves while it is read. */
const LOOKS = 10

type Reading = Pick<Engine, 'load' | 'events'>

/** A record and its log of the same moment. */
interface Seen {
  readonly record: Job
  readonly log: readonly Event[]
  readonly altered: readonly string[]
}

/** `heard`: told each record with its log. */
export async function verifyJobs(
  engine: Reading,
  ids: readonly JobId[],
  heard: (record: Job, log: readonly Event[]) => void = () => {},
): Promise<Omit<Verification, 'jobs'>> {
  const found: Discrepancy[] = []
  const seen = await look(engine, ids, found)
  let events = 0
  for (const each of seen) {
    events += each.log.length
    judge(each, found)
    heard(each.record, each.log)
  }
  found.push(...(await alteredBodies(engine, seen)))
  const records = seen.map(({ record }) => record)
  found.push(...(await strayAliases(engine, records)), ...(await strayKeys(engine, records)))
  return { events, discrepancies: found }
}

/** Loads all at once; where one of them cannot be read, one half after the other, until it is known which. */
async function look(engine: Reading, ids: readonly JobId[], found: Discrepancy[]): Promise<readonly Seen[]> {
  try {
    const { items } = await engine.load(ids.map((id) => ({ id, log: SHORT_LOG, check: true })))
    const seen: Seen[] = []
    for (const item of items) {
      if (item === undefined) continue
      const { job: record, log, altered = [] } = item
      if (log?.at(-1)?.rev === record.rev) seen.push({ record, log, altered })
      else {
        const whole = await still(engine, record.id)
        if (whole !== undefined) seen.push({ record: whole.loaded.job, log: whole.log, altered })
      }
    }
    return seen
  } catch (error) {
    if (ids.length <= 1) {
      found.push(unreadable(ids[0], error))
      return []
    }
    const half = ids.length >> 1
    return [...(await look(engine, ids.slice(0, half), found)), ...(await look(engine, ids.slice(half), found))]
  }
}

function judge({ record, log, altered }: Seen, found: Discrepancy[]): void {
  const job = record.id
  try {
    for (const name of altered)
      found.push({ job, about: 'body', invariant: undefined, what: `${name} is not what was written` })
    for (const breach of logBreaches(record, log)) found.push({ job, ...breach })
  } catch (error) {
    found.push(unreadable(job, error))
  }
}

async function strayAliases(engine: Reading, jobs: readonly Job[]): Promise<readonly Discrepancy[]> {
  const named = jobs.filter(({ spec }) => spec.alias !== undefined)
  if (named.length === 0) return []
  const { items } = await engine.load(named.map(({ spec }) => ({ id: spec.alias ?? '', tenant: spec.kind.tenant })))
  return named.flatMap(({ id, spec }, i): readonly Discrepancy[] => {
    const there = items[i]?.job.id
    const what = `alias ${spec.alias} leads to ${there ?? 'nothing'}`
    return there === id ? [] : [{ job: id, about: 'key', invariant: undefined, what }]
  })
}

/** A key that is held for a life must lead to the job that lives, and to no job that has ended. */
async function strayKeys(engine: Reading, jobs: readonly Job[]): Promise<readonly Discrepancy[]> {
  const keyed = jobs.filter((job) => keyAsked(job) !== undefined)
  if (keyed.length === 0) return []
  const { items } = await engine.load(keyed.flatMap((job) => keyAsked(job) ?? []))
  const found: Discrepancy[] = []
  for (const [i, job] of keyed.entries()) {
    if (isStray(job, items[i]?.job.id)) found.push(...(await strayKey(engine, job.id)))
  }
  return found
}

/** Keys that lead to another job than this one; a job that moves meanwhile is looked at again. */
async function strayKey(engine: Reading, id: JobId): Promise<readonly Discrepancy[]> {
  for (let n = 0; n < LOOKS; n += 1) {
    const job = (await engine.load([{ id }])).items[0]?.job
    const asked = job && keyAsked(job)
    if (job === undefined || asked === undefined) return []
    const holder = (await engine.load([asked])).items[0]?.job.id
    if (!isStray(job, holder)) return []
    const after = (await engine.load([{ id }])).items[0]?.job
    if (after?.rev !== job.rev) continue
    const what = isEnded(job)
      ? `dedupe key ${job.spec.dedupeKey} is still held although the job has ended`
      : `dedupe key ${job.spec.dedupeKey} is held by ${holder ?? 'nobody'}`
    return [{ job: id, about: 'key', invariant: 'I12', what }]
  }
  return []
}

const isStray = (job: Job, holder: JobId | undefined): boolean => (holder === job.id) === isEnded(job)

function keyAsked(job: Job): LoadItem | undefined {
  const key = keyOf(job)
  if (key === undefined || job.spec.kind.policy.dedupe !== 'live') return undefined
  return { id: key.key, key: 'dedupe', tenant: job.spec.kind.tenant }
}
