/**
 * What is done to many: looked for first, told with counts, confirmed, and then done by an operation, which goes on without us
 * wherever a worker or a gateway runs.
 */
import { DEFAULT_TENANT, isTerminal } from '../core/job.ts'
import type { Action, Count, OperationReport, OperationStatus } from '../core/operation.ts'
import { JobEndedBadly } from '../library/errors.ts'
import type { OperationOptions } from '../library/operations-desk.ts'
import type { Pawl } from '../library/pawl.ts'
import { confirmed } from './confirm.ts'
import { Ended, EXIT } from './exit.ts'
import { linksOf, operationPlace } from './links.ts'
import { isGateway, type Session } from './session.ts'
import { safe } from './terminal.ts'

const LOOK_MS = 250

/** What it is called once it is done. */
const DONE: Readonly<Record<Action, string>> = { redrive: 'reopened', cancel: 'cancelled', purge: 'purged' }

export async function bulk(session: Session, pawl: Pawl, options: OperationOptions): Promise<void> {
  const { terminal } = session
  const { action, dryRun = false } = options
  const looked = await each(session, pawl, { ...options, dryRun: true })
  const { matched, counts } = looked.report
  if (dryRun || matched === 0)
    return terminal.tell({ dryRun, matched, counts, [DONE[action]]: 0, refused: [] }, () =>
      tellCounts(session, counts, matched),
    )
  if (!session.yes) tellCounts(session, counts, matched)
  await confirmed(session, `${matched} ${matched === 1 ? 'job' : 'jobs'} would be ${DONE[action]}.`)
  const { report, ids } = await each(session, pawl, options)
  const { done, refused, refusals } = report
  const links = await linksOf(session)
  terminal.tell({ dryRun, matched, counts, [DONE[action]]: done, refused: refusals, operations: ids }, () => {
    terminal.say(`${done} of ${matched} ${DONE[action]}.`)
    for (const { id, code, message } of refusals) terminal.warn(`${id}: ${code}: ${safe(message)}`)
    if (refused > refusals.length) terminal.warn(`and ${refused - refusals.length} more were refused`)
    for (const id of ids) links.line(operationPlace(id))
  })
  if (refused > 0) throw new Ended(EXIT.refused)
}

interface Sum {
  readonly report: OperationReport
  readonly ids: readonly string[]
}

/** An operation is one tenant's. Where none is named, each that has jobs has one of its own. */
async function each(session: Session, pawl: Pawl, options: OperationOptions): Promise<Sum> {
  const reports: OperationReport[] = []
  const ids: string[] = []
  for (const tenant of await tenantsOf(session, pawl)) {
    const status = await pawl.operations.start({ ...options, tenant, actor: session.actor })
    reports.push(await awaited(session, pawl, status))
    ids.push(status.id)
  }
  return { report: reports.reduce(added), ids }
}

async function tenantsOf({ url, tenant }: Session, pawl: Pawl): Promise<readonly string[]> {
  if (isGateway(url) || tenant !== undefined) return [tenant ?? DEFAULT_TENANT]
  const { tally } = await pawl.events({ by: 'tally' })
  const tenants = new Set(tally.filter(({ count }) => count > 0).map((row) => row.tenant))
  return tenants.size === 0 ? [DEFAULT_TENANT] : [...tenants].sort()
}

/** Its end, with a bar meanwhile. Whoever interrupts us stops waiting; the operation goes on. */
async function awaited(session: Session, pawl: Pawl, { id, tenant }: OperationStatus): Promise<OperationReport> {
  const { terminal, signal, timers } = session
  try {
    for (;;) {
      const status = await pawl.operations.get(id, { tenant })
      if (status === undefined || isTerminal(status.state)) break
      const { done = 0, total } = status.progress ?? {}
      terminal.progress(
        status.spec.dryRun ? 'looked at' : 'done',
        status.spec.dryRun ? status.report.matched : done,
        total,
      )
      if (signal.aborted) throw new Ended(EXIT.interrupted)
      await timers.sleep(LOOK_MS, signal)
    }
    return await pawl.operations.result(id, { tenant })
  } catch (error) {
    if (signal.aborted) terminal.warn(`Operation ${id} goes on: pawl operations show ${id}`)
    if (error instanceof JobEndedBadly) terminal.warn(`More about it: pawl operations show ${id}`)
    throw error
  } finally {
    terminal.progressDone()
  }
}

const added = (a: OperationReport, b: OperationReport): OperationReport => ({
  matched: a.matched + b.matched,
  done: a.done + b.done,
  refused: a.refused + b.refused,
  counts: [...a.counts, ...b.counts].sort((x, y) => y.count - x.count),
  refusals: [...a.refusals, ...b.refusals],
  canaries: [...a.canaries, ...b.canaries],
})

export function tellCounts({ terminal }: Session, counts: readonly Count[], matched: number): void {
  if (matched === 0) return terminal.say('Nothing matches.')
  terminal.table(
    ['JOBS', 'TYPE', 'STATE', 'REASON', 'CODE'],
    counts.map(({ count, type, state, reason, code }) => [count, type, state, reason, code]),
  )
  terminal.say(`${matched} in all.`)
}
