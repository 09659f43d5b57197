/**
 * Brings a database to this version's schema, in one transaction under an advisory lock, so that any number of processes
 * may start at once on an empty database: `guard.sql`; the tables (tables.ts), numbered, forward only, each once; the
 * functions and views (functions.ts), whole, if any has changed; `wall.sql`. What was applied is remembered with its
 * checksum; a numbered file that has changed since is refused.
 *
 * The schema is brought up to date first and the code is rolled out after it, so that for a while older code meets a newer
 * schema. A migration lets the code before it go on; one that cannot begins with a line `-- needs 0013`, the number that
 * code must know to go on after it. That is remembered, too: code that does not know as much refuses to open.
 */
import { createHash } from 'node:crypto'
import { quoted } from '../connection/statements.ts'
import type { Blueprint } from './blueprint.ts'
import { functionsIn } from './functions.ts'
import { checkedSchema, inSchema, literal } from './identifiers.ts'
import { STORE } from './store.ts'
import { migrations, schemaFile } from './tables.ts'
import { wallIn } from './wall.ts'

export interface MigrationStatus {
  readonly applied: readonly string[]
  /** Numbered files, and `functions` where they are not those of this version or a later one. */
  readonly pending: readonly string[]
  /** Applied by a later version than this one, which does not know them; `functions` are those of its edition then. */
  readonly newer: readonly string[]
  /** Those of the newer ones that this version cannot work with. */
  readonly tooNew: readonly string[]
}

export interface MigrateOptions {
  /** Apply everything and take it back. */
  readonly dryRun?: boolean | undefined
  /** The role that may use the schema besides its owner. Unless given: the one it has, else one of its own, `pawl_app_<database>`. */
  readonly role?: string | undefined
  /** Called where another transaction has the lock, which is then waited for as long as that takes. */
  readonly waits?: (() => void) | undefined
}

/** The row of `migration` that remembers the hash of functions and views: numbered before the first migration. */
const FUNCTIONS = { number: 0, name: 'functions' }

/** A statement, or several without values, on one connection. */
export type Ask = (text: string, values?: unknown[]) => Promise<readonly (readonly unknown[])[]>

/** The whole schema as one script, for installations that apply it by other means. */
export function schemaScript(schema: string, role?: string, blueprint = STORE): string {
  const all = migrations(checkedSchema(schema), blueprint)
  const record = all.map(
    ({ number, name, checksum, needs }) =>
      `insert into ${quoted(schema)}.migration (number, name, checksum, needs) values (${number}, '${name}', '${checksum}', ${needs});`,
  )
  return [
    'begin;',
    guardIn(blueprint, schema),
    preparation(schema),
    ...all.map(({ sql }) => sql),
    ...record,
    functionsIn(blueprint, schema).sql,
    functionsRecord(blueprint, schema),
    wallIn(blueprint, schema, role),
    'commit;',
    '',
  ].join('\n')
}

