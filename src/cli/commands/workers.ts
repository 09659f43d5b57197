/** `pawl workers ls`: who works, on what. */
import type { Command } from 'commander'
import { DEFAULT_TENANT } from '../../core/job.ts'
import { Workers } from '../../engine/workers.ts'
import type { Pawl } from '../../library/pawl.ts'
import type { Context } from '../program.ts'
import { askedAll, isGateway, type Session, withExisting } from '../session.ts'
import { ago } from '../terminal.ts'

interface Seen {
  readonly workerId: string
  readonly queues?: readonly string[]
  readonly pool?: string
  readonly capabilities?: readonly string[]
  readonly concurrency?: number
  readonly running?: number
  readonly host?: string
  readonly pid?: number
  readonly version?: string
  readonly seenAt: string
  readonly present: boolean
}

const PAGE = 500

export function workers(parent: Command, { session }: Context): void {
  const group = parent.command('workers').description('who works, on what')
  group
    .command('ls')
    .alias('list')
    .description('workers that have told of themselves')
    .option('--all', 'those that fell silent within the last hour, too')
    .action(({ all }: { readonly all?: boolean }) => list(session(), all === true))
}

async function list(session: Session, all: boolean): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const everybody = isGateway(session.url)
      ? await askedAll<Seen>(session, '/v1/workers', 'workers')
      : await local(session, pawl)
    const found = everybody.filter(({ present }) => all || present)
    const now = pawl.engine.now()
    terminal.tell({ workers: found }, () => {
      if (found.length === 0) return terminal.say('Nobody works here. Start a worker: pawl work <module>.')
      terminal.table(
        ['WORKER', 'QUEUES', 'POOL', 'CAN', 'RUNNING', 'HOST', 'PID', 'VERSION', 'SEEN'],
        found.map((each) => [
          each.workerId,
          each.queues?.join(','),
          each.pool,
          each.capabilities?.join(','),
          `${each.running ?? 0} of ${each.concurrency ?? '?'}`,
          each.host,
          each.pid,
          each.version,
          each.present ? ago(Date.parse(each.seenAt), now) : `silent since ${each.seenAt}`,
        ]),
      )
    })
  })
}

async function local({ tenant = DEFAULT_TENANT }: Session, { engine }: Pawl): Promise<readonly Seen[]> {
  const workers = new Workers(engine)
  const found: Seen[] = []
  let cursor: string | undefined
  do {
    const page = await workers.page(tenant, cursor, PAGE)
    for (const { workerId, about, seenAt, present } of page.workers)
      found.push({ workerId, ...about, seenAt: new Date(seenAt).toISOString(), present })
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}
