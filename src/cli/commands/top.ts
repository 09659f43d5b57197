/** `pawl top`: counts by state and queue, rates, the oldest in line; drawn again and again. */
import type { Command } from 'commander'
import type { Pawl } from '../../library/pawl.ts'
import { visibleJson } from '../../system/visible.ts'
import { durationOf } from '../arguments.ts'
import { countOf } from '../choice.ts'
import type { Context } from '../program.ts'
import { type Session, withExisting } from '../session.ts'
import { span } from '../terminal.ts'
import { ENDED, type QueueCounts, queueCounts, total } from './queues.ts'

interface Options {
  readonly interval: string
  readonly count?: string
}

/** What changed between two looks, per second. */
interface Rates {
  readonly enqueued: number
  readonly succeeded: number
  readonly failed: number
}

interface Line extends QueueCounts {
  readonly perSecond: Rates | undefined
  /** For how long the oldest job that may run has been waiting. */
  readonly oldestQueuedMs: number | undefined
}

interface Look {
  readonly atMs: number
  readonly queues: readonly QueueCounts[]
}

export function top(parent: Command, { session }: Context): void {
  parent
    .command('top')
    .description('counts, rates and the oldest in line, live')
    .option('-i, --interval <duration>', 'how often to look', '1s')
    .option('-n, --count <n>', 'stop after so many looks')
    .action((options: Options) => run(session(), options))
}

async function run(session: Session, options: Options): Promise<void> {
  const { signal, timers } = session
  const everyMs = durationOf('--interval', options.interval, 100)
  const looks =
    options.count === undefined
      ? Number.POSITIVE_INFINITY
      : countOf('--count', options.count, { min: 1, max: 1_000_000 })
  await withExisting(session, async (pawl) => {
    let before: Look | undefined
    for (let n = 1; n <= looks && !signal.aborted; n += 1) {
      const look = { atMs: session.clock.monotonicMs(), queues: await queueCounts(session, pawl) }
      draw(session, await linesOf(session, pawl, look, before), pawl.engine.now())
      before = look
      if (n < looks) await timers.sleep(everyMs, signal)
    }
  })
}

async function linesOf(
  session: Session,
  pawl: Pawl,
  { atMs, queues }: Look,
  before: Look | undefined,
): Promise<readonly Line[]> {
  const lines: Line[] = []
  for (const each of queues) {
    const earlier = before?.queues.find(({ tenant, queue }) => tenant === each.tenant && queue === each.queue)
    const seconds = before === undefined ? 0 : (atMs - before.atMs) / 1_000
    const perSecond =
      before === undefined || seconds <= 0 ? undefined : ratesOf(each.counts, earlier?.counts ?? {}, seconds)
    lines.push({ ...each, perSecond, oldestQueuedMs: await oldest(session, pawl, each) })
  }
  return lines
}

/** Retention takes away from the counts: what it took is not negative work. */
function ratesOf(now: QueueCounts['counts'], then: QueueCounts['counts'], seconds: number): Rates {
  const rate = (grown: number) => Math.round((Math.max(0, grown) / seconds) * 10) / 10
  const ended = total(now, ENDED) - total(then, ENDED)
  const succeeded = (now.succeeded ?? 0) - (then.succeeded ?? 0)
  return { enqueued: rate(total(now) - total(then)), succeeded: rate(succeeded), failed: rate(ended - succeeded) }
}

async function oldest(
  session: Session,
  pawl: Pawl,
  { tenant, queue, counts }: QueueCounts,
): Promise<number | undefined> {
  if ((counts.queued ?? 0) === 0) return undefined
  const { jobs, now } = await pawl.find({
    tenant: tenant ?? session.tenant,
    queues: [queue],
    states: ['queued'],
    order: 'oldest',
    limit: 1,
  })
  const [job] = jobs
  return job === undefined ? undefined : Math.max(0, now - (job.readyAt ?? job.spec.createdAt))
}

/** Ten columns of at most six characters leave room for a name in 80: nothing wraps, whatever the numbers. */
const HEAD = ['QUEUE', 'QUEUED', 'RUN', 'RETRY', 'WAIT', 'DONE', 'BAD', 'IN/S', 'DONE/S', 'BAD/S', 'OLDEST'] as const
/** Above the table and below it, with the line the cursor is on. */
const OTHER_ROWS = 5

function draw({ terminal, url }: Session, lines: readonly Line[], now: number): void {
  const at = new Date(now).toISOString()
  if (terminal.look.json) return terminal.print(`${visibleJson({ at, queues: lines })}\n`)
  const { paint, isTTY, rows } = terminal
  const shown = isTTY ? lines.slice(0, Math.max(1, rows - OTHER_ROWS)) : lines
  const more = lines.length - shown.length
  terminal.frame([
    `${paint.bold('pawl top')}  ${at.slice(11, 19)}  ${paint.dim(url.replace(/\/\/[^@/]*@/, '//'))}`,
    '',
    ...(shown.length === 0
      ? ['No queue has ever had a job.']
      : terminal.lines(HEAD, shown.map(rowOf), { yields: 'QUEUE' })),
    ...(more > 0 ? [paint.dim(`and ${more} more: pawl queues ls`)] : []),
  ])
}

function rowOf({ queue, paused, counts, perSecond, oldestQueuedMs }: Line): readonly string[] {
  const rate = (name: keyof Rates) => (perSecond === undefined ? '' : compact(perSecond[name]))
  return [
    queue,
    compact(total(counts, ['queued'])),
    compact(total(counts, ['claimed', 'running', 'stalled'])),
    compact(total(counts, ['retrying'])),
    compact(total(counts, ['pending', 'waiting', 'parked'])),
    compact(total(counts, ['succeeded'])),
    compact(total(counts, ENDED) - total(counts, ['succeeded'])),
    rate('enqueued'),
    rate('succeeded'),
    rate('failed'),
    paused ? 'paused' : oldestQueuedMs === undefined ? '' : span(oldestQueuedMs),
  ]
}

/** At most five characters. */
function compact(n: number): string {
  if (n < 1_000) return String(n)
  if (n < 100_000) return String(Math.round(n))
  return n < 10_000_000 ? `${Math.round(n / 1_000)}k` : `${Math.round(n / 1_000_000)}M`
}
