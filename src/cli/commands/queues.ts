/** `pawl queues …`: what waits where, and who holds it back. */
import type { Command } from 'commander'
import { STATES, type State, TERMINAL_STATES } from '../../core/job.ts'
import { LENGTHS } from '../../core/limits.ts'
import { type Pause, Queues } from '../../engine/queues.ts'
import type { Pawl } from '../../library/pawl.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { askedAll, isGateway, type Session, withExisting, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'

export interface QueueCounts {
  readonly tenant?: string | undefined
  readonly queue: string
  readonly paused: boolean
  readonly counts: Readonly<Partial<Record<State, number>>>
}

export function queues(parent: Command, { session }: Context): void {
  const group = parent.command('queues').description('queues with their counts; pause and resume them')
  group
    .command('ls')
    .alias('list')
    .description('what is where')
    .action(() => list(session()))
  const pause = group
    .command('pause <queue>')
    .description('give nothing of it to workers; what runs goes on')
    .action((queue: string) => set(session(), queue, true))
  examples(pause, 'pawl queues pause mail && pawl queues resume mail')
  group
    .command('resume <queue>')
    .description('give again')
    .action((queue: string) => set(session(), queue, false))
}

async function list(session: Session): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const found = await queueCounts(session, pawl)
    terminal.tell({ queues: found }, () => {
      if (found.length === 0) return terminal.say('No queue has ever had a job.')
      terminal.table(COLUMNS, found.map(countsRow))
    })
  })
}

const COLUMNS = [
  'QUEUE',
  '',
  'QUEUED',
  'RUNNING',
  'RETRYING',
  'WAITING',
  'STALLED',
  'SUCCEEDED',
  'FAILED',
  'DEAD',
  'OTHER',
] as const

/** A row of every state, some of them together; nothing is left out. */
function countsRow({ queue, paused, counts }: QueueCounts): readonly (string | number)[] {
  const of = (...states: readonly State[]) => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  const shown = [
    of('queued'),
    of('claimed', 'running'),
    of('retrying'),
    of('waiting', 'parked'),
    of('stalled'),
    of('succeeded'),
    of('failed', 'timed_out'),
    of('dead_lettered'),
    of('pending', 'cancelled', 'denied'),
  ]
  return [queue, paused ? 'paused' : '', ...shown]
}

/** From the store's own tally; the gateway has a page of it. */
export async function queueCounts(session: Session, pawl: Pawl): Promise<readonly QueueCounts[]> {
  if (isGateway(session.url)) return await askedAll<QueueCounts>(session, '/v1/queues', 'queues')
  const { tally } = await pawl.engine.events({ by: 'tally' })
  const rows = new Map<
    string,
    { readonly tenant: string; readonly queue: string; readonly counts: Partial<Record<State, number>> }
  >()
  for (const { tenant, queue, state, count } of tally) {
    if (count === 0 || (session.tenant !== undefined && tenant !== session.tenant)) continue
    const key = JSON.stringify([tenant, queue])
    const row = rows.get(key) ?? { tenant, queue, counts: {} }
    row.counts[state] = (row.counts[state] ?? 0) + count
    rows.set(key, row)
  }
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const documents = new Queues(pawl.engine)
  const paused = new Map<string, ReadonlyMap<string, Pause>>()
  for (const [tenant, own] of Map.groupBy(sorted, ({ tenant }) => tenant))
    paused.set(
      tenant,
      await documents.pausesAmong(
        tenant,
        own.map(({ queue }) => queue),
      ),
    )
  return sorted.map((row) => ({ ...row, paused: paused.get(row.tenant)?.has(row.queue) === true }))
}

export const total = (counts: QueueCounts['counts'], states: readonly State[] = STATES): number =>
  states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)

export const ENDED: readonly State[] = TERMINAL_STATES

async function set(session: Session, queue: string, paused: boolean): Promise<void> {
  if (queue === '' || queue.length > LENGTHS.name)
    throw new Usage(`A queue has a name of 1 to ${LENGTHS.name} characters.`)
  const { terminal } = session
  await withPawl(session, async (pawl) => {
    await (paused ? pawl.pause(queue) : pawl.resume(queue))
    terminal.tell({ queue, paused }, () =>
      terminal.say(`Queue ${safe(queue)} is ${paused ? 'paused: what runs goes on, nothing new begins' : 'open'}.`),
    )
  })
}
