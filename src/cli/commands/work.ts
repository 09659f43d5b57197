/** `pawl work <module>`: runs the job types that a module exports, until it is stopped. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { withoutCredentials } from '../../system/credentials.ts'
import type { JobDefinition } from '../../worker/definition.ts'
import { exportedJobs } from '../../worker/exported-jobs.ts'
import { countOf, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Missing, Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { opened, type Session } from '../session.ts'
import { safe } from '../terminal.ts'
import { durationOf } from '../words.ts'
import { logTo, stopped } from './serve.ts'

interface Options {
  readonly concurrency: string
  readonly queue?: string
  readonly drain: string
  readonly log?: boolean
}

export function work(parent: Command, { session }: Context): void {
  const command = parent
    .command('work <module>')
    .description('run the job types that a module exports, until it is stopped')
    .option('-c, --concurrency <n>', 'handlers at a time', '16')
    .option('-q, --queue <queues>', 'only these queues')
    .option('--drain <duration>', 'how long handlers may take to finish when it is stopped', '10s')
    .option('--log', 'a line of JSON per transition on standard error')
    .action((module: string, options: Options) => run(session(), module, options))
  examples(
    command,
    'pawl work ./jobs.ts',
    'pawl work ./jobs.js --concurrency 64 --queue mail,crawl --url postgres://localhost/app',
  )
}

async function run(session: Session, module: string, options: Options): Promise<void> {
  const { terminal, signal } = session
  const concurrency = countOf('--concurrency', options.concurrency, { min: 1, max: 10_000 })
  const jobs = await definitionsIn(module)
  const wanted = listOf(options.queue)
  const queues = wanted === undefined ? undefined : Object.fromEntries(wanted.map((queue) => [queue, 1]))
  const log = logTo(session, options.log === true)
  await using pawl = await opened(session, { ticker: {}, retention: {}, log })
  await using worker = pawl.work(jobs, { concurrency, queues, drain: durationOf('--drain', options.drain) })
  const served = wanted ?? [...new Set(jobs.map(({ queue }) => queue))]
  const types = jobs.map(({ type }) => type)
  terminal.tell({ worker: worker.id, types, queues: served, concurrency }, () => {
    terminal.say(
      `${worker.id} works for ${withoutCredentials(session.url)}: ${safe(types.join(', '))}; ${concurrency} at a time, from ${safe(served.join(', '))}.`,
    )
    terminal.say(terminal.paint.dim('Ctrl-C stops it: what runs may finish, what is held is handed back.'))
  })
  await stopped(signal)
  terminal.say(`Stopping: ${worker.running} still run.`)
}

/** The jobs that a module exports. Whoever says nothing else can be imported from there by another process, too. */
async function definitionsIn(module: string): Promise<readonly JobDefinition[]> {
  const path = resolve(module)
  if (!existsSync(path)) throw new Missing(`There is no module ${module}.`)
  const { href } = pathToFileURL(path)
  const found = exportedJobs((await import(href)) as object)
  if (found.length === 0)
    throw new Usage(`${module} exports no job.`, 'Export what defineJob returns: export const mail = defineJob({ … })')
  return found.map((job) => ({ ...job, module: job.module ?? href }))
}
