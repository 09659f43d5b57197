/** `pawl jobs …`: look at jobs and move them. */

import type { Command } from 'commander'
import { maxAttemptsOf } from '../../core/admission.ts'
import { log } from '../../core/dialects/history.ts'
import { READINGS, type Reading } from '../../core/dialects/registry.ts'
import { statusOf, view } from '../../core/dialects/view.ts'
import { approveCommand } from '../../core/explain.ts'
import type { Job } from '../../core/job.ts'
import { namedByStart } from '../../engine/named-by-start.ts'
import { eventToWire, jobToWire } from '../../gateway/contract/wire.ts'
import { jobPlace } from '../../library/dashboard-link.ts'
import type { OperationOptions } from '../../library/operations-desk.ts'
import type { Pawl } from '../../library/pawl.ts'
import type { JobQuery } from '../../store/store.ts'
import { collect, durationOf, fieldsIn } from '../arguments.ts'
import { bulk } from '../bulk.ts'
import { countOf, labelsOf, listOf, readingOf, sortOf, statesOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, Usage } from '../exit.ts'
import { linkJob, linksOf, listPlace } from '../links.ts'
import { jobsIn } from '../module-jobs.ts'
import { moved, operated } from '../operated.ts'
import type { Context } from '../program.ts'
import { type Narrowing, searchText } from '../search-text.ts'
import { lookedAt, searched } from '../searched.ts'
import { found, type Session, withExisting } from '../session.ts'
import { ago, safe, safeJson } from '../terminal.ts'
import { approve } from './approve.ts'

export function jobs(parent: Command, { session }: Context): void {
  const group = parent.command('jobs').description('look at jobs and move them')
  const ls = filters(group.command('ls [query...]').alias('list').description('list jobs, newest first'))
    .option('-n, --limit <n>', 'how many', '20')
    .option('--oldest', 'oldest first')
    .option('--sort <order>', 'created, changed or due (the soonest first): by the last two some thousands are read')
    .option('--cursor <cursor>', 'go on where a page ended')
    .option('--dialect <dialect>', 'in the words of 000A, 000B, 001, 002, 003 (003-explicit has all its states) or 004')
    .action((query: readonly string[], options: ListOptions) => list(session(), query.join(' '), options))
  examples(
    ls,
    'pawl jobs ls --state failed,dead_lettered --type crawl.page',
    'pawl jobs ls state:running --sort changed --oldest',
    "pawl jobs ls 'state:failed -type:report.* updated:<1h input.url:*example*'",
    'pawl jobs ls --label customer=42 --json | jq -r .jobs[].id',
  )
  group
    .command('show <id>')
    .description('one job, with its input and result')
    .option('--dialect <dialect>', 'in the words of a document')
    .action((id: string, options: InDialect) => show(session(), id, options))
  group
    .command('events <id>')
    .alias('history')
    .description('what happened to it, event by event')
    .option('--dialect <dialect>', 'in the words of a document')
    .action((id: string, options: InDialect) => events(session(), id, options))
  group
    .command('result <id>')
    .description('wait for its end and print the result')
    .option('--timeout <duration>', 'give up after this long', '1h')
    .action((id: string, { timeout }: { readonly timeout: string }) => result(session(), id, timeout))
  const replay = group
    .command('replay <id>')
    .description('run its handler against its log, without effects; exits with 1 at the first difference')
    .requiredOption('--module <module>', 'the module that exports its job type')
    .action((id: string, { module }: { readonly module: string }) => replayed(session(), id, module))
  examples(replay, 'pawl jobs replay pj_1k9f3 --module ./jobs.ts')
  movers(group, session)
}

interface AdmissionFlags {
  readonly rule?: string
  readonly policyHash?: string
  readonly reason?: string
}

