/** `pawl audit …`: what was done to the installation, by whom, from where. */
import type { Command } from 'commander'
import { DEFAULT_TENANT } from '../../define-job.ts'
import { AUDIT_DAYS, type AuditEntry, AuditLog, INSTALLATION } from '../../engine/audit.ts'
import { fromWire, toWire } from '../../gateway/contract/wire.ts'
import { countOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Ended, EXIT } from '../exit.ts'
import type { Context } from '../program.ts'
import { asked, isGateway, needsStore, type Session, withExisting } from '../session.ts'
import { safe } from '../terminal.ts'

interface Options {
  readonly limit: string
  readonly installation?: boolean
}

const PAGE = 200

export function audit(parent: Command, { session }: Context): void {
  const group = parent.command('audit').description(`what was done to the installation; kept for ${AUDIT_DAYS} days`)
  const list = group
    .command('ls')
    .alias('list')
    .description('tokens, pauses, redrives and other acts of operators, newest first')
    .option('-n, --limit <n>', 'so many at most', '50')
    .option('--installation', 'of the installation as a whole instead of a tenant: migrations, tokens for metrics')
    .action((options: Options) => show(session(), options))
  examples(list, 'pawl audit ls', 'pawl audit ls --limit 1000 --json')
  group
    .command('verify')
    .description('follow the chain of hashes; exits with 1 where an entry was changed or taken out')
    .option('--installation', 'of the installation as a whole instead of a tenant')
    .action((options: Pick<Options, 'installation'>) => verify(session(), options))
}

async function show(session: Session, options: Options): Promise<void> {
  const { terminal } = session
  const limit = countOf('--limit', options.limit, { min: 1, max: 100_000 })
  const entries = isGateway(session.url) ? await remote(session, limit) : await local(session, options, limit)
  terminal.tell({ entries: entries.map((entry) => toWire(entry)) }, () => {
    if (entries.length === 0) return terminal.say('Nothing was done yet that is kept here.')
    terminal.table(
      ['WHEN', 'ACT', 'ABOUT', 'BY', 'FROM', 'REASON'],
      entries.map(({ at, act, about, count, by, address, token, reason }) => [
        new Date(at).toISOString(),
        act,
        safe(count === undefined ? about : `${about} (${count})`),
        safe(by),
        [address, token].filter(Boolean).join(' '),
        safe(reason ?? ''),
      ]),
    )
  })
}

async function local(session: Session, options: Options, limit: number): Promise<readonly AuditEntry[]> {
  return await withExisting(session, async ({ engine }) => {
    const log = new AuditLog(engine)
    const found: AuditEntry[] = []
    let cursor: number | undefined
    do {
      const page = await log.page(whose(session, options), cursor, Math.min(PAGE, limit - found.length))
      found.push(...page.entries)
      cursor = page.cursor
    } while (cursor !== undefined && found.length < limit)
    return found
  })
}

async function remote(session: Session, limit: number): Promise<readonly AuditEntry[]> {
  const found: AuditEntry[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({
      limit: String(Math.min(PAGE, limit - found.length)),
      ...(cursor && { cursor }),
    })
    const page = await asked(session, 'GET', `/v1/audit?${query}`)
    found.push(...(page['entries'] as readonly unknown[]).map((entry) => fromWire(entry) as AuditEntry))
    cursor = page['cursor'] as string | undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}

async function verify(session: Session, options: Pick<Options, 'installation'>): Promise<void> {
  needsStore(session, 'audit verify')
  const { terminal } = session
  const breaches = await withExisting(session, ({ engine }) => new AuditLog(engine).verify(whose(session, options)))
  terminal.tell({ breaches }, () => {
    for (const { n, what } of breaches) terminal.say(`Entry ${n} is ${what}.`)
    if (breaches.length === 0) terminal.say('Every entry is as it was written.')
  })
  if (breaches.length > 0) throw new Ended(EXIT.failure)
}

const whose = ({ tenant = DEFAULT_TENANT }: Session, { installation }: Pick<Options, 'installation'>): string =>
  installation === true ? INSTALLATION : tenant
