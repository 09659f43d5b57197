/** What every command works with: where the jobs are, how to speak, and when to stop. */
import { existsSync } from 'node:fs'
import { Http } from '../client/http.ts'
import { GatewayRefused, refusalOf } from '../client/refused.ts'
import type { Job } from '../core/job.ts'
import { refuse } from '../core/refuse.ts'
import type { BodyCodec } from '../engine/body-codec.ts'
import type { Wire } from '../gateway/contract/wire.ts'
import { dashboardAt } from '../library/dashboard-link.ts'
import { Refused } from '../library/errors.ts'
import type { Pawl } from '../library/pawl.ts'
import { DEFAULT_URL, type OpenOptions, open } from '../open.ts'
import { LEDGER } from '../store/postgres/ledger/blueprint.ts'
import type { Blueprint } from '../store/postgres/schema/blueprint.ts'
import { STORE } from '../store/postgres/schema/store.ts'
import { ledgerIn } from '../store/redis/connection/address.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { withoutCredentials } from '../system/credentials.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { Missing, Usage } from './exit.ts'
import { codecFrom } from './keys.ts'
import { secretFrom, unlessEmpty } from './secrets.ts'
import type { Terminal } from './terminal.ts'

export interface Session {
  readonly terminal: Terminal
  /** By `--url` or `--url-file` on this very line. What makes a store of its own minds nothing else: PAWL_URL may be production. */
  readonly named: string | undefined
  readonly url: string
  readonly token: string | undefined
  /** For those who read and write what is encrypted; not for those who carry it as it is. */
  readonly codec: BodyCodec | undefined
  readonly tenant: string | undefined
  readonly schema: string | undefined
  readonly directUrl: string | undefined
  /** Where people see these jobs in a browser, as somebody has said. */
  readonly dashboardUrl: string | undefined
  readonly actor: string
  readonly yes: boolean
  /** Aborts when somebody wants us to stop. */
  readonly signal: AbortSignal
  readonly timers: Timers
  readonly clock: Clock
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

export interface Flags {
  readonly url?: string
  readonly urlFile?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly keysFile?: string
  readonly tenant?: string
  readonly schema?: string
  readonly directUrl?: string
  readonly dashboardUrl?: string
  readonly yes?: boolean
}

/** Flags come first, then the environment, then the file in this folder. */
export function sessionOf(terminal: Terminal, flags: Flags, { env, signal }: Surroundings): Session {
  const asked = secretFrom('--url', { flag: flags.url, file: flags.urlFile, variable: 'PAWL_URL' }, env)
  const keysFile = flags.keysFile ?? unlessEmpty(env['PAWL_KEYS_FILE'])
  return {
    terminal,
    named: (flags.url ?? flags.urlFile) === undefined ? undefined : asked,
    url: asked ?? DEFAULT_URL,
    token: secretFrom('--token', { flag: flags.token, file: flags.tokenFile, variable: 'PAWL_TOKEN' }, env),
    codec: keysFile === undefined ? undefined : codecFrom(keysFile),
    tenant: flags.tenant ?? unlessEmpty(env['PAWL_TENANT']),
    schema: flags.schema ?? unlessEmpty(env['PAWL_SCHEMA']),
    directUrl: secretFrom('--direct-url', { flag: flags.directUrl, file: undefined, variable: 'PAWL_DIRECT_URL' }, env),
    dashboardUrl: dashboardFrom(flags.dashboardUrl ?? unlessEmpty(env['PAWL_DASHBOARD_URL'])),
    actor: `cli:${env['USER'] ?? env['USERNAME'] ?? 'somebody'}`,
    yes: flags.yes === true,
    signal,
    timers: realTimers,
    clock: realClock,
  }
}

function dashboardFrom(url: string | undefined): string | undefined {
  try {
    return url === undefined ? undefined : dashboardAt(url)
  } catch {
    throw new Usage(
      '--dashboard-url, or PAWL_DASHBOARD_URL, is no address that a browser could open.',
      'Give the one people have: https://ops.example/jobs',
    )
  }
}

export const isGateway = (url: string): boolean => /^https?:/i.test(url)
export const isPostgres = (url: string): boolean => /^postgres(ql)?:/i.test(url)
export const isFile = (url: string): boolean => !/^[a-z][a-z0-9+.-]+:/i.test(url)

/** The database that these jobs need a schema in: the store's own, or the ledger's behind a Redis. */
export function databaseOf({
  url,
  directUrl,
}: Session): { readonly url: string; readonly blueprint: Blueprint } | undefined {
  const ledger = ledgerIn(url)
  if (ledger !== undefined) return { url: ledger, blueprint: LEDGER }
  const direct = directUrl ?? url
  return isPostgres(direct) ? { url: direct, blueprint: STORE } : undefined
}

/** For who hands on what is encrypted as it is, and must not be able to read it. */
export const withoutKeys = (session: Session): Session => ({ ...session, codec: undefined })

/** Opens the store or gateway for the time of one command. The command line runs no services unless it is told to. */
export async function withPawl<T>(
  session: Session,
  work: (pawl: Pawl) => Promise<T>,
  options: OpenOptions = {},
): Promise<T> {
  await using pawl = await opened(session, options)
  return await work(pawl)
}

export async function opened(session: Session, options: OpenOptions = {}): Promise<Pawl> {
  const { url, token, tenant, schema, directUrl, dashboardUrl, actor, codec } = session
  const asked = { token, tenant, schema, directUrl, dashboardUrl, actor, codec }
  const quiet = { ticker: false, retention: false, log: 'silent' } as const
  return await open(url, { ...quiet, ...asked, ...options })
}

/** For whoever only looks: a store that is not there is not made. */
export async function withExisting<T>(
  session: Session,
  work: (pawl: Pawl) => Promise<T>,
  options: OpenOptions = {},
): Promise<T> {
  const { url } = session
  if (isFile(url) && !existsSync(url)) {
    throw new Missing(
      `There is no store at ${withoutCredentials(url)}.`,
      'Name one with --url or PAWL_URL, or make one: pawl enqueue, pawl serve, pawl work.',
    )
  }
  return await withPawl(session, work, options)
}

/** What reads a store through and through cannot do so from the other end of HTTP. */
export function needsStore(session: Session, verb: string): void {
  if (isGateway(session.url)) {
    throw new Usage(
      `pawl ${verb} reads the store itself; ${withoutCredentials(session.url)} is a gateway.`,
      session.named === undefined
        ? 'PAWL_URL says so: give --url the file or the postgres:// address, or unset PAWL_URL.'
        : 'Give --url the file or the postgres:// address.',
    )
  }
}

/** A route of the gateway for which the engine interface has no word. */
export async function asked(session: Session, method: string, path: string, body?: object): Promise<Wire> {
  const { url, token, timers, clock } = session
  const http = new Http({ url, token, timers, clock })
  const text = body === undefined ? undefined : JSON.stringify(body)
  const { status, body: told } = await http.request(method, path, text).finally(() => http.close())
  if (status >= 400) throw new GatewayRefused(status, refusalOf(told as Wire))
  return told as Wire
}

/** All of a list that the gateway tells page by page. */
export async function askedAll<T>(session: Session, path: string, member: string): Promise<readonly T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page = await asked(session, 'GET', cursor === undefined ? path : `${path}?${new URLSearchParams({ cursor })}`)
    all.push(...(page[member] as readonly T[]))
    cursor = page['cursor'] as string | undefined
  } while (cursor !== undefined)
  return all
}

export async function found(pawl: Pawl, id: string): Promise<Job> {
  const job = await pawl.get(id)
  if (job === undefined) throw new Refused(refuse('NOT_FOUND', { jobId: id, message: `There is no job ${id}.` }))
  return job
}
