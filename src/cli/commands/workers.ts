/** `pawl workers ls`: who works, on what. */
import type { Command } from 'commander'
import type { Pawl } from '../../pawl.ts'
import type { Setting } from '../../store/store.ts'
import type { Context } from '../program.ts'
import { asked, isGateway, type Session, withExisting } from '../session.ts'
import { ago } from '../terminal.ts'

interface Seen {
  readonly workerId: string
  readonly queues?: readonly string[]
  readonly concurrency?: number
  readonly running?: number
  readonly host?: string
  readonly pid?: number
  readonly seenAt: string
  readonly present: boolean
}

/** Workers tell that they are there twice as often. */
const PRESENT_MS = 60_000
const PAGE = 500

export function workers(parent: Command, { session }: Context): void {
  const group = parent.command('workers').description('who works, on what')
  group
    .command('ls')
    .alias('list')
    .description('workers that have told of themselves')
    .option('--all', 'those that fell silent, too')
    .action(({ all }: { readonly all?: boolean }) => list(session(), all === true))
}

async function list(session: Session, all: boolean): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const everybody = isGateway(session.url)
      ? ((await asked(session, 'GET', '/v1/workers'))['workers'] as readonly Seen[])
      : await local(session, pawl)
    const found = everybody.filter(({ present }) => all || present)
    const now = pawl.engine.now()
    terminal.tell({ workers: found }, () => {
      if (found.length === 0) return terminal.say('Nobody works here. Start a worker: pawl work <module>.')
      terminal.table(
        ['WORKER', 'QUEUES', 'RUNNING', 'HOST', 'PID', 'SEEN'],
        found.map((each) => [
          each.workerId,
          each.queues?.join(','),
          `${each.running ?? 0} of ${each.concurrency ?? '?'}`,
          each.host,
          each.pid,
          each.present ? ago(Date.parse(each.seenAt), now) : `silent since ${each.seenAt}`,
        ]),
      )
    })
  })
}

async function local(session: Session, pawl: Pawl): Promise<readonly Seen[]> {
  const found: Seen[] = []
  for (let after = ''; ; ) {
    const [page] = await pawl.engine.settings([{ op: 'list', collection: 'worker', after, limit: PAGE }])
    const settings: readonly Setting[] = page?.settings ?? []
    for (const { key, text, updatedAt } of settings) {
      const [tenant, workerId] = JSON.parse(key) as readonly [string, string]
      if (session.tenant !== undefined && tenant !== session.tenant) continue
      const present = pawl.engine.now() - updatedAt < PRESENT_MS
      found.push({ workerId, ...(JSON.parse(text) as object), seenAt: new Date(updatedAt).toISOString(), present })
    }
    const last = settings.at(-1)
    if (last === undefined || settings.length < PAGE) return found
    after = last.key
  }
}
