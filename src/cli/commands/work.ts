/** `pawl work <module>`: runs the job types that a module exports, until it is stopped. */
import type { Command } from 'commander'
import type { Pawl } from '../../library/pawl.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import { durationOf } from '../arguments.ts'
import { countOf, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import { type KeepOptions, keepOptions, retentionOf, saysWhen } from '../keep.ts'
import { collector, DEFAULT_HOST, portOf } from '../listening.ts'
import { jobsIn } from '../module-jobs.ts'
import type { ProbeOptions, Probes } from '../probes.ts'
import type { Context } from '../program.ts'
import { isGateway, opened, type Session } from '../session.ts'
import { safe } from '../terminal.ts'
import { logTo, stopped } from './serve.ts'

interface Options extends KeepOptions {
  readonly concurrency: string
  readonly queue?: string
  readonly pool?: string
  readonly can?: string
  readonly appVersion?: string
  readonly drain: string
  readonly port?: string
  readonly host: string
  readonly log?: boolean
}

export function work(parent: Command, { session }: Context): void {
  const command = parent
    .command('work <module>')
    .description('run the job types that a module exports, until it is stopped')
    .option('-c, --concurrency <n>', 'handlers at a time', '16')
    .option('-q, --queue <queues>', 'only these queues')
    .option('--pool <pool>', 'the pool it works in: what a policy routes there is for it')
    .option('--can <capabilities>', 'what it can do that others may not: gpu,cuda')
    .option('--app-version <text>', 'the version of your application: a new one is marked in the dashboard’s charts')
    .option('--drain <duration>', 'how long handlers may take to finish when it is stopped', '10s')
    .option('-p, --port <port>', 'answer /livez, /readyz and /metrics there; 0 picks a free one')
    .option('--host <address>', 'where that port is', DEFAULT_HOST)
    .option('--log', 'a line of JSON per transition on standard error')
    .action((module: string, options: Options) => run(session(), module, options))
  examples(
    keepOptions(command),
    'pawl work ./jobs.ts',
    'pawl work ./jobs.js --concurrency 64 --queue mail,crawl --url postgres://localhost/app',
    'pawl work ./jobs.js --pool code --can gpu',
    'pawl work ./jobs.js --app-version "$(git rev-parse --short HEAD)"',
    'pawl work ./jobs.js --port 9090 --host 0.0.0.0',
    'pawl work ./jobs.js --no-retention',
  )
}

async function run(session: Session, module: string, options: Options): Promise<void> {
  const { terminal, signal } = session
  const concurrency = countOf('--concurrency', options.concurrency, { min: 1, max: 10_000 })
  const retention = retentionOf(options)
  if (saysWhen(options) && isGateway(session.url))
    throw new Usage('Behind a gateway its process removes what has ended.', 'Say --keep to pawl serve.')
  const jobs = await jobsIn(module)
  const wanted = listOf(options.queue)
  const queues = wanted === undefined ? undefined : Object.fromEntries(wanted.map((queue) => [queue, 1]))
  const log = logTo(session, options.log === true)
  const port = options.port === undefined ? undefined : portOf(options.port)
  const metrics = port === undefined || isGateway(session.url) ? undefined : await collector()
  await using pawl = await opened(session, { ticker: {}, retention, log, metrics })
  await using asked =
    port === undefined ? undefined : await probed(session, pawl, { port, host: options.host, metrics })
  const able = { pool: options.pool, capabilities: listOf(options.can), version: options.appVersion }
  await using worker = pawl.work(jobs, { concurrency, queues, ...able, drain: durationOf('--drain', options.drain) })
  const served = wanted ?? [...new Set(jobs.map(({ queue }) => queue))]
  const types = jobs.map(({ type }) => type)
  terminal.tell({ worker: worker.id, types, queues: served, concurrency, url: asked?.url }, () => {
    terminal.say(
      `${worker.id} works for ${withoutCredentials(session.url)}: ${safe(types.join(', '))}; ${concurrency} at a time, from ${safe(served.join(', '))}.`,
    )
    if (asked !== undefined) terminal.say(`${asked.url} has /livez, /readyz and /metrics.`)
    terminal.say(terminal.paint.dim('Ctrl-C stops it: what runs may finish, what is held is handed back.'))
  })
  await stopped(signal)
  terminal.say(`Stopping: ${worker.running} still run.`)
}

/** What only a process with such a port needs is loaded only there. */
async function probed(
  { clock, timers, signal: stopping }: Session,
  pawl: Pawl,
  at: Pick<ProbeOptions, 'host' | 'port' | 'metrics'>,
): Promise<Probes> {
  const { probes } = await import('../probes.ts')
  const found = await probes({ ...at, pawl, clock, timers, stopping })
  at.metrics?.watch(pawl)
  return found
}
