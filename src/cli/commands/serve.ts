/** `pawl serve`: the gateway over a store, until it is stopped. */
import type { Command } from 'commander'
import { DEFAULT_TENANT } from '../../core/job.ts'
import { reasonOf } from '../../core/reason.ts'
import type { Caps } from '../../gateway/caps.ts'
import type { Gateway } from '../../gateway/serve.ts'
import type { Pawl } from '../../library/pawl.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import { type Log, linesTo, stderrLog } from '../../system/log.ts'
import { realRandom } from '../../system/random.ts'
import { audited } from '../audited.ts'
import { openBuses } from '../buses.ts'
import { chosen, countOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import { type KeepOptions, keepOptions, retentionOf, saysWhen } from '../keep.ts'
import { collector, DEFAULT_HOST, DEFAULT_PORT, listening, portOf } from '../listening.ts'
import type { Context } from '../program.ts'
import { needsStore, opened, type Session, withoutKeys } from '../session.ts'

export interface ServeOptions extends KeepOptions {
  readonly port: string
  readonly host: string
  readonly auth: boolean
  readonly log?: boolean
  readonly cap?: readonly string[]
  readonly dashboard?: boolean
  readonly policy?: string
  readonly kernel?: string
  readonly role?: readonly string[]
  readonly bus?: readonly string[]
}

/** What `serve` may be alone, any number of processes each: the store arbitrates, and none leads. */
const ROLES = ['gateway', 'scheduler', 'reconciler'] as const
type Role = (typeof ROLES)[number]

/** Whoever calls over HTTP is told soon that the store is away, and when to come again; callers have patience of their own. */
export const RETRY_FOR = '1s' as const

export function serve(parent: Command, { session }: Context): void {
  const command = parent
    .command('serve')
    .description('serve a store over HTTP, judge what waits to be admitted, and end what is late, until it is stopped')
    .option('-p, --port <port>', '0 picks a free one', String(DEFAULT_PORT))
    .option('--host <address>', 'where to listen', DEFAULT_HOST)
    .option('--no-auth', 'no tokens: whoever reaches the port is an admin; loopback only')
    .option('--dashboard', 'pages for browsers besides; whoever opens them signs in with a token')
    .option('--policy <folder>', 'judge by it, or by what is set alone (settings:), what waits to be admitted')
    .option('--kernel <url>', 'a safety kernel, asked about what the policy would let in')
    .option('--role <role>', 'gateway, scheduler or reconciler, and not the others; may be repeated (all)', gathered)
    .option(
      '--bus <[tenant=]url>',
      'jobs and workers over NATS, too: nats://… (docs/bus.md); one for each tenant',
      gathered,
    )
    .option('--log', 'a line of JSON per transition on standard error')
    .option('--cap <name=number>', 'how much of something there may be (docs/limits.md); may be repeated', gathered)
    .action((options: ServeOptions) => run(session(), options))
  examples(
    keepOptions(command),
    'pawl serve',
    'pawl serve --dashboard',
    'pawl serve --port 0 --json',
    'pawl serve --url postgres://localhost/app --host 0.0.0.0',
    'pawl serve --policy policies/',
    'pawl serve --policy policies/ --kernel http://127.0.0.1:9000/judge',
    'pawl serve --policy settings:',
    'pawl serve --role scheduler --policy policies/',
    'pawl serve --policy policies/ --bus nats://localhost:4222',
    'pawl serve --bus acme=nats://acme:secret@bus --bus globex=nats://globex:secret@bus',
    'pawl serve --cap streamsPerToken=500 --cap bodyBytes=1048576',
    'pawl serve --keep succeeded=30d --keep bodies=7d --keep bodies:mail.send=1h',
    'pawl serve --keep bodies=30d --bodies-even-of failed,dead_lettered',
  )
}

async function run(session: Session, options: ServeOptions): Promise<void> {
  needsStore(session, 'serve')
  const { terminal, signal, url, tenant } = session
  const { host, auth, dashboard = false, policy, kernel } = options
  const roles = rolesOf(options)
  const port = portOf(options.port)
  const log = logTo(session, options.log === true)
  const caps = await capsOf(options.cap)
  const metrics = await collector(caps)
  const reconciles = roles.has('reconciler')
  const retention = reconciles && retentionOf(options)
  const judges = roles.has('scheduler') ? policy : undefined
  const judging = { policy: judges, kernel: judges && kernel }
  const own = { ticker: reconciles && {}, retention, ...judging, log, metrics, retryFor: RETRY_FOR } as const
  await using pawl = await withPolicy(policy, () => opened(withoutKeys(session), own))
  await using buses = await openBuses(session, options.bus ?? [], roles, pawl, caps, log)
  if (!roles.has('gateway')) {
    terminal.tell({ store: withoutCredentials(url), roles: [...roles] }, () =>
      terminal.say(
        [
          `pawl is the ${[...roles].join(' and the ')} of ${withoutCredentials(url)}. Ctrl-C stops it.`,
          ...buses.lines,
        ].join('\n'),
      ),
    )
    return await stopped(signal)
  }
  await using gateway = await listening(pawl, {
    host,
    port,
    auth,
    tenant,
    metrics,
    log: log ?? stderrLog,
    caps,
    dashboard,
  })
  const secret = auth ? await firstToken(session, pawl, gateway) : undefined
  const link = dashboard && secret !== undefined ? await linkFor(gateway, secret) : undefined
  terminal.tell({ url: gateway.url, token: secret, link, store: withoutCredentials(url), auth }, () => {
    const { paint } = terminal
    terminal.say(`pawl serves ${withoutCredentials(url)} at ${paint.bold(gateway.url)}`)
    if (secret !== undefined) terminal.say(`The first admin token, shown this once: ${paint.bold(secret)}`)
    else if (auth) terminal.say(paint.dim('It has tokens; make another: pawl token create --scope operator'))
    else terminal.say(paint.yellow('Without tokens: whoever reaches this port may do everything.'))
    if (dashboard) terminal.say(dashboardLine(gateway.url, link))
    for (const line of buses.lines) terminal.say(line)
    terminal.say(paint.dim(`${gateway.url}/openapi.json has every route. Ctrl-C stops it.`))
  })
  await stopped(signal)
}

function rolesOf(options: ServeOptions): ReadonlySet<Role> {
  const { role, policy, kernel, bus } = options
  if (kernel !== undefined && policy === undefined)
    throw new Usage(
      'A safety kernel is asked beside a policy, and none is named.',
      'Name its folder: --policy policies/',
    )
  const roles = new Set(role === undefined ? ROLES : role.map((name) => chosen('role', name, ROLES)))
  if (roles.has('scheduler') && role !== undefined && policy === undefined && bus === undefined)
    throw new Usage(
      'A scheduler judges by a policy or dispatches over a bus, and neither is named.',
      'Name the folder of a policy: --policy policies/, or the bus: --bus nats://…',
    )
  if (bus !== undefined && !roles.has('scheduler') && !roles.has('gateway'))
    throw new Usage('A reconciler has nothing to do with the bus.', 'Leave --bus out, or add --role gateway.')
  if (saysWhen(options) && !roles.has('reconciler'))
    throw new Usage(
      '--keep is for the reconciler, which removes what has ended and is not among the roles.',
      'Add --role reconciler, or leave it out.',
    )
  if (policy !== undefined && !roles.has('scheduler'))
    throw new Usage(
      '--policy is for the scheduler, which is not among the roles.',
      'Add --role scheduler, or leave --policy out.',
    )
  return roles
}

/** A policy that is broken, or not there, is told by its places. */
export async function withPolicy<T>(policy: string | undefined, work: () => Promise<T>): Promise<T> {
  if (policy !== undefined) {
    const { BrokenPolicy, policyIn } = await import('../../policy/folder.ts')
    const { SETTINGS } = await import('../../policy/kept.ts')
    const { faultText } = await import('../../policy/source.ts')
    try {
      if (policy !== SETTINGS) policyIn(policy)
    } catch (error) {
      const places = error instanceof BrokenPolicy ? error.faults.map(faultText).join('\n') : reasonOf(error)
      const meant =
        policy === 'settings' ? `--policy ${SETTINGS} goes by what tenants have set.` : `pawl policy check ${policy}`
      throw new Usage(`${policy} is no policy:\n${places}`, meant)
    }
  }
  return await work()
}

/** Signs in whoever opens it first. */
export async function linkFor({ tokens, url }: Gateway, secret: string): Promise<string | undefined> {
  const { signInLink } = await import('../../gateway/session.ts')
  const token = await tokens.identify(secret)
  return token && (await signInLink(tokens, token, url))
}

const dashboardLine = (url: string, link: string | undefined): string =>
  link === undefined
    ? `The dashboard is at ${url}; sign in with a token.`
    : `The dashboard, signed in (once, within 15 minutes): ${link}`

export const logTo = ({ terminal, clock }: Session, wanted: boolean): Log | undefined =>
  wanted
    ? linesTo(
        (line) => terminal.warn(line.trimEnd()),
        () => clock.now(),
      )
    : undefined

const gathered = (one: string, all: readonly string[] = []): readonly string[] => [...all, one]

async function capsOf(pairs: readonly string[] = []): Promise<Partial<Caps>> {
  const { CAPS } = await import('../../gateway/caps.ts')
  const caps: Partial<Record<keyof Caps, number>> = {}
  for (const pair of pairs) {
    const [name = '', number = ''] = pair.split('=')
    const cap = chosen('cap', name, Object.keys(CAPS) as (keyof Caps)[])
    caps[cap] = countOf(`--cap ${cap}`, number, { min: 1, max: Number.MAX_SAFE_INTEGER })
  }
  return caps
}

/** A store that nobody has a token for would serve nobody. */
export async function firstToken(session: Session, { engine }: Pawl, { tokens }: Gateway): Promise<string | undefined> {
  const { tenant = DEFAULT_TENANT } = session
  const [page] = await engine.settings([{ op: 'list', collection: 'token', after: '', limit: 1 }])
  if ((page?.settings.length ?? 0) > 0) return undefined
  const id = realRandom.hex64()
  await audited(session, engine, tenant, { act: 'token.created', about: id, reason: 'admin first' })
  return (await tokens.create({ id, name: 'first', scope: 'admin', tenant, queues: undefined })).secret
}

export const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
