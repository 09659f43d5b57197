/** `pawl migrate`: brings a Postgres database to this version's schema, or says what that would take. */
import type { Command } from 'commander'
import { type Ask, migrate as apply, migrationStatus, schemaScript } from '../../store/postgres/migrate.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { isPostgres, type Session } from '../session.ts'

interface Options {
  readonly status?: boolean
  readonly sql?: boolean
  readonly dryRun?: boolean
}

const SCHEMA = 'pawl'

export function migrate(parent: Command, { session }: Context): void {
  const command = parent
    .command('migrate')
    .description('bring a Postgres database to this version’s schema')
    .option('--status', 'what is applied and what is not')
    .option('--sql', 'the whole schema as one script; needs no database')
    .option('--dry-run', 'apply what is pending and take it back')
    .action((options: Options) => run(session(), options))
  examples(
    command,
    'pawl migrate --url postgres://localhost/app',
    'pawl migrate --status --json --url postgres://localhost/app',
    'pawl migrate --sql --schema jobs > schema.sql',
  )
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal, schema = SCHEMA } = session
  if (options.sql === true) return terminal.print(schemaScript(schema))
  const url = session.directUrl ?? session.url
  if (!isPostgres(url)) {
    throw new Usage(
      `pawl migrate is for Postgres; ${url} needs none: its file is brought up to date when it is opened.`,
      'Give --url the postgres:// address.',
    )
  }
  await withClient(url, async (client) => {
    if (options.status === true) {
      const { applied, pending } = await migrationStatus(askOf(client), schema)
      return terminal.tell({ schema, applied, pending }, () => {
        for (const name of applied) terminal.say(`applied  ${name}`)
        for (const name of pending) terminal.say(terminal.paint.yellow(`pending  ${name}`))
        terminal.say(
          pending.length === 0
            ? `Schema ${schema} is up to date.`
            : `Schema ${schema} lacks ${pending.length}: pawl migrate`,
        )
      })
    }
    const dryRun = options.dryRun === true
    const applied = await apply(client as never, schema, dryRun)
    terminal.tell({ schema, applied: dryRun ? [] : applied, wouldApply: dryRun ? applied : undefined, dryRun }, () => {
      for (const name of applied) terminal.say(`${dryRun ? 'would apply' : 'applied'}  ${name}`)
      terminal.say(
        applied.length === 0
          ? `Schema ${schema} was up to date.`
          : dryRun
            ? 'All of it was taken back.'
            : `Schema ${schema} is up to date.`,
      )
    })
  })
}

type Client = InstanceType<typeof import('pg')['default']['Client']>

/** One connection for the time of one question. The driver is loaded only where it is needed. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

export const askOf =
  (client: Client): Ask =>
  async (text, values = []) =>
    (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows
