/** `pawl tail`: what happens, as it happens. A walk over the feed, so it can be taken up again anywhere. */
import type { Command } from 'commander'
import type { Event } from '../../core/event.ts'
import type { Engine } from '../../engine/engine.ts'
import { eventToWire } from '../../gateway/contract/wire.ts'
import { jobPlace } from '../../library/dashboard-link.ts'
import type { Pawl } from '../../library/pawl.ts'
import type { FeedItem } from '../../store/store.ts'
import { eventTypesOf, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { linksOf } from '../links.ts'
import type { Brush } from '../paint.ts'
import type { Context } from '../program.ts'
import { found, type Session, withExisting } from '../session.ts'
import { safe } from '../terminal.ts'

interface Options {
  readonly after?: string
  readonly fromStart?: boolean
  readonly follow: boolean
  readonly event?: string
  readonly queue?: string
  readonly type?: string
  readonly job?: string
}

const PAGE = 200
/** Hints may be lost: the feed is looked at this often anyway. */
const LOOK_EVERY_MS = 500

export function tail(parent: Command, { session }: Context): void {
  const command = parent
    .command('tail')
    .description('what happens, as it happens; resumable')
    .option('--after <position>', 'go on after a position (each line of --json has one)')
    .option('--from-start', 'from the beginning of the feed')
    .option('--no-follow', 'stop at the end of the feed')
    .option('-e, --event <events>', 'comma-separated events: enqueued, failed, dead_lettered, …')
    .option('-q, --queue <queues>', 'comma-separated queues')
    .option('-t, --type <types>', 'comma-separated types of job')
    .option('--job <id>', 'one job')
    .action((options: Options) => run(session(), options))
  examples(
    command,
    'pawl tail --event failed,dead_lettered',
    'pawl tail --json --after "$(cat position)" | tee -a events.jsonl',
  )
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal, signal, timers } = session
  const types = eventTypesOf(options.event)
  const queues = listOf(options.queue)
  const jobTypes = listOf(options.type)
  await withExisting(session, async (pawl) => {
    const job = options.job === undefined ? undefined : (await found(pawl, options.job)).id
    const concerns = (item: FeedItem) =>
      (session.tenant === undefined || item.tenant === session.tenant) &&
      (types?.includes(item.type) ?? true) &&
      (queues?.includes(item.queue) ?? true) &&
      (jobTypes?.includes(item.jobType) ?? true) &&
      (job === undefined || item.jobId === job)
    const brush = (await linksOf(session)).brush(jobPlace)
    let position = await start(pawl, options)
    let woken = new AbortController()
    await using _hints = options.follow ? await pawl.engine.subscribe(() => woken.abort()) : undefined
    while (!signal.aborted) {
      woken = new AbortController()
      const { feed, cursor } = await pawl.engine.events({ by: 'feed', after: position, limit: PAGE })
      for (const line of await linesOf(feed.filter(concerns), pawl.engine)) tell(session, line, brush)
      const moved = cursor !== undefined && cursor !== position
      position = cursor ?? position
      if (feed.length === PAGE || (moved && !options.follow)) continue
      if (!options.follow) break
      await timers.sleep(LOOK_EVERY_MS, AbortSignal.any([signal, woken.signal]))
    }
    if (position !== '') terminal.say(terminal.paint.dim(`to go on: pawl tail --after ${position}`))
  })
}

/** `''` is the beginning. Whoever says nothing sees what happens from now on. */
async function start(pawl: Pawl, { after, fromStart, follow }: Options): Promise<string> {
  if (after !== undefined) return after
  if (fromStart === true || !follow) return ''
  return (await pawl.engine.events({ by: 'feed', after: undefined, limit: 1 })).cursor ?? ''
}

interface Line {
  readonly item: FeedItem
  /** Undefined: retention was faster. */
  readonly event: Event | undefined
}

/** Each job's events are read once per page, whatever the number of its lines. */
async function linesOf(items: readonly FeedItem[], engine: Engine): Promise<readonly Line[]> {
  const first = new Map<string, number>()
  for (const { jobId, rev } of items) first.set(jobId, Math.min(first.get(jobId) ?? rev, rev))
  const events = new Map<string, Event>()
  await Promise.all(
    [...first].map(async ([id, rev]) => {
      const page = await engine.events({ by: 'job', id, afterRev: rev - 1, limit: 1_000 }).catch(() => undefined)
      for (const event of page?.events ?? []) events.set(`${id}/${event.rev}`, event)
    }),
  )
  return items.map((item) => ({ item, event: events.get(`${item.jobId}/${item.rev}`) }))
}

function tell({ terminal }: Session, { item, event }: Line, brush: Brush): void {
  const { position, jobId, rev, type, queue, jobType, tenant } = item
  const wire = event === undefined ? { jobId, rev, type } : eventToWire(event)
  terminal.tell({ position, ...wire, queue, jobType, tenant }, () => {
    const { paint } = terminal
    const time = event === undefined ? '' : new Date(event.at).toISOString().slice(11, 23)
    const change = event?.to === undefined ? '' : `${event.from ?? '–'} → ${paint.state(event.to)}`
    const why = event?.reason === undefined ? '' : paint.dim(` ${safe(event.reason)}`)
    const who = event === undefined ? '' : paint.dim(` by ${safe(event.actor)}`)
    terminal.print(
      `${paint.dim(time)} ${brush(jobId.padEnd(10))} ${safe(jobType).padEnd(16)} ${type.padEnd(16)} ${change}${who}${why}\n`,
    )
  })
}
