/** The other way round: the transaction that a handler is given, in the hands of a library. */
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob, PermanentError, type Transaction } from '../../src/index.ts'
import { openShop, type Shop } from './shop.ts'

const knexes = knex({ client: 'pg' })

/** Each inserts an order in the transaction it is given, in its own words. */
const LIBRARIES: Readonly<Record<string, (tx: Transaction, id: number) => Promise<unknown>>> = {
  drizzle: async (tx, id) => drizzle(driverOf(tx)).execute(sql`insert into orders values (${id})`),
  knex: async (tx, id) => knexes('orders').insert({ id }).connection(driverOf(tx)),
  kysely: (tx, id) => {
    const driver = driverOf(tx)
    const client = { query: driver.query.bind(driver), release: () => {} }
    const dialect = new PostgresDialect({ pool: { options: {}, connect: async () => client, end: async () => {} } })
    return new Kysely<{ orders: { id: number } }>({ dialect }).insertInto('orders').values({ id }).execute()
  },
}

function driverOf(tx: Transaction): pg.Client {
  expect(tx).toBeInstanceOf(pg.Client)
  return tx as pg.Client
}

describe('the transaction of ctx.tx', () => {
  let shop: Shop

  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop[Symbol.asyncDispose]())

  it.each(Object.entries(LIBRARIES))('can be used by %s', async (library, insert) => {
    const { pawl } = shop
    await shop.empty()
    const order = defineJob({
      type: `order.${library}`,
      run: (id: number, ctx) =>
        ctx.tx(async (tx) => {
          await insert(tx, id)
          if (id === 2) throw new PermanentError('no such order')
        }),
    })
    await using _ = pawl.work([order], { poll: '50ms' })
    await (await pawl.enqueue(order, 1)).result({ timeout: '20s' })
    await expect((await pawl.enqueue(order, 2)).result({ timeout: '20s' })).rejects.toThrow('no such order')
    expect(await shop.ordered()).toEqual([1])
  })
})
