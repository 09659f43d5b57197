/** `pawl work <module>`: runs the job types that a module exports, until it is stopped. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { Pawl } from '../../library/pawl.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import type { JobDefinition } from '../../worker/definition.ts'
import { exportedJobs } from '../../worker/exported-jobs.ts'
import { countOf, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Missing, Usage } from '../exit.ts'
import { collector, DEFAULT_HOST, portOf } from '../listening.ts'
import type { ProbeOptions, Probes } from '../probes.ts'
import type { Context } from '../program.ts'
import { isGateway, opened, type Session } from '../session.ts'
import { safe } from '../terminal.ts'
import { durationOf } from '../words.ts'
import { logTo, stopped } from './serve.ts'

interface Options {
  readonly concurrency: string
  readonly queue?: string
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
    .option('--drain <duration>', 'how long handlers may take to finish when it is stopped', '10s')
    .option('-p, --port <port>', 'answer /livez, /readyz and /metrics there; 0 picks a free one')
    .option('--host <address>', 'where that port is', DEFAULT_HOST)
    .option('--log', 'a line of JSON per transition on standard error')
    .action((module: string, options: Options) => run(session(), module, options))
  examples(
    command,
    'pawl work ./jobs.ts',
    'pawl work ./jobs.js --concurrency 64 --queue mail,crawl --url postgres://localhost/app',
    'pawl work ./jobs.js --port 9090 --host 0.0.0.0',
  )
}

async function run(session: Session, module: string, options: Options): Promise<void> {
  const { terminal, signal } = session
  const concurrency = countOf('--concurrency', options.concurrency, { min: 1, max: 10_000 })
  const jobs = await definitionsIn(module)
  const wanted = listOf(options.queue)
  const queues = wanted === undefined ? undefined : Object.fromEntries(wanted.map((queue) => [queue, 1]))
  const log = logTo(session, options.log === true)
  const port = options.port === undefined ? undefined : portOf(options.port)
  const metrics = port === undefined || isGateway(session.url) ? undefined : await collector()
  await using pawl = await opened(session, { ticker: {}, retention: {}, log, metrics })
  await using asked =
    port === undefined ? undefined : await probed(session, pawl, { port, host: options.host, metrics })
  await using worker = pawl.work(jobs, { concurrency, queues, drain: durationOf('--drain', options.drain) })
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

/** The jobs that a module exports. Whoever says nothing else can be imported from there by another process, too. */
async function definitionsIn(module: string): Promise<readonly JobDefinition[]> {
  const path = resolve(module)
  if (!existsSync(path)) throw new Missing(`There is no module ${module}.`)
  const { href } = pathToFileURL(path)
  const found = exportedJobs(await imported(module, href))
  if (found.length === 0)
    throw new Usage(`${module} exports no job.`, 'Export what defineJob returns: export const mail = defineJob({ … })')
  return found.map((job) => ({ ...job, module: job.module ?? href }))
}

async function imported(module: string, href: string): Promise<object> {
  try {
    return (await import(href)) as object
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // What `npm init` writes into package.json makes every .ts and .js file CommonJS, and they are none.
    const next = /import statement outside a module|Unexpected token 'export'/.test(why)
      ? 'Say that its package has modules: npm pkg set type=module'
      : `See where, by itself: node ${module}`
    throw new Usage(`${module} cannot be imported: ${why}.`, next)
  }
}
