/**
 * Brings a database to this version's schema: numbered plain `.sql` files, forward only, each once, in one transaction
 * under an advisory lock, so that any number of processes may start at once on an empty database. What was applied is
 * remembered with its checksum; a file that has changed since is refused. Before them `guard.sql`, after them `wall.sql`.
 *
 * The schema is brought up to date first and the code is rolled out after it, so that for a while older code meets a newer
 * schema. A migration lets the code before it go on; one that cannot begins with a line `-- needs 0013`, the number that
 * code must know to go on after it. That is remembered, too: code that does not know as much refuses to open.
 */
import { createHash } from 'node:crypto'
import { assert } from '../../core/assert.ts'
import { checkedRole, checkedSchema, inSchema, literal } from './identifiers.ts'
import { sqlFiles } from './sql-files.ts'
import { quoted } from './statements.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  /** In the schema asked for. */
  readonly sql: string
  readonly checksum: string
  /** Code that does not know the migration of this number cannot go on once this one is applied; 0: all can. */
  readonly needs: number
}

export interface MigrationStatus {
  readonly applied: readonly string[]
  readonly pending: readonly string[]
  /** Applied by a later version than this one, which does not know them. */
  readonly newer: readonly string[]
  /** Those among them that this version cannot go on after. */
  readonly tooNew: readonly string[]
}

export interface MigrateOptions {
  /** Apply everything and take it back. */
  readonly dryRun?: boolean | undefined
  /** Who may use the schema besides its owner; the one it has, else one of its own: `pawl_app_<database>`. */
  readonly role?: string | undefined
}

/** A statement, or several without values, on one connection. */
export type Ask = (text: string, values?: unknown[]) => Promise<readonly (readonly unknown[])[]>

export function migrations(schema: string): readonly Migration[] {
  return [...sqlFiles()]
    .filter(([name]) => /^\d{4}_.*\.sql$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => {
      const checksum = createHash('sha256').update(text).digest('hex')
      const needs = Number(/^-- needs (\d{4})\b/.exec(text)?.[1] ?? 0)
      return { number: Number(name.slice(0, 4)), name, sql: inSchema(text, schema), checksum, needs }
    })
}

function fileNamed(name: string): string {
  const text = sqlFiles().get(name)
  assert(text !== undefined, `${name} is among the files of the schema`)
  return text
}

/** The whole schema as one script, for whoever applies it by other means. */
export function schemaScript(schema: string, role?: string): string {
  const all = migrations(checkedSchema(schema))
  const record = all.map(
    ({ number, name, checksum, needs }) =>
      `insert into ${quoted(schema)}.migration (number, name, checksum, needs) values (${number}, '${name}', '${checksum}', ${needs});`,
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
  if (there?.[0] !== true && there?.[0] !== 't') {
    return { applied: [], pending: all.map(({ name }) => name), newer: [], tooNew: [] }
  }
  // By way of JSON: a schema that was made before there was such a column needs nothing.
  const needs = `coalesce((to_jsonb(m) ->> 'needs')::int, 0)`
  const rows = await ask(`select number, name, checksum, ${needs} from ${quoted(schema)}.migration m order by number`)
  const applied = rows.map(([number, name, checksum, least]) => ({
    number: Number(number),
    name: String(name),
    checksum,
    needs: Number(least),
  }))
  for (const { number, name, checksum } of all) {
    const found = applied.find((each) => each.number === number)
    if (found !== undefined && found.name !== name)
      throw new Error(`pawl: schema ${schema} has a table "migration" that is somebody else's; name another schema`)
    if (found !== undefined && found.checksum !== checksum) {
      throw new Error(
        `pawl: migration ${name} was applied to schema ${schema} with other words; a migration never changes`,
      )
    }
  }
  const known = all.at(-1)?.number ?? 0
  const newer = applied.filter(({ number }) => number > known)
  return {
    applied: applied.map(({ name }) => name),
    pending: all.filter(({ number }) => !applied.some((each) => each.number === number)).map(({ name }) => name),
    newer: newer.map(({ name }) => name),
    tooNew: newer.filter((each) => each.needs > known).map(({ name }) => name),
  }
}

/** Applies what is pending, and draws the wall anew. Answers with the names of what was applied. */
export async function migrate(
  ask: Ask,
  schema: string,
  { dryRun = false, role }: MigrateOptions = {},
): Promise<readonly string[]> {
  checkedSchema(schema)
  await ask('begin')
  try {
    await ask(`select pg_advisory_xact_lock(${lockNumber(schema)})`)
    await ask(inSchema(fileNamed('guard.sql'), schema))
    await ask(preparation(schema))
    const { pending } = await migrationStatus(ask, schema)
    const missing = migrations(schema).filter(({ name }) => pending.includes(name))
    for (const { number, name, sql, checksum, needs } of missing) {
      await ask(sql)
      const insert = `insert into ${quoted(schema)}.migration (number, name, checksum, needs) values ($1, $2, $3, $4)`
      await ask(insert, [number, name, checksum, needs])
    }
    if (pending.length > 0 || role !== undefined) await ask(wall(schema, role))
    await ask(dryRun ? 'rollback' : 'commit')
    return pending
  } catch (error) {
    await ask('rollback').catch(() => {})
    throw error
  }
}

const preparation = (schema: string): string => `
create schema if not exists ${quoted(schema)};
create table if not exists ${quoted(schema)}.migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp(),
  needs int not null default 0
);
alter table ${quoted(schema)}.migration add column if not exists needs int not null default 0;`

const wall = (schema: string, role: string | undefined): string =>
  `set local pawl_migration.role = ${literal(role === undefined ? '' : checkedRole(role))};\n${inSchema(fileNamed('wall.sql'), schema)}`

const lockNumber = (schema: string): string =>
  createHash('sha256').update(`pawl migrations ${schema}`).digest().readBigInt64BE().toString()
