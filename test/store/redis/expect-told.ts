/** Judges from outside: what callers were told is so, and is all that there is. */
import { expect } from 'vitest'
import { derive } from '../../../src/core/evolve.ts'
import type { JobId } from '../../../src/core/job.ts'
import type { FeedItem, Loaded, LoadItem, Store } from '../../../src/store/store.ts'
import { documentOf, lastRevision, TENANT, type Told } from './told.ts'

/** Jobs of one question. */
const AT_ONCE = 100
/** No job of a told life has more. */
const LONGEST_LOG = 200

export async function expectTold(store: Store, told: Told): Promise<void> {
  await expectBorn(store, told)
  expect(await there(store, [...told.refused]), 'of jobs that were refused').toEqual([])
  expect(await there(store, [...told.named]), 'jobs that others have met').toHaveLength(told.named.size)
  await expectUnsaid(store, told)
  const { rev, text } = await documentOf(store)
  expect(rev, 'a document does not go back').toBeGreaterThanOrEqual(lastRevision(told))
  expect(text).toBe(told.documents.get(rev) ?? text)
  expectHistory(await feedOf(store), told)
}

/** As they were brought, each with its whole log, and as they were at their ends. */
async function expectBorn(store: Store, { born, ended, owned }: Told): Promise<void> {
  const ids = [...born.keys()]
  const found = await loaded(store, ids, (id) => ({ id, bodies: ['input'], log: LONGEST_LOG }))
  for (const [n, id] of ids.entries()) {
    const item = found[n]
    expect(item?.bodies['input'], `the input of ${id}`).toBe(born.get(id))
    if (item === undefined) continue
    const { job, log = [] } = item
    expect(derive(log), `the events of ${id}`).toEqual(job)
    const owner = owned.get(id)
    if (ended.has(id)) expect([id, job.rev]).toEqual([id, ended.get(id)])
    else if (owner !== undefined) expect([id, job.lease?.fence]).toEqual([id, owner.fence])
  }
}

/** Words that were refused have left nothing. */
async function expectUnsaid(store: Store, { unsaid }: Told): Promise<void> {
  const words = [...unsaid]
  const found = await loaded(store, words, ([requestId, id]) => ({ id, requestId }))
  expect(found.flatMap((item) => item?.caused ?? [])).toEqual([])
}

async function there(store: Store, ids: readonly JobId[]): Promise<readonly Loaded[]> {
  return (await loaded(store, ids, (id) => ({ id }))).filter((item) => item !== undefined)
}

async function loaded<T>(
  store: Store,
  some: readonly T[],
  itemOf: (each: T) => LoadItem,
): Promise<readonly (Loaded | undefined)[]> {
  const found: (Loaded | undefined)[] = []
  for (let from = 0; from < some.length; from += AT_ONCE)
    found.push(...(await store.load(some.slice(from, from + AT_ONCE).map(itemOf))).items)
  return found
}

async function feedOf(store: Store): Promise<readonly FeedItem[]> {
  const all: FeedItem[] = []
  for (let after = ''; ; ) {
    const { feed, cursor = after } = await store.events({ by: 'feed', after, limit: 500 })
    if (feed.length === 0) return all.filter(({ tenant }) => tenant === TENANT)
    all.push(...feed)
    after = cursor
  }
}

/** In the one order of all events: each once, nothing after an end, and never two that live under one key. */
function expectHistory(feed: readonly FeedItem[], { born, ended, keyed }: Told): void {
  const seen = new Set<string>()
  const begun = new Set<JobId>()
  const over = new Set<JobId>()
  let holder: JobId | undefined
  for (const { jobId: id, rev, type } of feed) {
    const event = `${id} ${rev} ${type}`
    expect(seen.has(event), `${event} twice`).toBe(false)
    seen.add(event)
    expect(over.has(id), `${event} after its end`).toBe(false)
    if (type === 'enqueued') {
      expect(begun.has(id), `${id} begins twice`).toBe(false)
      begun.add(id)
      if (keyed.has(id)) expect(holder, `who holds the key when ${id} takes it`).toBeUndefined()
      if (keyed.has(id)) holder = id
    } else if (type === 'succeeded') {
      over.add(id)
      if (holder === id) holder = undefined
    }
  }
  expect(
    [...born.keys()].filter((id) => !begun.has(id)),
    'born, and not in the feed',
  ).toEqual([])
  expect(
    [...begun].filter((id) => !born.has(id)),
    'in the feed, and nobody was told',
  ).toEqual([])
  expect(
    [...ended.keys()].filter((id) => !over.has(id)),
    'ended, and not in the feed',
  ).toEqual([])
}