function movers(group: Command, session: () => Session): void {
  const admit = group
    .command('admit <id>')
    .description('let in a job that is pending')
    .option('--rule <rule>', 'the rule that decided')
    .option('--policy-hash <hash>', 'hash of the policies it is among')
    .action((id: string, { rule, policyHash }: AdmissionFlags) =>
      operated(session(), 'jobs.admitted', id, (pawl) => pawl.admit(id, { rule, policyHash })),
    )
  examples(admit, 'pawl jobs admit pj_1k9f3', 'pawl jobs admit pj_1k9f3 --rule allow-internal --policy-hash 9f3c')
  const deny = group
    .command('deny <id>')
    .description('turn away a job that is pending, or that nobody has claimed')
    .option('--rule <rule>', 'the rule that decided')
    .option('--policy-hash <hash>', 'hash of the policies it is among')
    .option('--reason <text>', 'why')
    .action((id: string, { rule, policyHash, reason }: AdmissionFlags) =>
      operated(session(), 'jobs.denied', id, (pawl) => pawl.deny(id, { rule, policyHash, reason })),
    )
  examples(deny, 'pawl jobs deny pj_1k9f3 --rule no-exfiltration --reason "leaves the tenant"')
  approve(group, session)
  manyMovers(group, session)
  const signal = group
    .command('signal <id> <name>')
    .description('send a signal it waits for, or will wait for')
    .option('-p, --payload <name=value>', 'its payload: k=text, n:=json; may be repeated', collect)
    .option('--key <key>', 'only a wait with this correlation key')
    .action(
      (id: string, name: string, { payload, key }: { readonly payload?: readonly string[]; readonly key?: string }) =>
        moved(session(), (pawl) => pawl.signal(id, name, fieldsIn(payload), { key })),
    )
  examples(signal, 'pawl jobs signal pj_1k9f3 approved -p by=ann -p cents:=4200')
  group
    .command('reopen <id>')
    .alias('retry')
    .description('a second chance for a job that ended badly')
    .option('--reason <text>', 'why')
    .action((id: string, { reason }: { readonly reason?: string }) =>
      operated(session(), 'jobs.reopened', id, (pawl) => pawl.reopen(id, { reason })),
    )
  const reschedule = group
    .command('reschedule <id>')
    .description('run now, later, or at another priority')
    .option('--delay <duration>', 'so much later: 30s, 5m, 2h')
    .option('--priority <priority>', '0 to 9, or critical, interactive, normal, batch')
    .action((id: string, { delay, priority }: { readonly delay?: string; readonly priority?: string }) =>
      operated(session(), 'jobs.rescheduled', id, (pawl) =>
        pawl.reschedule(id, {
          delay: delay === undefined ? undefined : durationOf('--delay', delay),
          priority: priorityOf(priority),
        }),
      ),
    )
  examples(reschedule, 'pawl jobs reschedule pj_1k9f3', 'pawl jobs reschedule pj_1k9f3 --delay 2h --priority batch')
}

/** A `reason` is why it is done, and not one for which letters were put aside. */
interface ManyFlags extends Narrowing {
  readonly dryRun?: boolean
}

interface CancelFlags extends ManyFlags {
  readonly hard?: boolean
  readonly dropNext?: boolean
}

/** One, or all that a search finds. */
function manyMovers(group: Command, session: () => Session): void {
  const cancel = several(group.command('cancel [id]').description('cancel it, or all that match: handlers are told'))
    .option('--hard', 'now, without asking handlers')
    .option('--drop-next', 'of one: what duplicates have brought goes with it')
    .option('--reason <text>', 'why')
    .action((id: string | undefined, { hard, reason, dropNext, ...options }: CancelFlags) => {
      const how = { mode: hard === true ? 'hard' : 'soft', reason } as const
      if (id === undefined) return acted(session(), { action: 'cancel', ...how }, options)
      return operated(session(), 'jobs.cancelled', id, (pawl) =>
        pawl.cancel(id, { ...how, next: dropNext === true ? 'drop' : undefined }),
      )
    })
  examples(
    cancel,
    'pawl jobs cancel pj_1k9f3 --reason "customer left"',
    'pawl jobs cancel --queue mail --query "label.campaign:spring" --dry-run',
  )
  const purge = several(group.command('purge').description('remove what has ended, with its log: all that match'))
    .option('--reason <text>', 'why')
    .action(({ reason, ...options }: ManyFlags) => acted(session(), { action: 'purge', reason }, options))
  examples(purge, 'pawl jobs purge --state cancelled --query "created:>30d" --dry-run')
}

