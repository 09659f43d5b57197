/** `pawl schedules …`: what runs by the clock. */
import type { Command } from 'commander'
import { CATCH_UPS, type Schedule } from '../../core/schedule.ts'
import type { Pawl } from '../../library/pawl.ts'
import { collect, durationOf } from '../arguments.ts'
import { chosen, countOf } from '../choice.ts'
import { examples } from '../example.ts'
import { type FlowWords, flowIn, withFlowOptions } from '../flow-options.ts'
import { linkJob } from '../links.ts'
import type { Context } from '../program.ts'
import { asked, isGateway, type Session, withExisting, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'
import { inputOf } from './enqueue.ts'
import { priorityOf } from './jobs.ts'

interface AddOptions extends FlowWords {
  readonly cron?: string
  readonly every?: string
  readonly timeZone?: string
  readonly catchUp?: string
  readonly cap?: string
  readonly jitter?: string
  readonly queue?: string
  readonly priority?: string
  readonly param?: readonly string[]
  readonly input?: string
  readonly paused?: boolean
}

export function schedules(parent: Command, { session }: Context): void {
  const group = parent.command('schedules').description('what runs by the clock: make, pause and run it')
  group
    .command('ls')
    .alias('list')
    .description('schedules with their next times')
    .action(() => list(session()))
  const add = withFlowOptions(group.command('add <name> <type>'))
    .description('make one, or change it: it is yours from then on, and no deploy touches it')
    .option('--cron <pattern>', 'minute, hour, day, month, weekday; six fields with seconds first; or @daily')
    .option('--every <duration>', 'so often instead: 30s, 5m, 6h')
    .option('--time-zone <zone>', 'on whose clock the pattern is (UTC)')
    .option('--catch-up <policy>', 'times nobody was there for: skip, latest or all (skip)')
    .option('--cap <number>', 'with all: how many of the newest (100)')
    .option('--jitter <duration>', 'each job runs up to this much later')
    .option('-q, --queue <queue>', 'its queue, if not the one its worker has announced')
    .option('--priority <priority>', '0 to 9, or critical, interactive, normal, batch')
    .option('-p, --param <name=value>', 'a field of its input: k=text, n:=json; may be repeated', collect)
    .option('--input <json>', 'the whole input: JSON, @file, or - for standard input')
    .option('--paused', 'begin paused')
    .action((name: string, type: string, options: AddOptions) => make(session(), name, type, options))
  examples(
    add,
    "pawl schedules add nightly report.build --cron '30 2 * * *' --time-zone Europe/Berlin",
    'pawl schedules add warm cache.warm --every 5m --jitter 30s',
  )
  group
    .command('rm <schedule>')
    .description('no more jobs of it; those that were made stay')
    .action((name: string) => change(session(), name, 'rm'))
  group
    .command('pause <schedule>')
    .description('make no jobs: times that pass are missed')
    .action((name: string) => change(session(), name, 'pause'))
  group
    .command('resume <schedule>')
    .description('go on with the next time after now')
    .action((name: string) => change(session(), name, 'resume'))
  group
    .command('run <schedule>')
    .description('its job, now and besides')
    .action((name: string) => run(session(), name))
  group
    .command('next <schedule>')
    .description('its next times')
    .option('-n, --count <number>', 'how many', '5')
    .action((name: string, { count }: { readonly count: string }) => next(session(), name, count))
}

async function list(session: Session): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const found = await pawl.schedules.list()
    terminal.tell({ schedules: found.map(told) }, () => {
      if (found.length === 0) return terminal.say('There are no schedules. Make one: pawl schedules add --help')
      terminal.table(
        ['NAME', 'WHEN', 'TYPE', '', 'NEXT', 'LAST', 'MISSED', 'SOURCE'],
        found.map((schedule) => {
          const { name, type, paused, missed, source } = schedule
          const { next: after, last } = told(schedule)
          return [name, when(schedule), type, paused ? 'paused' : '', after, last, missed, source]
        }),
      )
    })
  })
}

async function make(session: Session, name: string, type: string, options: AddOptions): Promise<void> {
  const { terminal } = session
  const { cron, every, timeZone, catchUp, cap, jitter, queue, paused } = options
  const asked = {
    cron,
    every: every === undefined ? undefined : durationOf('--every', every),
    timeZone,
    catchUp: catchUp === undefined ? undefined : chosen('policy', catchUp, CATCH_UPS),
    cap: cap === undefined ? undefined : countOf('--cap', cap, { min: 1, max: 10_000 }),
    jitter: jitter === undefined ? undefined : durationOf('--jitter', jitter),
    queue,
    priority: priorityOf(options.priority),
    flow: flowIn(options),
    paused,
  }
  await withPawl(session, async (pawl) => {
    const schedule = await pawl.schedules.add(name, asked, type, inputOf(options))
    terminal.tell(told(schedule), () =>
      terminal.say(`Schedule ${safe(name)} is kept: ${when(schedule)}, next ${told(schedule).next ?? 'never'}.`),
    )
  })
}

const DONE = { rm: 'removed', pause: 'paused', resume: 'resumed' } as const

/** A gateway has a route for each, which asks for less than making schedules does. */
async function change(session: Session, name: string, verb: keyof typeof DONE): Promise<void> {
  const { terminal } = session
  if (isGateway(session.url)) {
    const path = `/v1/schedules/${encodeURIComponent(name)}`
    await (verb === 'rm' ? asked(session, 'DELETE', path) : asked(session, 'POST', `${path}/${verb}`, {}))
  } else await withExisting(session, (pawl) => changed(pawl, name, verb))
  terminal.tell({ schedule: name, [DONE[verb]]: true }, () => terminal.say(`Schedule ${safe(name)} is ${DONE[verb]}.`))
}

async function changed({ schedules: desk }: Pawl, name: string, verb: keyof typeof DONE): Promise<void> {
  if (verb === 'rm') await desk.remove(name)
  else if (verb === 'pause') await desk.pause(name)
  else await desk.resume(name)
}

async function run(session: Session, name: string): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const id = await pawl.schedules.run(name)
    terminal.tell({ schedule: name, id }, () => terminal.say(`${terminal.paint.bold(id)} is enqueued.`))
    await linkJob(session, id)
  })
}

async function next(session: Session, name: string, count: string): Promise<void> {
  const { terminal } = session
  const most = countOf('--count', count, { min: 1, max: 100 })
  await withExisting(session, async (pawl) => {
    const times = (await pawl.schedules.next(name, most)).map((at) => at.toISOString())
    terminal.tell({ schedule: name, next: times }, () => {
      if (times.length === 0) return terminal.say(`Schedule ${safe(name)} has come to its end.`)
      terminal.print(times.map((time) => `${time}\n`).join(''))
    })
  })
}

const when = ({ timing }: Schedule): string =>
  'cron' in timing ? `${timing.cron} ${timing.timeZone}` : `every ${timing.everyMs} ms`

const told = ({ timing, next: after, last, input, ...rest }: Schedule) => ({
  ...rest,
  ...('cron' in timing ? timing : { everyMs: timing.everyMs }),
  input: input === undefined ? undefined : (JSON.parse(input) as unknown),
  next: after === undefined ? undefined : new Date(after).toISOString(),
  last: last === undefined ? undefined : new Date(last).toISOString(),
})
