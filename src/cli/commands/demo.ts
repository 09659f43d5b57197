/** `pawl demo`, which is `npm start`: a gateway over an embedded store, a worker, and work for it. */
import type { Command } from 'commander'
import { DEFAULT_TENANT } from '../../core/job.ts'
import type { Gateway } from '../../gateway/serve.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import { welcome } from '../demo/welcome.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import { collector, DEFAULT_HOST, DEFAULT_PORT, listening, portOf } from '../listening.ts'
import type { Context } from '../program.ts'
import { needsStore, opened, type Session } from '../session.ts'
import { linkFor, stopped, withPolicy } from './serve.ts'

interface Options {
  readonly port?: string
  readonly rate: string
  readonly reset?: boolean
}

/** The demo is for looking: what ended a while ago makes room. */
const KEEP_MS = 60 * 60 * 1_000

export function demo(parent: Command, { session }: Context): void {
  const command = parent
    .command('demo')
    .description('see it live: a gateway with its dashboard, workers and a gentle stream of jobs, in .pawl/demo.db')
    .option('-p, --port <port>', `0 picks a free one (${DEFAULT_PORT}, or a free one where that is taken)`)
    .option('--rate <n>', 'jobs per second', '1')
    .option('--reset', 'begin anew: clears the jobs of the last time')
    .action((options: Options) => run(session(), options))
  examples(command, 'pawl demo', 'pawl demo --reset', 'pawl demo --port 0 --json', 'pawl demo --url demo.db --rate 10')
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal, signal, timers, named } = session
  const rate = Number(options.rate)
  if (!(rate > 0 && rate <= 1_000))
    throw new Usage(`--rate is a number of jobs per second up to 1000, not ${options.rate}.`)
  const { HERE, openingHand, workload, illFated, placeOf, cleared, openedAt, policyBeside } = await parts()
  const path = placeOf(session)
  // Its jobs are the default tenant's: PAWL_TENANT is about other stores.
  const here = { ...session, url: path, tenant: undefined }
  needsStore(here, 'demo')
  if (options.reset === true) cleared(session)
  const metrics = await collector()
  // Each step of a job that has ended stays to be seen.
  const retention = { everyMs: 60_000, succeededMs: KEEP_MS, endedMs: KEEP_MS, compact: false }
  const policy = named === undefined ? policyBeside(path) : undefined
  const own = { ticker: {}, metrics, retention, policy }
  await using pawl = await openedAt(path, session, () => withPolicy(policy, () => opened(here, own)))
  const port = options.port === undefined ? { port: DEFAULT_PORT, otherwise: 0 } : { port: portOf(options.port) }
  await using gateway = await listening(pawl, {
    ...port,
    host: DEFAULT_HOST,
    auth: true,
    tenant: undefined,
    metrics,
    dashboard: true,
  })
  await using token = await temporaryToken(gateway)
  const { url } = gateway
  const { secret } = token
  await using _worker = pawl.work(HERE, { concurrency: 8, drain: '2s' })
  const refund = await openingHand(pawl)
  await using second = illFated({ pawl, timers, url, secret })
  await using work = workload(pawl, timers, rate)
  for (const each of [second, work]) each.start()
  const link = (await linkFor(gateway, secret)) ?? url
  const store = withoutCredentials(path)
  const elsewhere = options.port === undefined && !url.endsWith(`:${DEFAULT_PORT}`)
  terminal.tell({ url, token: secret, link, store, refund }, () =>
    welcome(terminal, { url, secret, link, store, refund, isOwn: named === undefined, policy, elsewhere }),
  )
  await stopped(signal)
  terminal.say('Stopping: what runs is handed back.')
}

/** What only the demo needs is loaded only here. */
const parts = async () => ({
  ...(await import('../demo/jobs.ts')),
  ...(await import('../demo/workload.ts')),
  ...(await import('../demo/ill-fated.ts')),
  ...(await import('../demo/place.ts')),
  ...(await import('../demo/policy.ts')),
})

/** An admin's, for as long as the demo runs: a store that is kept does not keep it. */
async function temporaryToken({ tokens }: Gateway): Promise<{ readonly secret: string } & AsyncDisposable> {
  const tenant = DEFAULT_TENANT
  const { token, secret } = await tokens.create({ name: 'demo', scope: 'admin', tenant, queues: undefined })
  return { secret, [Symbol.asyncDispose]: async () => void (await tokens.revoke(token.id, tenant)) }
}
