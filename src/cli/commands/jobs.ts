/** `pawl jobs …`: look at jobs and move them. */
import type { Command } from 'commander'
import { history } from '../../core/dialects/history.ts'
import { dialectNamed } from '../../core/dialects/registry.ts'
import { view } from '../../core/dialects/view.ts'
import { type Job, STATES, type State } from '../../core/job.ts'
import { refuse } from '../../core/refuse.ts'
import type { DialectName } from '../../core/policy.ts'
import { eventToWire, jobToWire } from '../../gateway/contract/wire.ts'
import { Refused } from '../../errors.ts'
import type { Pawl } from '../../pawl.ts'
import { Usage } from '../exit.ts'
import { type Session, withPawl } from '../session.ts'
import { ago, safe } from '../terminal.ts'
import { words } from '../words.ts'

export function jobsCommands(program: Command, session: () => Session): void {
  const jobs = program.command('jobs').description('look at jobs and move them')
  jobs
    .command('ls')
    .description('list jobs, newest first')
    .option('-s, --state <states>', 'comma-separated states')
    .option('-q, --queue <queues>', 'comma-separated queues')
    .option('-t, --type <types>', 'comma-separated types')
    .option('-l, --label <name=value...>', 'labels')
    .option('--code <code>', 'code of the last error')
    .option('-n, --limit <n>', 'how many', '20')
    .option('--cursor <cursor>', 'go on where a page ended')
    .option('--dialect <dialect>', 'in the words of 000A, 000B, 001, 002, 003 or 004')
    .action((options) => list(session(), options))
  jobs
    .command('show <id>')
    .description('one job, with its input and result')
    .option('--dialect <dialect>', 'in the words of a document')
    .action((id, options) => show(session(), id, options))
  jobs
    .command('events <id>')
    .description('its history')
    .option('--dialect <dialect>', 'in the words of a document')
    .action((id, options) => events(session(), id, options))
  jobs
    .command('result <id>')
    .description('wait for the end and print the result')
    .option('--timeout <duration>', 'give up after this long', '1h')
    .action((id, options) => result(session(), id, options))
  jobs
    .command('cancel <id>')
    .description('cancel a job')
    .option('--hard', 'now, without asking its handler')
    .option('--reason <reason>')
    .action((id, options) => moved(session(), (pawl) => pawl.cancel(id, { mode: options.hard === true ? 'hard' : 'soft', reason: options.reason })))
  jobs
    .command('signal <id> <name>')
    .description('send a signal')
    .option('-p, --payload <k=v...>', 'its payload: k=text, n:=json')
    .option('--key <key>', 'correlation key')
    .action((id, name, options) => moved(session(), (pawl) => pawl.signal(id, name, words(options.payload), { key: options.key })))
  jobs
    .command('reopen <id>')
    .alias('retry')
    .description('a second chance for a job that ended badly')
    .option('--reason <reason>')
    .action((id, options) => moved(session(), (pawl) => pawl.reopen(id, { reason: options.reason })))
  jobs
    .command('reschedule <id>')
    .description('run now, later, or at another priority')
    .option('--delay <duration>')
    .option('--priority <priority>')
    .action((id, { delay, priority }) => moved(session(), (pawl) => pawl.reschedule(id, { delay, priority: priority === undefined || Number.isNaN(Number(priority)) ? priority : Number(priority) })))
}

async function list(session: Session, options: Readonly<Record<string, string | undefined>> & { label?: readonly string[] }): Promise<void> {
  const { terminal } = session
  const dialect = dialectOf(options['dialect'])
  await withPawl(session, async (pawl) => {
    const { jobs, cursor, now } = await pawl.find({
      states: statesOf(options['state']),
      queues: options['queue']?.split(','),
      types: options['type']?.split(','),
      labels: labelsOf(options.label),
      code: options['code'],
      limit: Number(options['limit']),
      cursor: options['cursor'],
    })
    const told = jobs.map((job) => (dialect === undefined ? jobToWire(job, false) : view(job, dialect)))
    terminal.tell({ jobs: told, cursor }, () => {
      if (jobs.length === 0) return terminal.say('No jobs match.')
      terminal.table(['ID', 'TYPE', 'QUEUE', 'STATE', 'RUNS', 'FAILURES', 'UPDATED'], jobs.map((job) => row(job, now, dialect)))
      if (cursor !== undefined) terminal.say(terminal.paint.dim(`more: --cursor ${cursor}`))
    })
  })
}

