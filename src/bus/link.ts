/**
 * A connection to NATS, in the account of one tenant. It comes back by itself, for as long as it takes; what it needs of the server (its
 * streams and consumers) is made when it begins and looked after whenever it has come back, since the server may have lost its disk.
 */
import { readFileSync } from 'node:fs'
import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import type { ConnectionOptions, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { reasonOf } from '../core/reason.ts'
import { withoutCredentials } from '../system/credentials.ts'
import type { Log } from '../system/log.ts'
import { type Driver, loadDriver } from './driver.ts'

export interface Link extends AsyncDisposable {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  headers(of: Readonly<Record<string, string>>): MsgHdrs
  /** Has this of the server, now and whenever the connection has come back. */
  demand(name: string, what: Demand): Promise<void>
}

type Demand = (manager: JetStreamManager) => Promise<void>

/** How long is waited for a first connection, and between two tries to come back. */
const CONNECT_WITHIN_MS = 5_000
const AGAIN_MS = 500
/** A server that has been asked twice whether it is there, and is silent, is left. By default that takes minutes, which is longer than a lease. */
const ASKED_EVERY_MS = 5_000
const UNANSWERED_MOST = 2
/** Not answered by then, a question is asked again: nothing is asked of NATS that could not be. */
const ANSWERED_WITHIN_MS = 2_000
const ASKED_MOST = 5

export async function openLink(url: string, log: Log): Promise<Link> {
  const driver = await loadDriver()
  const connection = await connected(url, driver)
  const { jetstream, jetstreamManager } = driver.jetstream
  let manager: JetStreamManager
  try {
    manager = await asked(url, () => jetstreamManager(connection, { timeout: ANSWERED_WITHIN_MS }))
  } catch (error) {
    await connection.close()
    if (error instanceof Unanswered) throw error
    throw new Error(
      `pawl: the NATS at ${withoutCredentials(url)} has no JetStream for this account (${reasonOf(error)}). Start it with -js, or give the account jetstream: enabled.`,
      { cause: error },
    )
  }
  const demands = new Map<string, Demand>()
  const failed = (error: unknown) =>
    log.warn('what the bus needs of NATS could not be made', { reason: reasonOf(error) })
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') log.warn('NATS is away', { bus: withoutCredentials(url) })
      if (type !== 'reconnect') continue
      log.info('NATS is back', { bus: withoutCredentials(url) })
      for (const demand of demands.values()) await asked(url, () => demand(manager)).catch(failed)
    }
  })()
  return {
    connection,
    jetstream: jetstream(connection, { timeout: ANSWERED_WITHIN_MS }),
    manager,
    headers(of) {
      const made = driver.transport.headers()
      for (const [name, value] of Object.entries(of)) made.set(name, value)
      return made
    },
    async demand(name, what) {
      await asked(url, () => what(manager))
      demands.set(name, what)
    },
    async [Symbol.asyncDispose]() {
      demands.clear()
      await connection.close()
    },
  }
}

async function connected(url: string, { transport }: Driver): Promise<NatsConnection> {
  const address = addressIn(url, transport)
  try {
    return await transport.connect({
      ...address,
      name: 'pawl',
      timeout: CONNECT_WITHIN_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: AGAIN_MS,
      pingInterval: ASKED_EVERY_MS,
      maxPingOut: UNANSWERED_MOST,
    })
  } catch (error) {
    throw new Error(
      `pawl: there is no NATS for us at ${withoutCredentials(url)} (${reasonOf(error)}). Is it running, and is the user one of its?`,
      { cause: error },
    )
  }
}

class Unanswered extends Error {}

/** A server that is busy for a moment, with its disk or with others, answers the next time. */
async function asked<T>(url: string, question: () => Promise<T>): Promise<T> {
  for (let times = 1; ; times += 1) {
    try {
      return await question()
    } catch (error) {
      if (!isUnanswered(error)) throw error
      if (times === ASKED_MOST)
        throw new Unanswered(
          `pawl: the NATS at ${withoutCredentials(url)} is there and does not answer: ${times} times ${ANSWERED_WITHIN_MS} ms were waited. Look at its log, its load and its disk.`,
          { cause: error },
        )
    }
  }
}

/** By the name that the client gives it: its class is one of a module that is loaded only where somebody says `nats://`. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isUnanswered(error.cause))
}

/** `nats://user:password@host:4222,other:4222`, `nats://token@host`, `tls://…`; `?creds=file` for accounts with keys. */
export function addressIn(url: string, { credsAuthenticator }: Pick<Driver['transport'], 'credsAuthenticator'>) {
  const match = /^(nats|tls):\/\/(?:([^@/]*)@)?([^/?@]+)\/?(?:\?creds=([^&]+))?$/i.exec(url)
  if (match === null)
    throw new TypeError(
      `pawl: ${withoutCredentials(url)} is no address of a bus; it is nats://user:password@host:4222, or tls://… with ?creds=file where accounts have keys`,
    )
  const [, scheme = '', login, hosts = '', creds] = match
  const [user = '', ...rest] = (login ?? '').split(':')
  const pass = rest.join(':')
  const options: ConnectionOptions = { servers: hosts.split(',') }
  if (scheme.toLowerCase() === 'tls') options.tls = {}
  if (creds !== undefined) options.authenticator = credsAuthenticator(readFileSync(decodeURIComponent(creds)))
  else if (login !== undefined && rest.length === 0) options.token = decodeURIComponent(user)
  else if (login !== undefined)
    Object.assign(options, { user: decodeURIComponent(user), pass: decodeURIComponent(pass) })
  return options
}

/** A stream as it is wanted; one that is there already is brought up to date. */
export async function withStream(
  { streams }: JetStreamManager,
  config: Partial<StreamConfig> & Pick<StreamConfig, 'name'>,
): Promise<void> {
  try {
    await streams.add(config)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== NAME_IN_USE)
      throw new Error(`pawl: NATS does not make the stream ${config.name} (${reasonOf(error)})`, { cause: error })
    // It is there, with other settings: of an older edition, or by an operator's hand where it may differ.
    await streams.update(config.name, config)
  }
}

/** JetStream's code for a stream that is there, with other settings. */
const NAME_IN_USE = 10058
