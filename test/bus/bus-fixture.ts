/** A bus over a store in memory, or of another's, and who speaks to it: nothing but NATS. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import { openBus } from '../../src/bus/bus.ts'
import { streamsOf, subjectsOf, tokenOf } from '../../src/bus/subjects.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { type Log, silentLog } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'

export const TENANT = 'acme'

/** Both roles of the bus unless told otherwise. */
export function busOver(pawl: Pawl, url: string, roles = ['gateway', 'scheduler'] as const, log: Log = silentLog) {
  return openBus({
    url,
    tenant: pawl.tenant,
    engine: pawl.engine,
    roles: new Set(roles),
    timers: realTimers,
    clock: realClock,
    random: realRandom,
    log,
  })
}

export const openMemory = () => open('memory:', { tenant: TENANT, log: 'silent' })

/** Somebody on the bus. */
export class Peer implements AsyncDisposable {
  readonly connection: NatsConnection
  readonly subjects: ReturnType<typeof subjectsOf>
  readonly #tenant: string

  constructor(connection: NatsConnection, tenant: string) {
    this.connection = connection
    this.subjects = subjectsOf(tenant)
    this.#tenant = tenant
  }

  static async at(url: string, tenant = TENANT): Promise<Peer> {
    const { host, username, password } = new URL(url)
    const login = username === '' ? {} : { user: username, pass: password }
    const connection = await connect({ servers: host, maxReconnectAttempts: -1, reconnectTimeWait: 100, ...login })
    return new Peer(connection, tenant)
  }

  /** Published, and kept by NATS. */
  async keep(subject: string, message: unknown): Promise<void> {
    await jetstream(this.connection).publish(subject, textOf(message))
  }

  submit(request: { readonly topic: string; readonly [member: string]: unknown }): Promise<void> {
    return this.keep(this.subjects.submit(request.topic), request)
  }

  async ask(subject: string, message: unknown): Promise<Record<string, unknown>> {
    return (await this.connection.request(subject, textOf(message), { timeout: 5_000 })).json()
  }

  /** What the next dispatch to a pool says; confirmed, as one that has begun it does. */
  async dispatched(
    pool: string,
  ): Promise<Record<string, unknown> & { readonly fence: string; readonly job_id: string }> {
    return await eventually('a dispatch', async () => {
      const consumer = await jetstream(this.connection).consumers.get(streamsOf(this.#tenant).dispatches, tokenOf(pool))
      const message = await consumer.next({ expires: 1_000 })
      message?.ack()
      return message?.json()
    })
  }

  /** The messages that a stream of what pawl tells has under a subject. */
  async told(subject: string): Promise<readonly Record<string, unknown>[]> {
    const manager = await jetstreamManager(this.connection)
    const { events } = streamsOf(this.#tenant)
    const { state } = await manager.streams.info(events)
    const found: Record<string, unknown>[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(events, { seq })
      if (message?.subject === subject) found.push(message.json())
    }
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close()
  }
}

/** A bus for the tests of one group, and one who speaks to it. */
export function onBus() {
  const parts: AsyncDisposable[] = []
  const open = async <T extends AsyncDisposable>(opening: Promise<T>): Promise<T> => {
    const part = await opening
    parts.push(part)
    return part
  }
  const setup = {} as { pawl: Pawl; peer: Peer }
  beforeAll(async () => {
    const nats = await open(startNats())
    setup.pawl = await open(openMemory())
    await open(busOver(setup.pawl, nats.url))
    setup.peer = await open(Peer.at(nats.url))
  })
  afterAll(async () => {
    for (const part of parts.reverse()) await part[Symbol.asyncDispose]()
  })
  const there = (id: string) => eventually(`job ${id}`, () => setup.pawl.get(id))
  const refusals = () => setup.peer.told(setup.peer.subjects.refused)
  const refused = (id: string) =>
    eventually('a refusal', async () => (await refusals()).find(({ job_id }) => job_id === id))
  const beat = (pool: string, more: object = {}) =>
    setup.peer.ask(setup.peer.subjects.heartbeat, { worker_id: 'w1', pool, free: 1, ...more })
  return { setup, there, refusals, refused, beat }
}

const textOf = (message: unknown): string => (typeof message === 'string' ? message : JSON.stringify(message))
