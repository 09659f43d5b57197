import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Store } from '../../../src/store/store.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { claimedBy, completion, grantOf, kindOf, newJob, range } from './flow.ts'

let database: FreshDatabase
let store: Store
/** What was asked of the server, by the function. */
let asked: string[] = []

const watched: Connect = (config) => {
  const client = connectWithPg(config)
  return {
    ...client,
    query(question) {
      const [, name] = /"\.(\w+)\(/.exec(question.text) ?? []
      if (name !== undefined) asked.push(name)
      return client.query(question)
    },
  }
}

beforeAll(async () => {
  database = await migratedDatabase()
  store = await openPostgresStore({ url: database.url, migrate: true, connect: watched })
  const { now } = await store.load([])
  await store.insert(range(1, 100).map((n) => newJob(kindOf('loads'), n, now)))
})

beforeEach(() => {
  asked = []
})

afterAll(async () => {
  await store.close()
  await database.drop()
})

const times = (name: string): number => asked.filter((each) => each === name).length

it('loads that come together are read together, and each is answered with what it asked for', async () => {
  const answers = await Promise.all(
    range(1, 100).map((n) =>
      store.load([{ id: idText(n), requestId: idText(n), ...(n % 2 === 0 ? { bodies: ['input'] } : {}) }]),
    ),
  )
  for (const [i, { items, now }] of answers.entries()) {
    const [loaded] = items
    expect(loaded?.job.id).toBe(idText(i + 1))
    expect(loaded?.bodies).toEqual(i % 2 === 1 ? { input: `{"n":${i + 1}}` } : {})
    expect(loaded?.caused.map(({ type }) => type)).toEqual(['enqueued'])
    expect(now).toBeGreaterThanOrEqual(loaded?.job.updatedAt ?? Number.POSITIVE_INFINITY)
  }
  for (const name of ['records', 'bodies', 'caused']) expect(times(name), name).toBe(1)
})

it('tells the time with the records, and asks for it only where there are none', async () => {
  await store.load([{ id: idText(1) }])
  expect(asked).toEqual(['records'])
  asked = []
  const { items, now } = await store.load([{ id: idText(99_999) }])
  expect(items).toEqual([undefined])
  expect(now).toBeGreaterThan(0)
  expect(asked).toEqual(['records', 'clock'])
})

it('whoever asks after a commit sees it, whatever was being read meanwhile', async () => {
  const grant = grantOf('loads', 20)
  const { jobs, now } = await store.claim(grant)
  await Promise.all(
    jobs.map(async (given) => {
      const reading = store.load(range(1, 100).map((n) => ({ id: idText(n) })))
      const end = completion(claimedBy(given, grant), now)
      await store.commit([end])
      const { items } = await store.load([{ id: end.after.id }])
      expect(items[0]?.job).toEqual(end.after)
      await reading
    }),
  )
})

it('what cannot be read concerns whoever asked for it', async () => {
  const [good, bad, worse] = await Promise.allSettled([
    store.load([{ id: idText(1) }]),
    store.load([{ id: 'pj_zzzzzzzzzz' }]),
    store.load([{ id: idText(2), requestId: 'lone \ud800', tenant: 't' }]),
  ])
  expect([good.status, worse.status]).toEqual(['fulfilled', 'fulfilled'])
  expect(bad.status === 'rejected' || bad.value.items[0] === undefined).toBe(true)
})
