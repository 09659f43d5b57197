import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Inserted, Key, NewJob, Store } from '../../../src/store/store.ts'
import { realClock } from '../../../src/system/clock.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { kindOf, newJob, range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let store: Store
let other: Store
let client: pg.Client
let next = 1

beforeAll(async () => {
  database = await migratedDatabase()
  store = await openPostgresStore({ url: database.url, migrate: true })
  other = await openPostgresStore({ url: database.url })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await other.close()
  await store.close()
  await database.drop()
})

const at = Date.now()
const dedupe = (key: string, until?: number): Key => ({ purpose: 'dedupe', key, until })
const wanting = (...keys: Key[]): NewJob => ({ ...newJob(kindOf('keys'), next++, at), keys })
const statuses = (items: readonly Inserted[]) => items.map(({ status }) => status)

describe('a key that an open transaction holds', () => {
  it('delays nobody who wants another, whether they come together or afterwards', async () => {
    await client.query('begin')
    await store.insert([wanting(dedupe('held'))], client)
    const order: string[] = []
    const note = async (name: string, inserting: Promise<{ readonly items: readonly Inserted[] }>) => {
      const { items } = await inserting
      order.push(`${name}: ${statuses(items)}`)
    }
    const held = [note('held', store.insert([wanting(dedupe('held'))]))]
    await note('together', store.insert([wanting(dedupe('free 1'))]))
    await note('afterwards', store.insert([wanting(dedupe('free 2'))]))
    held.push(note('all or none', store.insert([wanting(dedupe('free 3')), wanting(dedupe('held'))], undefined, true)))
    await note('all or none, afterwards', store.insert([wanting(dedupe('free 4'))], undefined, true))
    expect(order).toEqual(['together: inserted', 'afterwards: inserted', 'all or none, afterwards: inserted'])
    await client.query('commit')
    await Promise.all(held)
    expect(order.slice(3).sort()).toEqual(['all or none: inserted,exists', 'held: exists'])
  })

  it('is whose it was when that is rolled back: the first who waited', async () => {
    await client.query('begin')
    await store.insert([wanting(dedupe('given up'))], client)
    const items = [wanting(dedupe('given up')), wanting(dedupe('given up')), wanting(dedupe('untouched'))]
    const waiting = store.insert(items)
    await store.insert([wanting(dedupe('free 5'))])
    await client.query('rollback')
    expect((await waiting).items).toMatchObject([
      { status: 'inserted' },
      { status: 'exists', by: 'dedupe', job: { id: items[0]?.job.id } },
      { status: 'inserted' },
    ])
  })

  it('is said to be busy in the end', async () => {
    await client.query('begin')
    await store.insert([wanting(dedupe('for ever'))], client)
    const { items } = await store.insert([wanting(dedupe('for ever')), wanting(dedupe('free 6'))])
    expect(statuses(items)).toEqual(['busy', 'inserted'])
    await client.query('rollback')
  })

  it('is given up on at once when the store is closed', async () => {
    await client.query('begin')
    await store.insert([wanting(dedupe('closing'))], client)
    const closing = await openPostgresStore({ url: database.url })
    const waiting = closing.insert([wanting(dedupe('closing'))])
    const refused = expect(waiting).rejects.toThrow('the store is closed')
    await closing.insert([wanting(dedupe('free 7'))])
    await closing.close()
    await refused
    await client.query('rollback')
  })
})

describe('many keys at once', () => {
  it('are given as one after the other would be: to whoever is first, all of a job’s or none', async () => {
    const random = seeded(7)
    const some = (most: number) => Math.floor(random() * most)
    for (let round = 0; round < scaled(30, 1_000); round += 1) {
      const model = openMemoryStore({ clock: realClock })
      const words = range(0, 1 + some(12)).map((n) => `${round} ${n}`)
      const base = next
      next += 50
      const keys = () =>
        new Map(range(0, some(4)).map(() => [words[some(words.length)] ?? '', [undefined, 1, 4e12][some(3)]] as const))
      for (let batch = 0; batch < 3; batch += 1) {
        const items = range(0, 1 + some(15)).map((n) => ({
          // Now and then the same id again.
          ...newJob(kindOf('keys'), base + (some(10) === 0 ? some(40) : batch * 15 + n), at),
          keys: Array.from(keys(), ([key, until]) => dedupe(key, until)),
        }))
        const expected = (await model.insert(items)).items.map(told)
        const inTheirs = some(2) === 0
        if (inTheirs) await client.query('begin')
        expect((await store.insert(items, inTheirs ? client : undefined)).items.map(told)).toEqual(expected)
        if (inTheirs) await client.query('commit')
      }
      await model.close()
    }
  })

  it('do not stand in each other’s way, in whatever order two processes want them', async () => {
    const words = range(0, 300).map((n) => `crossing ${n}`)
    const forwards = words.map((word) => wanting(dedupe(word)))
    const backwards = words.toReversed().map((word) => wanting(dedupe(word)))
    const answers = await Promise.all([store.insert(forwards), other.insert(backwards)])
    const [a, b] = answers.map(({ items }) => statuses(items))
    expect(b?.toReversed()).toEqual(a?.map((status) => (status === 'inserted' ? 'exists' : 'inserted')))
  })

  it('leave each job with its keys and nobody else’s', async () => {
    const loaded = await store.load([{ id: 'crossing 7', key: 'dedupe', tenant: 't' }])
    const { rows } = await client.query(`select job from pawl.key where key = 'crossing 7'`)
    expect(loaded.items[0]?.job.id).toBe(idText(Number(rows[0]?.job)))
    const { rows: strays } = await client.query(
      `select key from pawl.key k where not exists (select from pawl.job where id = k.job)`,
    )
    expect(strays).toEqual([])
  })
})

const told = (answer: Inserted) =>
  answer.status === 'exists' ? { by: answer.by, id: answer.job.id } : { status: answer.status }

describe('a call that is more than one batch', () => {
  it('gives a key that it wants twice to the first who wants it', async () => {
    const items = range(0, 2_500).map((n) => wanting(dedupe(`batch ${n === 2_400 || n === 1_200 ? 3 : n}`)))
    const { items: answers } = await store.insert(items)
    const others = answers.flatMap((answer, n) => (answer.status === 'inserted' ? [] : [n]))
    expect(others).toEqual([1_200, 2_400])
    for (const n of others) expect(answers[n]).toMatchObject({ job: { id: items[3]?.job.id } })
  })

  it('of two calls that want the same keys at once, each key is given once', async () => {
    const calls = [store, other].map((one) => {
      const items = range(0, 3_000).map((n) => wanting(dedupe(`both ${n}`)))
      return one.insert(items)
    })
    const [a, b] = (await Promise.all(calls)).map(({ items }) => statuses(items))
    for (const n of range(0, 3_000))
      expect([a?.[n], b?.[n]].filter((status) => status === 'inserted').length, `${n}`).toBe(1)
  })
})
