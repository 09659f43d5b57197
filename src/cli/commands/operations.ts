/** `pawl operations …`: what is being done to many jobs, and what was. */
import type { Command } from 'commander'
import type { OperationStatus } from '../../core/operation.ts'
import { refuse } from '../../core/refuse.ts'
import { operationToWire } from '../../gateway/contract/operation-schema.ts'
import { Refused } from '../../library/errors.ts'
import { tellCounts } from '../bulk.ts'
import { countOf } from '../choice.ts'
import { linksOf, operationPlace } from '../links.ts'
import type { Context } from '../program.ts'
import { type Session, withExisting } from '../session.ts'
import { ago, safe } from '../terminal.ts'

export function operations(parent: Command, { session }: Context): void {
  const group = parent.command('operations').description('what is done to many jobs: redrives, cancels, purges')
  group
    .command('ls')
    .alias('list')
    .description('operations, newest first')
    .option('-n, --limit <n>', 'how many', '20')
    .option('--cursor <cursor>', 'go on where a page ended')
    .action((options: { readonly limit: string; readonly cursor?: string }) => list(session(), options))
  group
    .command('show <id>')
    .description('one of them: what it is to do, how far it is, and what was refused')
    .action((id: string) => show(session(), id))
  group
    .command('cancel <id>')
    .description('stop it: what was done to jobs stays done')
    .action((id: string) => cancel(session(), id))
}

async function list(session: Session, options: { readonly limit: string; readonly cursor?: string }): Promise<void> {
  const { terminal, tenant } = session
  const limit = countOf('--limit', options.limit, { min: 1, max: 200 })
  await withExisting(session, async (pawl) => {
    const page = await pawl.operations.list({ tenant, limit, cursor: options.cursor })
    const links = await linksOf(session)
    terminal.tell({ operations: page.operations.map(operationToWire), cursor: page.cursor }, () => {
      if (page.operations.length === 0) return terminal.say('There are no operations.')
      const now = pawl.engine.now()
      terminal.table(
        ['ID', 'ACTION', 'STATE', 'DONE', 'REFUSED', 'BY', 'ASKED', 'QUERY'],
        page.operations.map((status) => [
          status.id,
          nameOf(status),
          status.state,
          `${status.report.done} of ${status.report.matched}`,
          status.report.refused,
          status.spec.by,
          ago(status.askedAt, now),
          status.spec.query,
        ]),
        { brushes: { ID: links.brush(operationPlace), STATE: terminal.paint.state } },
      )
      if (page.cursor !== undefined) terminal.say(terminal.paint.dim(`more: --cursor ${page.cursor}`))
      links.line('/operations')
    })
  })
}

const nameOf = ({ spec }: OperationStatus): string => (spec.dryRun ? `${spec.action} (dry run)` : spec.action)

async function show(session: Session, id: string): Promise<void> {
  const { terminal, tenant } = session
  await withExisting(session, async (pawl) => {
    const status = await pawl.operations.get(id, { tenant })
    if (status === undefined)
      throw new Refused(refuse('NOT_FOUND', { jobId: id, message: `There is no operation ${id}.` }))
    const { report, spec, progress, error } = status
    const links = await linksOf(session)
    terminal.tell(operationToWire(status), () => {
      terminal.say(
        `${status.id}: ${nameOf(status)} of ${safe(spec.query) || 'all'} is ${terminal.paint.state(status.state)}.`,
      )
      terminal.say(
        `${report.done} of ${report.matched} done, ${report.refused} refused; asked for by ${safe(spec.by)}.`,
      )
      if (progress?.message !== undefined) terminal.say(safe(progress.message))
      if (error !== undefined) terminal.say(`${error.code}: ${safe(error.message)}`)
      tellCounts(session, report.counts, report.matched)
      for (const refusal of report.refusals) terminal.say(`${refusal.id}: ${refusal.code}: ${safe(refusal.message)}`)
      links.line(operationPlace(status.id))
    })
  })
}

async function cancel(session: Session, id: string): Promise<void> {
  const { terminal, tenant } = session
  await withExisting(session, async (pawl) => {
    await pawl.operations.cancel(id, { tenant })
    terminal.tell({ operation: id, cancelled: true }, () => terminal.say(`Operation ${safe(id)} is told to stop.`))
  })
}