const several = (command: Command): Command =>
  filters(command)
    .option('--query <search>', 'which besides, as the dashboard has it: input.url:*example* created:<1d')
    .option('--dry-run', 'say how many, do nothing')

const acted = (
  session: Session,
  how: Pick<OperationOptions, 'action' | 'mode' | 'reason'>,
  { dryRun = false, ...options }: ManyFlags,
): Promise<void> => {
  statesOf(options.state)
  return withExisting(session, (pawl) => bulk(session, pawl, { ...how, dryRun, query: searchText(options) }))
}

/** What `ls`, `dlq` and `export` may be narrowed by. */
export const filters = (command: Command): Command =>
  command
    .option('-s, --state <states>', 'comma-separated states')
    .option('-q, --queue <queues>', 'comma-separated queues')
    .option('-t, --type <types>', 'comma-separated types')
    .option('-l, --label <name=value>', 'a label; may be repeated', collect)
    .option('--code <code>', 'code of the last error')
    .option('--correlation-id <id>', 'what belongs together')
    .option('--parent-id <id>', 'children of a job')

export interface Filters {
  readonly state?: string
  readonly queue?: string
  readonly type?: string
  readonly label?: readonly string[]
  readonly code?: string
  readonly correlationId?: string
  readonly parentId?: string
}

export const queryOf = (session: Session, options: Filters): Omit<JobQuery, 'order' | 'limit' | 'cursor'> => ({
  tenant: session.tenant,
  states: statesOf(options.state),
  queues: listOf(options.queue),
  types: listOf(options.type),
  labels: labelsOf(options.label),
  code: options.code,
  correlationId: options.correlationId,
  parentId: options.parentId,
})

interface InDialect {
  readonly dialect?: string
}

interface ListOptions extends Filters, InDialect {
  readonly limit: string
  readonly sort?: string
  readonly oldest?: boolean
  readonly cursor?: string
}

async function list(session: Session, search: string, options: ListOptions): Promise<void> {
  const { terminal } = session
  const dialect = readingOf(options.dialect)
  const limit = countOf('--limit', options.limit, { min: 1, max: 500 })
  const order = options.oldest === true ? 'oldest' : 'newest'
  const sort = sortOf(options.sort)
  const query = { ...queryOf(session, options), limit, order, sort, cursor: options.cursor } as const
  await withExisting(session, async (pawl) => {
    const { jobs, cursor, read, tooLong } = await searched(session, pawl, search, query)
    const now = pawl.engine.now()
    const shown = jobs.map((job) => (dialect === undefined ? jobToWire(job, false) : view(job, dialect)))
    const links = await linksOf(session)
    terminal.tell({ jobs: shown, cursor, read, tooLong }, () => {
      const { state, dim } = terminal.paint
      const rows = jobs.map((job) => row(job, now, dialect))
      if (jobs.length === 0) terminal.say('No jobs match.')
      else
        terminal.table(['ID', 'TYPE', 'QUEUE', 'STATE', 'RUNS', 'FAILURES', 'UPDATED'], rows, {
          brushes: { ID: links.brush(jobPlace), STATE: state },
        })
      if (read !== undefined) terminal.say(dim(lookedAt(read, tooLong)))
      if (cursor !== undefined) terminal.say(dim(`more: --cursor ${cursor}`))
      links.line(listPlace({ ...options, query: search }))
    })
  })
}

/** A job has failures (2 of 7) and runs (4): never "attempt 4/3". */
const row = (job: Job, now: number, dialect: Reading | undefined) => [
  job.id,
  job.spec.kind.type,
  job.spec.kind.queue,
  dialect === undefined ? job.state : statusOf(job, READINGS[dialect]),
  job.attempt,
  `${job.failures} of ${maxAttemptsOf(job)}`,
  ago(job.updatedAt, now),
]

async function show(session: Session, id: string, options: InDialect): Promise<void> {
  const dialect = readingOf(options.dialect)
  await withExisting(session, async (pawl) => {
    const job = await found(pawl, id)
    if (dialect !== undefined) {
      const [loaded] = (await pawl.engine.load([{ id: job.id, bodies: ['output'] }])).items
      tellFields(session, view(await namedByStart(pawl.engine, job), dialect, loaded?.bodies['output']))
      return await linkJob(session, job.id)
    }
    await showJob(session, pawl, job, [])
    if (job.approval !== undefined && job.approval.given === undefined)
      session.terminal.say(
        `${session.terminal.paint.dim('to approve it')} ${safe(approveCommand(job.id, job.approval))}`,
      )
  })
}

