/** `pawl token …`: who may ask a gateway for what. The secret is shown once. */
import type { Command } from 'commander'
import { DEFAULT_TENANT } from '../../core/job.ts'
import { INSTALLATION } from '../../engine/audit.ts'
import type { Scope } from '../../gateway/contract/route.ts'
import { toWire } from '../../gateway/contract/wire.ts'
import { type Token, Tokens } from '../../gateway/token.ts'
import { realRandom } from '../../system/random.ts'
import { durationOf } from '../arguments.ts'
import { audited } from '../audited.ts'
import { chosen, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Missing } from '../exit.ts'
import type { Context } from '../program.ts'
import { asked, askedAll, isGateway, type Session, withExisting, withPawl } from '../session.ts'

interface Options {
  readonly scope: string
  readonly name?: string
  readonly queue?: string
  readonly expiresIn?: string
}

type TokenOverHttp = {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly tenant: string
  readonly queues?: readonly string[]
  readonly createdAt: string
  readonly expiresAt?: string
  readonly revokedAt?: string
}

/** Known here without loading the schemas that know them, too: a scope that is missing does not compile. */
const SCOPES = Object.keys({
  producer: 1,
  worker: 1,
  operator: 1,
  viewer: 1,
  admin: 1,
  auditor: 1,
  metrics: 1,
} satisfies Record<Scope, 1>) as readonly Scope[]

export function token(parent: Command, { session }: Context): void {
  const group = parent.command('token').description('who may ask a gateway for what')
  const create = group
    .command('create')
    .description('a new token; its secret is printed once')
    .requiredOption('--scope <scope>', SCOPES.join(', '))
    .option('--name <name>', 'whose it is; shown as the actor of what it does')
    .option('-q, --queue <queues>', 'for workers: the only queues they may touch')
    .option('--expires-in <duration>', 'good for this long: 12h, 30d')
    .action((options: Options) => make(session(), options))
  examples(
    create,
    'pawl token create --scope worker --queue mail --name mailer',
    'export PAWL_TOKEN=$(pawl token create --scope operator --quiet)',
  )
  group
    .command('ls')
    .alias('list')
    .description('tokens, without their secrets')
    .action(() => list(session()))
  group
    .command('revoke <token>')
    .description('it stops working within seconds')
    .action((id: string) => revoke(session(), id))
}

async function make(session: Session, options: Options): Promise<void> {
  const { terminal, tenant = DEFAULT_TENANT } = session
  const scope = chosen('scope', options.scope, SCOPES)
  const queues = listOf(options.queue)
  const name = options.name ?? scope
  const expiresInMs = options.expiresIn === undefined ? undefined : durationOf('--expires-in', options.expiresIn)
  const made = isGateway(session.url)
    ? ((await asked(session, 'POST', '/v1/tokens', {
        name,
        scope,
        queues,
        expiresIn: options.expiresIn,
      })) as TokenOverHttp & { readonly secret: string })
    : await withPawl(session, async (pawl) => {
        const id = realRandom.hex64()
        // Metrics are of all tenants, so their token is nobody's in particular.
        const whose = scope === 'metrics' ? INSTALLATION : tenant
        await audited(session, pawl.engine, whose, { act: 'token.created', about: id, reason: `${scope} ${name}` })
        const { token, secret } = await new Tokens(pawl.engine, session.clock, realRandom).create({
          id,
          name,
          scope,
          tenant: whose,
          queues,
          expiresInMs,
        })
        return { ...wire(token), secret }
      })
  terminal.tell(made, () => {
    terminal.say(terminal.paint.dim(`${made.scope} token ${made.id}; this is the only time its secret is shown:`))
    terminal.print(`${made.secret}\n`)
  })
}

async function list(session: Session): Promise<void> {
  const { terminal, tenant = DEFAULT_TENANT } = session
  const tokens = isGateway(session.url)
    ? await askedAll<TokenOverHttp>(session, '/v1/tokens', 'tokens')
    : await withExisting(session, async (pawl) => {
        const all = new Tokens(pawl.engine, session.clock, realRandom)
        return [...(await all.list(tenant)), ...(await all.list(INSTALLATION))].map(wire)
      })
  terminal.tell({ tokens }, () => {
    if (tokens.length === 0) return terminal.say('There are no tokens. Make one: pawl token create --scope admin')
    terminal.table(
      ['ID', 'NAME', 'SCOPE', 'QUEUES', 'CREATED', 'EXPIRES', 'REVOKED'],
      tokens.map(({ id, name, scope, queues, createdAt, expiresAt, revokedAt }) => [
        id,
        name,
        scope,
        queues?.join(','),
        createdAt,
        expiresAt,
        revokedAt,
      ]),
    )
  })
}

async function revoke(session: Session, id: string): Promise<void> {
  const { terminal, tenant = DEFAULT_TENANT } = session
  const revoked = isGateway(session.url)
    ? ((await asked(session, 'DELETE', `/v1/tokens/${encodeURIComponent(id)}`)) as TokenOverHttp)
    : await withExisting(session, async (pawl) => {
        const tokens = new Tokens(pawl.engine, session.clock, realRandom)
        const found = (await tokens.find(id, tenant)) ?? (await tokens.find(id, INSTALLATION))
        if (found === undefined) return undefined
        await audited(session, pawl.engine, found.tenant, { act: 'token.revoked', about: id })
        const gone = await tokens.revoke(id, found.tenant)
        return gone && wire(gone)
      })
  if (revoked === undefined) throw new Missing(`There is no token ${id}.`, 'pawl token ls')
  terminal.tell(revoked, () => terminal.say(`Token ${revoked.id} is revoked; every gateway knows within seconds.`))
}

const wire = ({ id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt }: Token): TokenOverHttp =>
  toWire({ id, name, scope, tenant, queues, createdAt, expiresAt, revokedAt }) as TokenOverHttp
