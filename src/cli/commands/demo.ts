/** `pawl demo`, which is `npm start`: a gateway over an embedded store, a worker, and work for it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { PrometheusMetrics } from '../../gateway/prometheus.ts'
import type { Gateway } from '../../gateway/serve.ts'
import type { Pawl } from '../../pawl.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { needsStore, opened, type Session } from '../session.ts'
import type { Terminal } from '../terminal.ts'
import { collector, DEFAULT_HOST, DEFAULT_PORT, listening, portOf, stopped } from './serve.ts'

interface Options {
  readonly port?: string
  readonly rate: string
}

/** The demo is for looking: what ended a while ago makes room. */
const KEEP_MS = 60 * 60 * 1_000

export function demo(parent: Command, { session }: Context): void {
  const command = parent
    .command('demo')
    .description('see it live: a gateway, a worker and a gentle stream of jobs, in a store that goes away afterwards')
    .option('-p, --port <port>', `0 picks a free one (${DEFAULT_PORT}, or a free one where that is taken)`)
    .option('--rate <n>', 'jobs per second', '1')
    .action((options: Options) => run(session(), options))
  examples(command, 'pawl demo', 'pawl demo --port 0 --json', 'pawl demo --url demo.db --rate 10')
}

async function run(session: Session, options: Options): Promise<void> {
  needsStore(session, 'demo')
  const { terminal, signal, timers } = session
  const rate = Number(options.rate)
  if (!(rate > 0 && rate <= 1_000))
    throw new Usage(`--rate is a number of jobs per second up to 1000, not ${options.rate}.`)
  const [{ DEMO_JOBS }, { workload }] = await Promise.all([import('../demo/jobs.ts'), import('../demo/workload.ts')])
  using place = somewhere(session)
  const metrics = await collector()
  const here = { ...session, url: place.url }
  await using pawl = await opened(here, {
    ticker: {},
    metrics,
    retention: { everyMs: 60_000, succeededMs: KEEP_MS, endedMs: KEEP_MS },
  })
  await using gateway = await onSomePort(here, pawl, metrics, options.port)
  const tenant = session.tenant ?? 'default'
  const { secret } = await gateway.tokens.create({ name: 'demo', scope: 'admin', tenant, queues: undefined })
  await using _worker = pawl.work(DEMO_JOBS, { concurrency: 8, drain: '2s' })
  await using work = workload(pawl, timers, rate)
  work.start()
  terminal.tell({ url: gateway.url, token: secret, store: withoutCredentials(place.url) }, () =>
    welcome(terminal, gateway.url, secret, place.url),
  )
  await stopped(signal)
  terminal.say('Stopping: what runs is handed back.')
}

/** A store of its own, unless one was named. */
function somewhere({ asked }: Session): { readonly url: string } & Disposable {
  if (asked !== undefined) return { url: asked, [Symbol.dispose]: () => {} }
  const folder = mkdtempSync(join(tmpdir(), 'pawl-demo-'))
  return { url: join(folder, 'jobs.db'), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

async function onSomePort(
  session: Session,
  pawl: Pawl,
  metrics: PrometheusMetrics,
  port: string | undefined,
): Promise<Gateway> {
  const where = { host: DEFAULT_HOST, auth: true, metrics }
  if (port !== undefined) return await listening(session, pawl, { ...where, port: portOf(port) })
  try {
    return await listening(session, pawl, { ...where, port: portOf(DEFAULT_PORT) })
  } catch (error) {
    if (!(error instanceof Usage)) throw error
    return await listening(session, pawl, { ...where, port: 0 })
  }
}

function welcome(terminal: Terminal, url: string, secret: string, store: string): void {
  const { paint } = terminal
  const lines = [
    `pawl serves ${store} at ${paint.bold(url)}, and a worker runs jobs of six types:`,
    paint.dim(
      'greet works, fetch.page fails twice first, charge.card ends as a dead letter, parse.mail fails for good,',
    ),
    paint.dim('refund waits for somebody to approve it, render.film takes twenty seconds and says how far it is.'),
    '',
    `Demo token (admin, gone when this stops): ${paint.bold(secret)}`,
    '',
    paint.bold('Try, in another terminal:'),
    ...aliasLine(),
    `  export PAWL_URL=${url} PAWL_TOKEN=${secret}`,
    `  pawl top`,
    `  pawl tail`,
    `  pawl jobs ls --state parked,waiting,retrying`,
    `  pawl enqueue greet --queue demo -p name=you --wait`,
    `  pawl jobs signal <id of a refund> approved -p by=me`,
    `  pawl explain <any id>`,
    `  pawl dlq ls`,
    `  pawl dlq redrive --dry-run`,
    '',
    paint.bold('Or with nothing but curl:'),
    `  curl -s -H 'Authorization: Bearer ${secret}' ${url}/v1/queues`,
    `  curl -s -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"type":"greet","queue":"demo","input":{"name":"curl"}}' ${url}/v1/jobs`,
    `  curl -sN -H 'Authorization: Bearer ${secret}' -H 'Accept: text/event-stream' ${url}/v1/events`,
    '',
    paint.dim('examples/worker.py and examples/worker.sh are workers in Python and bash. Ctrl-C stops everything.'),
  ]
  for (const line of lines) terminal.say(line)
}

/** From a checkout nobody has `pawl` on the path, and perhaps an older Node: both are given a name. */
function aliasLine(): readonly string[] {
  const script = process.argv[1] ?? ''
  return script.endsWith('.ts') ? [`  alias pawl='${process.execPath} ${script}'`] : []
}
