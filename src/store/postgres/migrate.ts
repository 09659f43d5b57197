/**
 * Brings a database to this version's schema: numbered plain `.sql` files, forward only, each once, in one transaction
 * under an advisory lock, so that any number of processes may start at once on an empty database. What was applied is
 * remembered with its checksum; a file that has changed since is refused. Before them `guard.sql`, after them `wall.sql`.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Client } from './client.ts'
import { checkedRole, checkedSchema, inSchema, literal } from './identifiers.ts'
import { quoted } from './statements.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  /** In the schema asked for. */
  readonly sql: string
  readonly checksum: string
}

export interface MigrationStatus {
  readonly applied: readonly string[]
  readonly pending: readonly string[]
}

export interface MigrateOptions {
  /** Apply everything and take it back. */
  readonly dryRun?: boolean | undefined
  /** Who may use the schema besides its owner; the one it has, else one of its own: `pawl_app_<database>`. */
  readonly role?: string | undefined
}

/** A statement that several rows may answer; anything with `pg`'s way of asking will do. */
export type Ask = (text: string, values?: unknown[]) => Promise<readonly (readonly unknown[])[]>

const FOLDER = new URL('./sql/', import.meta.url)

export function migrations(schema: string): readonly Migration[] {
  return readdirSync(fileURLToPath(FOLDER))
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .sort()
    .map((name) => {
      const text = fileNamed(name)
      const checksum = createHash('sha256').update(text).digest('hex')
      return { number: Number(name.slice(0, 4)), name, sql: inSchema(text, schema), checksum }
    })
}

const fileNamed = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8')

/** The whole schema as one script, for whoever applies it by other means. */
export function schemaScript(schema: string, role?: string): string {
  const all = migrations(checkedSchema(schema))
  const record = all.map(
    ({ number, name, checksum }) =>
      `insert into ${quoted(schema)}.migration (number, name, checksum) values (${number}, '${name}', '${checksum}');`,
  )
  return [
    'begin;',
    inSchema(fileNamed('guard.sql'), schema),
    preparation(schema),
    ...all.map(({ sql }) => sql),
    ...record,
    wall(schema, role),
    'commit;',
    '',
  ].join('\n')
}

/** What is applied and what is not, without changing anything. */
export async function migrationStatus(ask: Ask, schema: string): Promise<MigrationStatus> {
  const all = migrations(checkedSchema(schema))
  const [there] = await ask(
    `select count(*) = 3 from pg_attribute a where a.attrelid = to_regclass($1) and not a.attisdropped
       and a.attname in ('number', 'name', 'checksum')`,
    [`${quoted(schema)}.migration`],
  )
  if (there?.[0] !== true && there?.[0] !== 't') return { applied: [], pending: all.map(({ name }) => name) }
  const rows = await ask(`select number, name, checksum from ${quoted(schema)}.migration order by number`)
  const known = new Map(rows.map(([number, name, checksum]) => [Number(number), { name: String(name), checksum }]))
  for (const { number, name, checksum } of all) {
    const found = known.get(number)
    if (found !== undefined && found.name !== name)
      throw new Error(`pawl: schema ${schema} has a table "migration" that is somebody else's; name another schema`)
    if (found !== undefined && found.checksum !== checksum) {
      throw new Error(
        `pawl: migration ${name} was applied to schema ${schema} with other words; a migration never changes`,
      )
    }
  }
  return {
    applied: [...known.values()].map(({ name }) => name),
    pending: all.filter(({ number }) => !known.has(number)).map(({ name }) => name),
  }
}

/** Applies what is pending, and draws the wall anew. Answers with the names of what was applied. */
export async function migrate(
  client: Pick<Client, 'query'> & { query(text: string): Promise<unknown> },
  schema: string,
  { dryRun = false, role }: MigrateOptions = {},
): Promise<readonly string[]> {
  checkedSchema(schema)
  const ask: Ask = async (text, values = []) => {
    const { rows } = await client.query({ text, values, rowMode: 'array', types: undefined as never })
    return rows as readonly (readonly unknown[])[]
  }
  await client.query('begin')
  try {
    await client.query(`select pg_advisory_xact_lock(${lockNumber(schema)})`)
    await client.query(inSchema(fileNamed('guard.sql'), schema))
    await client.query(preparation(schema))
    const { pending } = await migrationStatus(ask, schema)
    for (const { number, name, sql, checksum } of migrations(schema).filter((each) => pending.includes(each.name))) {
      await client.query(sql)
      const insert = `insert into ${quoted(schema)}.migration (number, name, checksum) values ($1, $2, $3)`
      await ask(insert, [number, name, checksum])
    }
    if (pending.length > 0 || role !== undefined) await client.query(wall(schema, role))
    await client.query(dryRun ? 'rollback' : 'commit')
    return pending
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

const preparation = (schema: string): string => `
create schema if not exists ${quoted(schema)};
create table if not exists ${quoted(schema)}.migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp()
);`

const wall = (schema: string, role: string | undefined): string =>
  `set local pawl_migration.role = ${literal(role === undefined ? '' : checkedRole(role))};\n${inSchema(fileNamed('wall.sql'), schema)}`

const lockNumber = (schema: string): string =>
  createHash('sha256').update(`pawl migrations ${schema}`).digest().readBigInt64BE().toString()