/** A job has failures (2 of 7) and runs (4): never "attempt 4/3". */
const row = (job: Job, now: number, dialect: DialectName | undefined) => [
  job.spec.alias ?? job.id,
  job.spec.kind.type,
  job.spec.kind.queue,
  dialect === undefined ? job.state : String(Object.values(view(job, dialect))[1] ?? job.state),
  job.attempt,
  `${job.failures} of ${job.spec.kind.policy.maxAttempts}`,
  ago(job.updatedAt, now),
]

async function show(session: Session, id: string, options: { readonly dialect?: string }): Promise<void> {
  const { terminal } = session
  const dialect = dialectOf(options.dialect)
  await withPawl(session, async (pawl) => {
    const job = await found(pawl, id)
    const told = dialect === undefined ? jobToWire(job, true) : view(job, dialect)
    const input = job.spec.input === undefined ? undefined : await pawl.body(job.id, 'input')
    const output = job.result?.body === undefined || job.result.body.size === 0 ? undefined : await pawl.body(job.id, 'output')
    terminal.tell({ ...told, input, output }, () => {
      for (const [name, value] of Object.entries({ ...told, input, output })) {
        if (value === undefined || name === 'policy') continue
        terminal.say(`${terminal.paint.dim(name.padEnd(14))} ${safe(typeof value === 'string' ? value : JSON.stringify(value))}`)
      }
    })
  })
}

async function events(session: Session, id: string, options: { readonly dialect?: string }): Promise<void> {
  const { terminal } = session
  const dialect = dialectOf(options.dialect)
  await withPawl(session, async (pawl) => {
    const job = await found(pawl, id)
    const log = await pawl.events(job.id)
    if (dialect !== undefined) {
      const told = history(log, dialect)
      return terminal.tell({ events: told }, () => {
        for (const entry of told) terminal.say(safe(JSON.stringify(entry)))
      })
    }
    terminal.tell({ events: log.map(eventToWire) }, () =>
      terminal.table(
        ['REV', 'SEQ', 'AT', 'EVENT', 'FROM', 'TO', 'ACTOR', 'REASON'],
        log.map((event) => [event.rev, event.seq, new Date(event.at).toISOString(), event.type, event.from, event.to, event.actor, event.reason]),
      ),
    )
  })
}

async function result(session: Session, id: string, { timeout }: { readonly timeout: string }): Promise<void> {
  const { terminal } = session
  await withPawl(session, async (pawl) => {
    const value = await pawl.result(id, { timeout })
    terminal.tell(value ?? null, () => terminal.say(JSON.stringify(value ?? null, undefined, 2)))
  })
}

/** Says what has become of the job. */
async function moved(session: Session, move: (pawl: Pawl) => Promise<{ readonly jobId: string; readonly state: State; readonly rev: number; readonly replayed: boolean }>): Promise<void> {
  const { terminal } = session
  await withPawl(session, async (pawl) => {
    const { jobId, state, rev, replayed } = await move(pawl)
    terminal.tell({ jobId, state, rev, replayed }, () => terminal.say(`${jobId} is ${terminal.paint.bold(state)}${replayed ? ' already' : ''}.`))
  })
}

async function found(pawl: Pawl, id: string): Promise<Job> {
  const job = await pawl.get(id)
  if (job === undefined) throw new Refused(refuse('NOT_FOUND', { jobId: id, message: `There is no job ${id}.` }))
  return job
}

export function dialectOf(name: string | undefined): DialectName | undefined {
  if (name === undefined) return undefined
  const dialect = dialectNamed(name)
  if (dialect === undefined) throw new Usage(`There is no dialect ${name}: 000A, 000B, 001, 002, 003 and 004 are known.`)
  return dialect
}

export function statesOf(text: string | undefined): readonly State[] | undefined {
  return text?.split(',').map((word) => {
    const state = word === 'canceled' ? 'cancelled' : word
    if (!(STATES as readonly string[]).includes(state)) throw new Usage(`There is no state ${word}: ${STATES.join(', ')} are known.`)
    return state as State
  })
}

function labelsOf(pairs: readonly string[] | undefined): Readonly<Record<string, string>> | undefined {
  if (pairs === undefined) return undefined
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new Usage(`A label is name=value, not ${pair}.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}
