import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import type { NewJob } from '../../../src/store/store.ts'
import { ownFile } from './folder.ts'
import { clockOf, newJob } from './life.ts'

const commits = (path: string): unknown => {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare('SELECT count(*) AS n FROM entry').get()?.['n']
  } finally {
    db.close()
  }
}

describe('group commit', () => {
  it('64 single calls in flight are a handful of commits', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => store.insert([newJob(i + 1, now)])))
    expect(answers.flatMap(({ items }) => items)).toEqual(Array(64).fill({ status: 'inserted' }))
    expect(commits(path)).toBeLessThanOrEqual(8)
    await store.close()
  })

  it('a call alone is a commit alone', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    for (let number = 1; number <= 5; number += 1) await store.insert([newJob(number, now)])
    expect(commits(path)).toBe(5)
    await store.close()
  })

  it('an item that cannot be kept fails neither its neighbours in the call nor those in the commit', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    const good = newJob(2, now)
    const bad = {
      ...good,
      job: { ...good.job, id: idText(3), priority: 5.5 },
      event: { ...good.event, jobId: idText(3) },
    }
    const nameless = { ...good, job: { ...good.job, id: 'not-ours' } }
    const answers = await Promise.all([
      store.insert([newJob(1, now)]),
      store.insert([good, bad, nameless, newJob(4, now)]),
      store.insert([newJob(5, now)]),
    ])
    const statuses = answers.map(({ items }) => items.map(({ status }) => status))
    expect(statuses).toEqual([['inserted'], ['inserted', 'rejected', 'rejected', 'inserted'], ['inserted']])
    expect(answers[1]?.items[2]).toMatchObject({ field: 'job.id' })
    const { jobs } = await store.find({ order: 'oldest', limit: 10 })
    expect(jobs.map(({ id }) => id)).toEqual([1, 2, 4, 5].map(idText))
    const { feed } = await store.events({ by: 'feed', after: '', limit: 10 })
    expect(feed.map(({ jobId }) => jobId).sort()).toEqual([1, 2, 4, 5].map(idText))
    await store.close()
  })

  it('a kind that came with an item that was rejected is none the worse for it', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    const inQueue = (number: number, queue: string): NewJob => {
      const item = newJob(number, now)
      const spec = { ...item.job.spec, kind: { ...item.job.spec.kind, queue } }
      const event = { ...item.event, payload: { ...item.event.payload, spec } } as NewJob['event']
      return { ...item, job: { ...item.job, spec }, event }
    }
    // Half a millisecond cannot be kept.
    const broken = { ...inQueue(2, 'doomed'), keys: [{ purpose: 'dedupe', key: 'k', until: 1.5 }] as const }
    const beside = [store.insert([inQueue(1, 'a')]), store.insert([broken]), store.insert([inQueue(3, 'b')])]
    const answers = await Promise.all(beside)
    expect(answers.map(({ items }) => items[0]?.status)).toEqual(['inserted', 'rejected', 'inserted'])
    const queues = async () =>
      (await store.find({ order: 'oldest', limit: 10 })).jobs.map(({ spec }) => spec.kind.queue)
    expect(await queues()).toEqual(['a', 'b'])
    await store.insert([inQueue(4, 'doomed')])
    expect(await queues()).toEqual(['a', 'b', 'doomed'])
    await store.close()
  })
})

describe('single inserts in one commit', () => {
  it('are answered each with its own: the second of two with one id finds the first', async () => {
    const store = await openSqliteStore({ path: ownFile() })
    const now = await clockOf(store)
    await store.insert([newJob(1, now)])
    const twice = [2, 3, 3, 1, 4].map((number) => store.insert([newJob(number, now)]))
    const answers = (await Promise.all(twice)).map(({ items }) => items[0])
    expect(answers.map((item) => item?.status)).toEqual(['inserted', 'inserted', 'exists', 'exists', 'inserted'])
    expect(answers[2]).toMatchObject({ by: 'id', job: newJob(3, now).job })
    const { jobs } = await store.find({ states: ['queued'], order: 'oldest', limit: 10 })
    expect(jobs.map(({ id }) => id)).toEqual([1, 2, 3, 4].map(idText))
    const { tally } = await store.events({ by: 'tally' })
    expect(tally).toMatchObject([{ state: 'queued', count: 4 }])
    await store.close()
  })

  it('one of which cannot be kept fails no other, whatever its place', async () => {
    const store = await openSqliteStore({ path: ownFile() })
    const now = await clockOf(store)
    await store.insert([newJob(1, now)])
    const broken = newJob(3, now)
    const items = [
      newJob(2, now),
      { ...broken, job: { ...broken.job, readyAt: now + 0.5 } as NewJob['job'] },
      newJob(4, now),
    ]
    const answers = (await Promise.all(items.map((item) => store.insert([item])))).map(({ items: [item] }) => item)
    expect(answers.map((item) => item?.status)).toEqual(['inserted', 'rejected', 'inserted'])
    const { jobs } = await store.find({ order: 'oldest', limit: 10 })
    expect(jobs.map(({ id }) => id)).toEqual([1, 2, 4].map(idText))
    await store.close()
  })
})