/** A job as it is told everywhere, with its bodies as they are. */
export async function showJob(session: Session, pawl: Pawl, job: Job, more: readonly string[]): Promise<void> {
  const [loaded] = (await pawl.engine.load([{ id: job.id, bodies: ['input', 'output', ...more] }])).items
  const bodies = Object.fromEntries(
    Object.entries(loaded?.bodies ?? {}).map(([name, text]) => [name, text === '' ? undefined : JSON.parse(text)]),
  )
  const { input: _, ...told } = jobToWire(job, true)
  tellFields(session, { ...told, ...bodies })
  await linkJob(session, job.id)
}

const MACHINERY: ReadonlySet<string> = new Set(['policy', 'recent', 'baseRev', 'seq', 'nextTickAt'])

function tellFields({ terminal }: Session, fields: Readonly<Record<string, unknown>>): void {
  terminal.tell(fields, () => {
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || MACHINERY.has(name) || isEmpty(value)) continue
      const readable = typeof value === 'object' ? safeJson(value) : safe(String(value))
      const text = name === 'state' ? terminal.paint.state(readable) : readable
      terminal.say(`${terminal.paint.dim(safe(name).padEnd(14))} ${text.replaceAll('\n', `\n${' '.repeat(15)}`)}`)
    }
  })
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

async function events(session: Session, id: string, options: InDialect): Promise<void> {
  const { terminal } = session
  const dialect = readingOf(options.dialect)
  await withExisting(session, async (pawl) => {
    const job = await found(pawl, id)
    const all = await pawl.events(job.id)
    if (dialect !== undefined) {
      const entries = log(all, dialect)
      return terminal.tell({ events: entries, rev: entries.at(-1)?.rev }, () => {
        for (const entry of entries) terminal.say(safe(JSON.stringify(entry)))
      })
    }
    const rows = all.map(({ rev, seq, at, type, from, to, actor, reason }) => [
      rev,
      seq,
      new Date(at).toISOString(),
      type,
      from,
      to,
      actor,
      reason,
    ])
    terminal.tell({ events: all.map(eventToWire) }, () => {
      const { state } = terminal.paint
      terminal.table(['REV', 'SEQ', 'AT', 'EVENT', 'FROM', 'TO', 'ACTOR', 'REASON'], rows, {
        brushes: { FROM: state, TO: state },
      })
    })
    await linkJob(session, job.id)
  })
}

async function result(session: Session, id: string, timeout: string): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const value = await pawl.result((await found(pawl, id)).id, { timeout: durationOf('--timeout', timeout) })
    terminal.tell(value ?? null, () => terminal.print(`${safeJson(value ?? null)}\n`))
  })
}

export const priorityOf = (text: string | undefined): never =>
  (text === undefined || Number.isNaN(Number(text)) ? text : Number(text)) as never

async function replayed(session: Session, id: string, module: string): Promise<void> {
  const { terminal } = session
  const jobs = await jobsIn(module)
  await withExisting(session, async (pawl) => {
    const job = await found(pawl, id)
    const { type } = job.spec.kind
    const definition = jobs.find((each) => each.type === type)
    if (definition === undefined)
      throw new Usage(`${module} exports no job of type ${type}.`, 'Name the module that `pawl work` runs it from.')
    const replay = await pawl.replay(job.id, definition)
    const { difference, came, goesOnWith } = replay
    terminal.tell(replay, () => {
      if (difference !== undefined) {
        const { at, logged, replayed: now } = difference
        return terminal.say(
          `${terminal.paint.red('differs')} at ${safe(at)}: the log has ${safe(logged)}, the replay ${safe(now)}`,
        )
      }
      const rest = goesOnWith === undefined ? '' : `, and goes on with ${safe(goesOnWith)}`
      terminal.say(`${terminal.paint.green('no difference')} in ${came.length} steps${rest}.`)
    })
    if (difference !== undefined) throw new Ended(EXIT.failure)
  })
}
