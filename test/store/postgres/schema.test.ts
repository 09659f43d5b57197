/** A schema of its own: what the owner has elsewhere, or had there before, is never touched. */
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { quoted } from '../../../src/store/postgres/connection/statements.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { inSchema } from '../../../src/store/postgres/schema/identifiers.ts'
import { migrate, schemaScript } from '../../../src/store/postgres/schema/migrate.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { audit, drain, kindOf, Ledger, newJob, range } from './flow.ts'

let database: FreshDatabase
let owner: pg.Client

beforeEach(async () => {
  database = await freshDatabase()
  owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
})

afterEach(async () => {
  await owner.end()
  await database.drop()
})

const ask = async (text: string, values: unknown[] = []) =>
  (await owner.query<unknown[]>({ text, values, rowMode: 'array' })).rows

/** Who may do what with which schema, table and function, and as whom functions run. */
const rightsIn = async (schema: string) => [
  await ask('select nspacl::text from pg_namespace where nspname = $1', [schema]),
  await ask(
    'select relname, relacl::text from pg_class c join pg_namespace n on n.oid = c.relnamespace where nspname = $1 order by 1',
    [schema],
  ),
  await ask(
    `select p.oid::regprocedure::text, prosecdef, proacl::text, proconfig::text from pg_proc p
     join pg_namespace n on n.oid = p.pronamespace where nspname = $1 order by 1`,
    [schema],
  ),
]

const furnish = async (schema: string) => {
  const s = quoted(schema)
  if (schema !== 'public') await owner.query(`create schema ${s}; grant usage on schema ${s} to public`)
  await owner.query(`create table ${s}.users (id int); grant select on ${s}.users to public`)
  await owner.query(
    `create function ${s}.runsql(words text) returns void language plpgsql set search_path = ${s} as $$ begin execute words; end $$`,
  )
}

