/** The libraries people have their transactions from, each with a Postgres of its own and in its own words. */
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import knex from 'knex'
import { CamelCasePlugin, Kysely, type KyselyPlugin, ParseJSONResultsPlugin, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import type { Transaction } from '../../src/index.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPostgresJs } from '../../src/transactions.ts'

/** An open transaction of one of them. */
export interface Inside {
  /** For pawl. */
  readonly tx: Transaction
  /** As the library has it. */
  readonly raw: unknown
  /** An order of the application's own, in the same transaction. */
  order(id: number): Promise<unknown>
  /** A transaction within, or a savepoint; undone where `work` throws, which is thrown on. */
  nested(work: (inside: Inside) => Promise<void>): Promise<void>
}

export interface Library extends AsyncDisposable {
  /** Committed where `work` is done; rolled back where it throws, which is thrown on. */
  transaction(work: (inside: Inside) => Promise<void>): Promise<void>
  /** The database itself, handed over as if it were a transaction. */
  readonly none: Transaction
}

/** What is used of Drizzle, whatever it runs on. */
interface DrizzleScope {
  execute(query: ReturnType<typeof sql>): PromiseLike<unknown>
  transaction(work: (tx: DrizzleScope) => Promise<void>): Promise<void>
}

function drizzleLibrary(db: DrizzleScope, end: () => Promise<void>): Library {
  const inside = (tx: DrizzleScope): Inside => ({
    tx: fromDrizzle(tx, sql),
    raw: tx,
    order: async (id) => tx.execute(sql`insert into orders values (${id})`),
    nested: (work) => tx.transaction((within) => work(inside(within))),
  })
  return {
    transaction: (work) => db.transaction((tx) => work(inside(tx))),
    none: fromDrizzle(db, sql),
    [Symbol.asyncDispose]: end,
  }
}

function knexLibrary(url: string): Library {
  const db = knex({ client: 'pg', connection: url })
  const inside = (trx: knex.Knex.Transaction): Inside => ({
    tx: fromKnex(trx),
    raw: trx,
    order: async (id) => trx('orders').insert({ id }),
    nested: (work) => trx.transaction((within) => work(inside(within))),
  })
  return {
    transaction: (work) => db.transaction((trx) => work(inside(trx))),
    none: fromKnex(db),
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

function kyselyLibrary(url: string, plugins: KyselyPlugin[]): Library {
  const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) })
  const db = new Kysely<{ orders: { id: number } }>({ dialect, plugins })
  return {
    async transaction(work) {
      const trx = await db.startTransaction().execute()
      const inside: Inside = {
        tx: fromKysely(trx),
        raw: trx,
        order: (id) => trx.insertInto('orders').values({ id }).execute(),
        async nested(within) {
          const saved = await trx.savepoint('before').execute()
          try {
            await within({ ...inside, tx: fromKysely(saved), raw: saved })
          } catch (error) {
            await saved.rollbackToSavepoint('before').execute()
            throw error
          }
        },
      }
      try {
        await work(inside)
      } catch (error) {
        await trx.rollback().execute()
        throw error
      }
      await trx.commit().execute()
    },
    none: fromKysely(db),
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

function postgresJsLibrary(url: string, options: postgres.Options<Record<string, never>>): Library {
  const db = postgres(url, { max: 2, onnotice: () => {}, ...options })
  const inside = (tx: postgres.TransactionSql): Inside => ({
    tx: fromPostgresJs(tx),
    raw: tx,
    order: async (id) => tx`insert into orders values (${id})`,
    nested: async (work) => void (await tx.savepoint((within) => work(inside(within)))),
  })
  return {
    transaction: async (work) => void (await db.begin((tx) => work(inside(tx)))),
    none: fromPostgresJs(db),
    [Symbol.asyncDispose]: () => db.end(),
  }
}

export const LIBRARIES: Readonly<Record<string, (url: string) => Library>> = {
  'drizzle on pg': (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    return drizzleLibrary(drizzleOnPg(pool), () => pool.end())
  },
  'drizzle on postgres.js': (url) => {
    const client = postgres(url, { max: 2, onnotice: () => {} })
    return drizzleLibrary(drizzleOnPostgresJs(client), () => client.end())
  },
  knex: knexLibrary,
  kysely: (url) => kyselyLibrary(url, []),
  'kysely with plugins': (url) => kyselyLibrary(url, [new CamelCasePlugin(), new ParseJSONResultsPlugin()]),
  'postgres.js': (url) => postgresJsLibrary(url, {}),
  'postgres.js in camel case': (url) => postgresJsLibrary(url, { transform: postgres.camel }),
}
