import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob, defineSpec, Invalid, type Pawl } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { LIBRARIES, type Library } from './libraries.ts'
import { openShop, type Shop } from './shop.ts'

const mail = defineSpec({ type: 'mail' })
/** Whatever a driver might write or read in its own way. */
const INPUT = { text: '{"a": 1} $1 ? :x \\ \' 💌', list: [1, [2]], nothing: null, when: '2026-01-01T00:00:00Z' }

const enough = new Error('enough')

let shop: Shop
let pawl: Pawl

beforeAll(async () => {
  shop = await openShop()
  pawl = shop.pawl
})
afterAll(() => shop[Symbol.asyncDispose]())

const ordered = async (id: number) => (await shop.ordered()).includes(id)

describe.each(Object.entries(LIBRARIES))('a transaction of %s', (name, library) => {
  let theirs: Library

  beforeAll(async () => {
    await shop.empty()
    theirs = library(shop.url)
  })
  afterAll(() => theirs[Symbol.asyncDispose]())

  it('commits jobs and orders together, and not before', async () => {
    const ids: string[] = []
    await theirs.transaction(async ({ tx, order }) => {
      await order(1)
      ids.push((await pawl.enqueue(mail, INPUT, { tx })).id)
      ids.push((await pawl.enqueue(mail, INPUT, { tx, delay: '1h' })).id)
      for (const { id } of await pawl.enqueueMany(mail, [INPUT, INPUT], { tx })) ids.push(id)
      for (const { id } of await pawl.enqueueMany(mail, [INPUT, INPUT], { tx, atomic: true })) ids.push(id)
      for (const id of ids) expect(await pawl.get(id)).toBeUndefined()
    })
    expect(new Set(ids).size).toBe(6)
    for (const id of ids) expect(await pawl.body(id, 'input')).toEqual(INPUT)
    expect(await ordered(1)).toBe(true)
  })

  it('has its jobs run once it is committed, although nobody is told to look', async () => {
    const run = defineJob({ type: 'soon', queue: `soon ${name}`, run: (n: number) => n + 1 })
    await using worker = pawl.work([run], { poll: '1h' })
    let id = ''
    await theirs.transaction(async ({ tx }) => {
      id = (await pawl.enqueue(run, 1, { tx })).id
      await eventually('the transaction to take a while', async () => (await shop.openForMs()) > 100)
    })
    expect(await pawl.handle(id).result({ timeout: '20s' })).toBe(2)
    expect(worker.running).toBe(0)
  })

  it('rolls both back', async () => {
    let id = ''
    const failing = theirs.transaction(async ({ tx, order }) => {
      await order(2)
      id = (await pawl.enqueue(mail, INPUT, { tx, dedupeKey: `two ${name}` })).id
      throw enough
    })
    await expect(failing).rejects.toBe(enough)
    expect([await pawl.get(id), await ordered(2)]).toEqual([undefined, false])
    expect((await pawl.enqueue(mail, INPUT, { dedupeKey: `two ${name}` })).deduped).toBe(false)
  })

  it('undoes what was enqueued within a transaction within', async () => {
    const ids: string[] = []
    await theirs.transaction(async ({ tx, order, nested }) => {
      ids.push((await pawl.enqueue(mail, 'before', { tx })).id)
      const undone = nested(async (inside) => {
        await inside.order(3)
        ids.push((await pawl.enqueue(mail, 'within', { tx: inside.tx })).id)
        throw enough
      })
      await expect(undone).rejects.toBe(enough)
      await nested(async (inside) => {
        ids.push((await pawl.enqueue(mail, 'within again', { tx: inside.tx })).id)
      })
      await order(4)
      ids.push((await pawl.enqueue(mail, 'after', { tx })).id)
    })
    const there = await Promise.all(ids.map(async (id) => (await pawl.get(id)) !== undefined))
    expect(there).toEqual([true, false, true, true])
    expect([await ordered(3), await ordered(4)]).toEqual([false, true])
  })

  it('finds who has the key: in the same transaction, and outside', async () => {
    const outside = await pawl.enqueue(mail, INPUT, { dedupeKey: `outside ${name}` })
    await theirs.transaction(async ({ tx }) => {
      const first = await pawl.enqueue(mail, INPUT, { tx, dedupeKey: `inside ${name}` })
      const second = await pawl.enqueue(mail, INPUT, { tx, dedupeKey: `inside ${name}` })
      expect(second).toMatchObject({ id: first.id, deduped: true })
      expect(await pawl.enqueue(mail, INPUT, { tx, dedupeKey: `outside ${name}` })).toMatchObject({
        id: outside.id,
        deduped: true,
      })
    })
  })

  it('is left as it was by a job that is refused, and goes on', async () => {
    await pawl.enqueue(mail, 'another', { id: `taken ${name}` })
    await theirs.transaction(async ({ tx, order }) => {
      await expect(pawl.enqueue(mail, INPUT, { tx, id: `taken ${name}` })).rejects.toMatchObject({ name: 'Refused' })
      await order(5)
    })
    expect(await ordered(5)).toBe(true)
  })

  it('that has failed already says so, and nothing is there', async () => {
    const before = (await pawl.find()).jobs.length
    const failing = theirs.transaction(async ({ tx, order }) => {
      await order(6)
      await expect(order(6)).rejects.toThrow()
      await expect(pawl.enqueue(mail, INPUT, { tx })).rejects.toThrow(/current transaction is aborted|Failed query/)
      throw enough
    })
    await expect(failing).rejects.toThrow()
    expect([(await pawl.find()).jobs.length, await ordered(6)]).toEqual([before, false])
  })

  it('handed over as it is, is told its adapter', async () => {
    await theirs.transaction(async ({ raw, nested }) => {
      await nested(async (within) => {
        for (const tx of [raw, within.raw]) {
          const refused = await pawl.enqueue(mail, 1, { tx: tx as never }).catch((error: unknown) => error)
          expect(refused).toBeInstanceOf(Invalid)
          expect((refused as Invalid).message).toMatch(
            /hand over from(?:Drizzle\(tx, sql\)|(?:Knex|Kysely|PostgresJs)\(tx\))/,
          )
        }
      })
    })
  })

  it('is refused where none is open', async () => {
    const before = (await pawl.find()).jobs.length
    await expect(pawl.enqueue(mail, INPUT, { tx: theirs.none })).rejects.toMatchObject({ code: 'NO_TRANSACTION' })
    expect((await pawl.find()).jobs.length).toBe(before)
  })

  it('leaves a log that adds up', async () => {
    expect((await pawl.verify()).discrepancies).toEqual([])
  })
})