describe('a schema that is somebody’s', () => {
  it.each(['app', 'public', 'App', "it's"])('is refused and left as it was: %s', async (schema) => {
    await furnish(schema)
    const before = await rightsIn(schema)
    await expect(migrate(ask, schema)).rejects.toThrow(
      schema === 'public' ? /everybody's/ : /holds what is not ours: .* and 1 more/,
    )
    await expect(openPostgresStore({ url: database.url, schema, migrate: true })).rejects.toThrow()
    if (schema !== 'public') {
      await expect(owner.query(schemaScript(schema))).rejects.toThrow(/holds what is not ours/)
      await owner.query('rollback')
    }
    expect(await rightsIn(schema)).toEqual(before)
  })

  it.each([
    ['of other columns', 'create table app.migration (id int, applied boolean)'],
    ['of the same columns', `create table app.migration as select 1 as number, 'init' as name, 'x' as checksum`],
    ['of the same columns, empty', 'create table app.migration (number int, name text, checksum text)'],
  ])('is not taken for ours because of a table "migration" %s', async (_, table) => {
    await owner.query(`create schema app; ${table}`)
    await expect(openPostgresStore({ url: database.url, schema: 'app' })).rejects.toThrow(/somebody else's|lacks/)
    await expect(migrate(ask, 'app')).rejects.toThrow(/holds what is not ours: table app\.migration/)
  })

  it('is refused, even empty, where others may make things in it', async () => {
    await owner.query('create schema app; grant create on schema app to public')
    await expect(migrate(ask, 'app')).rejects.toThrow(/public may make things in schema app/)
    await owner.query('revoke create on schema app from public')
    expect(await migrate(ask, 'app')).toContain('functions')
  })
})

describe('what an owner keeps beside pawl’s own', () => {
  it('stays as it was, whatever is migrated later', async () => {
    await migrate(ask, 'pawl')
    await owner.query('create table pawl.mine (id int); grant select on pawl.mine to public')
    await owner.query(
      'create function pawl.mine() returns int language sql set search_path = pg_catalog as $$ select 1 $$',
    )
    const rights = async () =>
      (await rightsIn('pawl')).map((rows) => rows.filter(([name]) => String(name).includes('mine')))
    const before = await rights()
    await owner.query('delete from pawl.migration where number = 0')
    await owner.query('drop view pawl.jobs, pawl.events; drop function pawl.event_name')
    expect(await migrate(ask, 'pawl')).toEqual(['functions'])
    expect(await rights()).toEqual(before)
    expect(before.flat()).toHaveLength(2)
  })
})

describe('a schema by any name', () => {
  it.each(['App', 'user', 'it\'s "2"', "'; drop table users; --", `späße %s \u{1f980} & ${'x'.repeat(44)}`])(
    'works like the usual one: %s',
    async (schema) => {
      const store = await openPostgresStore({ url: database.url, schema, migrate: true })
      try {
        const { now } = await store.load([])
        await store.insert(range(1, 40).map((n) => newJob(kindOf('named'), n, now)))
        await drain(store, 'named', new Ledger(), 40, () => 20)
        await audit(store, range(1, 40))
      } finally {
        await store.close()
      }
      await owner.query(`drop schema ${quoted(schema)} cascade`)
      await owner.query(schemaScript(schema))
      expect(await migrate(ask, schema)).toEqual([])
      expect(await ask(`select count(*) > 10 from pg_tables where schemaname = $1`, [schema])).toEqual([[true]])
    },
  )

  it('is refused where Postgres would cut the name off, read it as something else, or keep it for itself', async () => {
    const bad: readonly (readonly [name: string, why: RegExp])[] = [
      ['', /1 to 63 bytes/],
      ['x'.repeat(64), /this one has 64/],
      ['ä'.repeat(32), /this one has 64/],
      ['$user', /no control character/],
      ['a$$b', /no control character/],
      ['a\\b', /no control character/],
      ['a\u0000b', /no control character/],
      ['a\nb', /no control character/],
      ['\ud800', /no control character/],
      ['pg_jobs', /Postgres' own/],
      ['information_schema', /everybody's/],
    ]
    for (const [schema, why] of bad) {
      await expect(migrate(ask, schema), schema).rejects.toThrow(why)
      expect(() => schemaScript(schema), schema).toThrow(why)
      await expect(openPostgresStore({ url: database.url, schema }), schema).rejects.toThrow(why)
    }
  })

  it('is quoted as each place demands, and nothing else is', () => {
    const sql = `select pawl.f('pawl.x', 'it''s pawl', pawlish) -- pawl's\nfrom "pawl"`
    expect(inSchema(sql, "o'b$&")).toBe(`select "o'b$&".f('"o''b$&".x', 'it''s "o''b$&"', pawlish) \nfrom ""o'b$&""`)
  })
})

describe('the role of an installation', () => {
  const grantees = (schema: string) =>
    ask(
      `select distinct r.rolname from pg_proc p cross join lateral aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
       join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1 and a.grantee <> p.proowner`,
      [schema],
    )

  it('is one of its own, by schema and database', async () => {
    await migrate(ask, 'pawl')
    await migrate(ask, 'Jobs')
    expect(await grantees('pawl')).toEqual([[`pawl_app_${owner.database}`]])
    expect(await grantees('Jobs')).toEqual([[`Jobs_app_${owner.database}`]])
  })

  it('is the one that was asked for, then and later', async () => {
    const role = `o'rders "${owner.database}"`
    await owner.query(`create role ${quoted(role)}`)
    await migrate(ask, 'pawl', { role })
    expect(await grantees('pawl')).toEqual([[role]])
    await owner.query('delete from pawl.migration where number = 12')
    await owner.query('drop view pawl.jobs, pawl.events; drop function pawl.event_name')
    await migrate(ask, 'pawl')
    expect(await grantees('pawl')).toEqual([[role]])
    for (const bad of ['public', 'pg_monitor', 'x'.repeat(64)])
      await expect(migrate(ask, 'pawl', { role: bad })).rejects.toThrow(/^pawl: /)
  })

  it('is not the one of another installation', async () => {
    await migrate(ask, 'pawl')
    const role = `pawl_app_${owner.database}`
    await expect(migrate(ask, 'jobs', { role })).rejects.toThrow(/another installation's: it may use schema pawl of/)
    expect(await ask(`select count(*)::int from pg_namespace where nspname = 'jobs'`)).toEqual([[0]])
  })

  it('lets nobody into another database of the server', async () => {
    await using other = await freshDatabase()
    const there = await openPostgresStore({ url: other.url, migrate: true })
    await there.close()
    await migrate(ask, 'pawl')
    const name = `visitor_${owner.database}`
    await owner.query(`create role ${name} login in role pawl_app_${owner.database}`)
    const [home, abroad] = [database.url, other.url].map((url) => {
      const asVisitor = new URL(url)
      asVisitor.username = name
      return new pg.Client({ connectionString: asVisitor.href })
    })
    if (home === undefined || abroad === undefined) throw new Error('there are two')
    await home.connect()
    await abroad.connect()
    expect((await home.query('select pawl.clock()')).rows).toHaveLength(1)
    await expect(abroad.query('select pawl.clock()')).rejects.toThrow(/permission denied for schema pawl/)
    await expect(abroad.query('select * from pawl.jobs')).rejects.toThrow(/permission denied/)
    await home.end()
    await abroad.end()
  })

  it('is made by name, for everything that the migrations made', async () => {
    await migrate(ask, 'pawl')
    const open = await ask(
      `select c.oid::regclass::text from pg_class c where relnamespace = 'pawl'::regnamespace and relkind in ('r', 'v')
         and relacl is null
       union all select p.oid::regprocedure::text from pg_proc p where pronamespace = 'pawl'::regnamespace and proacl is null
       union all select p.oid::regprocedure::text from pg_proc p where pronamespace = 'pawl'::regnamespace
         and (proconfig is not null) <> prosecdef`,
    )
    expect(open).toEqual([])
  })
})
