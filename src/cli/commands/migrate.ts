/** `pawl migrate`: brings a Postgres database to this version's schema, or says what that would take. */
import type { Command } from 'commander'
import { INSTALLATION } from '../../engine/audit.ts'
import { checkedRole, checkedSchema } from '../../store/postgres/schema/identifiers.ts'
import {
  type Ask,
  migrate as apply,
  type MigrationStatus,
  migrationStatus,
  schemaScript,
} from '../../store/postgres/schema/migrate.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import { audited } from '../audited.ts'
import { examples } from '../example.ts'
import { failureOf, Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { databaseOf, type Session, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'

interface Options {
  readonly status?: boolean
  readonly sql?: boolean
  readonly dryRun?: boolean
  readonly role?: string
}

const SCHEMA = 'pawl'
/** Others are Postgres', about what is there already. */
const RAISED_BY_US = '00000'

export function migrate(parent: Command, { session }: Context): void {
  const command = parent
    .command('migrate')
    .description('bring a Postgres database, or the ledger of a Redis, to this version’s schema')
    .option('--status', 'what is applied and what is not')
    .option('--sql', 'the whole schema as one script; needs no database')
    .option('--dry-run', 'apply what is pending and take it back')
    .option('--role <role>', 'who may use the schema besides its owner (the role it has, or pawl_app_<database>)')
    .action((options: Options) => run(session(), options))
  examples(
    command,
    'pawl migrate --url postgres://localhost/app',
    'pawl migrate --url redis://localhost?ledger=postgres://localhost/app',
    'pawl migrate --role billing_jobs --url postgres://localhost/app',
    'pawl migrate --status --json --url postgres://localhost/app',
    'pawl migrate --sql --schema jobs > schema.sql',
  )
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal } = session
  const schema = typed(checkedSchema, session.schema ?? SCHEMA)
  if (options.role !== undefined) typed(checkedRole, options.role)
  const database = databaseOf(session)
  if (options.sql === true) return terminal.print(schemaScript(schema, options.role, database?.blueprint))
  if (database === undefined) {
    throw new Usage(
      `pawl migrate is for Postgres; ${withoutCredentials(session.url)} needs none: what is there is brought up to date when it is opened.`,
      'Give --url the postgres:// address, or the redis:// address with its ledger.',
    )
  }
  const { url, blueprint } = database
  const { visit } = await import('../../store/postgres/connection/visit.ts')
  await visit(url, async (link) => {
    const ask: Ask = (text, values) => link.ask(text, values)
    if (options.status === true) {
      const status = await migrationStatus(ask, schema, blueprint)
      return terminal.tell({ schema, ...status }, () => {
        const { applied, pending, newer } = status
        for (const name of applied) terminal.say(`${newer.includes(name) ? 'newer  ' : 'applied'}  ${safe(name)}`)
        for (const name of pending) terminal.say(terminal.paint.yellow(`pending  ${name}`))
        terminal.say(conclusion(schema, status))
      })
    }
    const dryRun = options.dryRun === true
    link.client.noticed((code, message) => {
      if (code === RAISED_BY_US) terminal.warn(safe(message))
    })
    const applied = await apply(ask, schema, { dryRun, role: options.role }, blueprint)
    if (!dryRun && applied.length > 0)
      await withPawl(session, ({ engine }) =>
        audited(session, engine, INSTALLATION, {
          act: 'store.migrated',
          about: schema,
          count: applied.length,
          reason: applied.join(' '),
        }),
      )
    const status = await migrationStatus(ask, schema, blueprint)
    terminal.tell({ schema, applied: dryRun ? [] : applied, wouldApply: dryRun ? applied : undefined, dryRun }, () => {
      for (const name of applied) terminal.say(`${dryRun ? 'would apply' : 'applied'}  ${name}`)
      terminal.say(dryRun && applied.length > 0 ? 'All of it was taken back.' : conclusion(schema, status))
    })
  })
}

/** A name that cannot be is a slip of whoever typed it. */
function typed(check: (name: string) => string, name: string): string {
  try {
    return check(name)
  } catch (error) {
    throw new Usage(failureOf(error).message)
  }
}

function conclusion(schema: string, { pending, newer, tooNew }: MigrationStatus): string {
  if (tooNew.length > 0)
    return `Schema ${schema} is too new for this version, which cannot go on after ${tooNew.join(', ')}: use a later one.`
  if (pending.length > 0) return `Schema ${schema} lacks ${pending.length}: pawl migrate`
  return newer.length > 0
    ? `Schema ${schema} is newer than this version, which goes on; roll the newer version out.`
    : `Schema ${schema} is up to date.`
}
