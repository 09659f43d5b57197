import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { EDITION } from '../../../src/store/postgres/schema/functions.ts'
import { migrate, migrationStatus, schemaScript } from '../../../src/store/postgres/schema/migrate.ts'
import { migrations } from '../../../src/store/postgres/schema/tables.ts'
import { silentLog } from '../../../src/system/log.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'

let database: FreshDatabase
let client: pg.Client

beforeEach(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterEach(async () => {
  await client.end()
  await database.drop()
})

const ask = async (text: string, values: unknown[] = []) =>
  (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows

/** Everything about a schema that could differ: columns, constraints, indexes, functions, views, rights. */
async function shapeOf(schema: string): Promise<readonly unknown[]> {
  const queries = [
    `select table_name, column_name, data_type, is_nullable, column_default, is_identity from information_schema.columns
     where table_schema = $1 order by 1, 2`,
    `select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
     where connamespace = $1::text::regnamespace order by 1, 2`,
    'select tablename, indexdef from pg_indexes where schemaname = $1 order by 1, 2',
    `select oid::regprocedure::text, pg_get_functiondef(oid), proacl::text from pg_proc
     where pronamespace = $1::text::regnamespace order by 1`,
    'select viewname, definition from pg_views where schemaname = $1 order by 1',
    `select relname, reloptions::text, relacl::text from pg_class where relnamespace = $1::text::regnamespace order by 1`,
  ]
  const all = []
  for (const query of queries) all.push(await ask(query, [schema]))
  return all
}

describe('migrations', () => {
  it('may be run by eight processes at once on an empty database', async () => {
    const stores = await Promise.all(
      Array.from({ length: 8 }, () => openPostgresStore({ url: database.url, migrate: true })),
    )
    for (const store of stores) expect((await store.load([])).now).toBeGreaterThan(0)
    for (const store of stores) await store.close()
    expect(await ask('select count(*)::int from pawl.migration where number > 0')).toEqual([
      [migrations('pawl').length],
    ])
  })

  it('are not even looked at where transactions begin with an older view, and the command to run is said', async () => {
    await client.query(
      `alter role current_user in database ${client.database} set default_transaction_isolation = 'serializable'`,
    )
    const opening = openPostgresStore({ url: database.url, migrate: true })
    await expect(opening).rejects.toThrow(/"serializable".*alter role .* set default_transaction_isolation/)
  })

  it('are refused unless asked for, with the command to run', async () => {
    await expect(openPostgresStore({ url: database.url })).rejects.toThrow(/pawl migrate/)
    expect(await ask(`select count(*)::int from pg_namespace where nspname = 'pawl'`)).toEqual([[0]])
  })

  it('are known by their checksum: one that has changed since is refused', async () => {
    await migrate(ask, 'pawl')
    await client.query(`update pawl.migration set checksum = 'another' where number = 1`)
    await expect(openPostgresStore({ url: database.url })).rejects.toThrow(/0001_tables\.sql.*other words/)
    await expect(openPostgresStore({ url: database.url, migrate: true })).rejects.toThrow(/other words/)
  })

  describe('of a later version', () => {
    const later = (needs: number) =>
      ask('insert into pawl.migration (number, name, checksum, needs) values (9001, $1, $2, $3)', [
        '9001_later.sql',
        'of words nobody knows here',
        needs,
      ])

    it('that let earlier code go on are told to the log, and it goes on', async () => {
      await migrate(ask, 'pawl')
      await later(0)
      const warned: unknown[] = []
      const log = { ...silentLog, warn: (message: string, fields?: object) => void warned.push([message, fields]) }
      for (const mayMigrate of [false, true]) {
        const store = await openPostgresStore({ url: database.url, migrate: mayMigrate, log })
        await store.settings([{ op: 'put', collection: 'token', key: `k${mayMigrate}`, text: '1', rev: 0 }])
        await store.close()
      }
      const told = [expect.stringContaining('newer than this version'), { schema: 'pawl', newer: '9001_later.sql' }]
      expect(warned).toEqual([told, told])
      expect(await migrationStatus(ask, 'pawl')).toMatchObject({ pending: [], newer: ['9001_later.sql'], tooNew: [] })
    })

    it('that do not are refused, with what to do, whether it may migrate or not', async () => {
      await migrate(ask, 'pawl')
      await later(9001)
      for (const mayMigrate of [false, true]) {
        await expect(openPostgresStore({ url: database.url, migrate: mayMigrate })).rejects.toThrow(
          /too new for this version.*9001_later\.sql.*Run the version that migrated it/,
        )
      }
      expect(await migrationStatus(ask, 'pawl')).toMatchObject({ tooNew: ['9001_later.sql'] })
    })

    it('may need something older than this code, and then do not matter to it', async () => {
      await migrate(ask, 'pawl')
      await later(1)
      await (await openPostgresStore({ url: database.url })).close()
    })

    it('are not looked for where the schema is from before they could be told', async () => {
      await migrate(ask, 'pawl')
      await client.query('alter table pawl.migration drop column needs')
      await (await openPostgresStore({ url: database.url })).close()
      await migrate(ask, 'pawl')
      expect(await ask('select max(needs) from pawl.migration')).toEqual([[0]])
    })
  })

  it('can be tried without changing anything', async () => {
    const names = [...migrations('pawl').map(({ name }) => name), 'functions']
    expect(await migrate(ask, 'pawl', { dryRun: true })).toEqual(names)
    expect(await ask(`select count(*)::int from pg_namespace where nspname = 'pawl'`)).toEqual([[0]])
    expect(await migrationStatus(ask, 'pawl')).toEqual({ applied: [], pending: names, newer: [], tooNew: [] })
    await migrate(ask, 'pawl')
    expect(await migrationStatus(ask, 'pawl')).toEqual({ applied: names, pending: [], newer: [], tooNew: [] })
  })

  it('lead from every older version to what a fresh database has', async () => {
    await migrate(ask, 'pawl')
    const fresh = await shapeOf('pawl')
    for (let stop = 1; stop <= migrations('pawl').length; stop += 1) {
      await client.query('drop schema pawl cascade')
      await client.query('create schema pawl')
      await client.query(
        'create table pawl.migration (number int primary key, name text not null, checksum text not null, applied_at timestamptz not null default clock_timestamp())',
      )
      for (const { number, name, sql, checksum } of migrations('pawl').slice(0, stop)) {
        await client.query(sql)
        await ask('insert into pawl.migration (number, name, checksum) values ($1, $2, $3)', [number, name, checksum])
      }
      await migrate(ask, 'pawl')
      expect(await shapeOf('pawl')).toEqual(fresh)
    }
  })

  describe('of functions and views', () => {
    const definition = async () =>
      (
        await ask(
          `select pg_get_functiondef('pawl.feed_end'::regproc), (select proacl::text from pg_proc where oid = 'pawl.feed_end'::regproc)`,
        )
      )[0]
    const changed = () =>
      client.query(
        `create or replace function pawl.feed_end() returns table (now_ms bigint, pos bigint, purged bigint)
         language sql as $$ select 1::bigint, 2::bigint, 3::bigint $$`,
      )

    it('happen whole when any of them is another than here, and give back what was theirs', async () => {
      await migrate(ask, 'pawl')
      const before = await definition()
      await changed()
      expect(await migrate(ask, 'pawl')).toEqual([])
      await client.query(`update pawl.migration set checksum = 'another' where number = 0`)
      await expect(openPostgresStore({ url: database.url })).rejects.toThrow(/lacks functions.*pawl migrate/)
      expect(await migrate(ask, 'pawl')).toEqual(['functions'])
      expect(await definition()).toEqual(before)
      expect(await migrate(ask, 'pawl')).toEqual([])
    })

    it('do not happen where those of a later edition are there, which earlier code goes on with', async () => {
      await migrate(ask, 'pawl')
      await changed()
      await client.query(`update pawl.migration set edition = ${EDITION + 1}, checksum = 'another' where number = 0`)
      const later = await definition()
      expect(await migrate(ask, 'pawl')).toEqual([])
      expect(await migrationStatus(ask, 'pawl')).toMatchObject({ pending: [], newer: ['functions'], tooNew: [] })
      await (await openPostgresStore({ url: database.url, migrate: true, log: silentLog })).close()
      expect(await definition()).toEqual(later)
    })

    it('leave each of them one signature', async () => {
      await migrate(ask, 'pawl')
      const twice = `select proname from pg_proc where pronamespace = 'pawl'::regnamespace group by 1 having count(*) > 1`
      expect(await ask(twice)).toEqual([])
    })
  })

  it('can be dumped as one script that does the same', async () => {
    await migrate(ask, 'pawl')
    const migrated = await shapeOf('pawl')
    await client.query('drop schema pawl cascade')
    await client.query(schemaScript('pawl'))
    expect(await shapeOf('pawl')).toEqual(migrated)
    const store = await openPostgresStore({ url: database.url })
    await store.close()
  })

  it('go into any schema, and two of them do not disturb each other', async () => {
    const one = await openPostgresStore({ url: database.url, schema: 'one', migrate: true })
    const two = await openPostgresStore({ url: database.url, schema: 'Two "2"', migrate: true })
    await one.settings([{ op: 'put', collection: 'token', key: 'k', text: '1', rev: 0 }])
    const [answer] = await two.settings([{ op: 'get', collection: 'token', key: 'k' }])
    expect(answer?.settings).toEqual([])
    await one.close()
    await two.close()
  })
})