/** Which migrations are applied and which are not; changes nothing. */
export async function migrationStatus(ask: Ask, schema: string, blueprint = STORE): Promise<MigrationStatus> {
  const all = migrations(checkedSchema(schema), blueprint)
  const [there] = await ask(
    `select count(*) = 3 from pg_attribute a where a.attrelid = to_regclass($1) and not a.attisdropped
       and a.attname in ('number', 'name', 'checksum')`,
    [`${quoted(schema)}.migration`],
  )
  if (there?.[0] !== true && there?.[0] !== 't') {
    return { applied: [], pending: [...all.map(({ name }) => name), FUNCTIONS.name], newer: [], tooNew: [] }
  }
  // By way of JSON, since a schema that was made before there was such a column does not have it: then it needs nothing.
  const columns = `number, name, checksum, coalesce((to_jsonb(m) ->> 'needs')::int, 0), to_jsonb(m) ->> 'edition'`
  const rows = (await ask(`select ${columns} from ${quoted(schema)}.migration m order by number`)).map(
    ([number, name, checksum, needs, edition]) => ({
      number: Number(number),
      name: String(name),
      checksum,
      needs: Number(needs),
      edition: Number(edition ?? 0),
    }),
  )
  const applied = rows.filter(({ number }) => number > FUNCTIONS.number)
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
  const missing = all.filter(({ number }) => !applied.some((each) => each.number === number)).map(({ name }) => name)
  const functions = rows.find(({ number }) => number === FUNCTIONS.number)
  const edition = functions?.edition ?? 0
  const current = edition === blueprint.edition && functions?.checksum === functionsIn(blueprint, schema).checksum
  const only = (is: boolean) => (is ? [FUNCTIONS.name] : [])
  return {
    applied: [...applied.map(({ name }) => name), ...only(current || edition > blueprint.edition)],
    pending: [...missing, ...only(!current && edition <= blueprint.edition)],
    newer: [...newer.map(({ name }) => name), ...only(edition > blueprint.edition)],
    tooNew: newer.filter((each) => each.needs > known).map(({ name }) => name),
  }
}

/** Applies what is pending, and draws the wall anew. Answers with the names of what was applied. */
export async function migrate(
  ask: Ask,
  schema: string,
  { dryRun = false, role, waits }: MigrateOptions = {},
  blueprint = STORE,
): Promise<readonly string[]> {
  checkedSchema(schema)
  await ask('begin')
  try {
    const [free] = await ask(`select pg_try_advisory_xact_lock(${lockNumber(schema)})::text`)
    if (free?.[0] !== 'true') {
      waits?.()
      await ask(`select pg_advisory_xact_lock(${lockNumber(schema)})`)
    }
    await ask(guardIn(blueprint, schema))
    await ask(preparation(schema))
    const { pending } = await migrationStatus(ask, schema, blueprint)
    const missing = migrations(schema, blueprint).filter(({ name }) => pending.includes(name))
    for (const { number, name, sql, checksum, needs } of missing) {
      await ask(sql)
      const insert = `insert into ${quoted(schema)}.migration (number, name, checksum, needs) values ($1, $2, $3, $4)`
      await ask(insert, [number, name, checksum, needs])
    }
    if (pending.includes(FUNCTIONS.name))
      await ask(`${functionsIn(blueprint, schema).sql}\n${functionsRecord(blueprint, schema)}`)
    if (pending.length > 0 || role !== undefined) await ask(wallIn(blueprint, schema, role))
    await ask(dryRun ? 'rollback' : 'commit')
    return pending
  } catch (error) {
    await ask('rollback').catch(() => {})
    throw error
  }
}

/** Told by which migration a schema is known as one of this blueprint. */
function guardIn(blueprint: Blueprint, schema: string): string {
  const [first] = migrations(schema, blueprint)
  return inSchema(
    schemaFile('guard.sql').replace('{{first}}', () => literal(first?.name ?? '')),
    schema,
  )
}

const preparation = (schema: string): string => `
create schema if not exists ${quoted(schema)};
create table if not exists ${quoted(schema)}.migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp(),
  needs int not null default 0,
  edition int
);
alter table ${quoted(schema)}.migration add column if not exists needs int not null default 0;
alter table ${quoted(schema)}.migration add column if not exists edition int;`

const functionsRecord = (blueprint: Blueprint, schema: string): string => `
insert into ${quoted(schema)}.migration (number, name, checksum, edition)
values (${FUNCTIONS.number}, '${FUNCTIONS.name}', '${functionsIn(blueprint, schema).checksum}', ${blueprint.edition})
on conflict (number) do update set edition = excluded.edition, checksum = excluded.checksum, applied_at = clock_timestamp();`

const lockNumber = (schema: string): string =>
  createHash('sha256').update(`pawl migrations ${schema}`).digest().readBigInt64BE().toString()
