/** A bus over a store in memory, or of another's, and who speaks to it: nothing but NATS. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import { type BusOptions, openBus } from '../../src/bus/bus.ts'
import { type Announced, squadOf } from '../../src/bus/squad.ts'
import { consumerOf, streamsOf, subjectsOf } from '../../src/bus/subjects.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import { JobTypes } from '../../src/engine/job-types.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'

export const TENANT = 'acme'

/** Both roles of the bus, and everything else as it is, unless told otherwise. */
export const busOver = (pawl: Pawl, url: string, more: Partial<BusOptions> = {}) =>
  openBus({
    url,
    tenant: pawl.tenant,
    engine: pawl.engine,
    roles: new Set(['gateway', 'scheduler']),
    timers: realTimers,
    clock: realClock,
    random: realRandom,
    log: silentLog,
    ...more,
  })

export const openMemory = (more: OpenOptions = {}) => open('memory:', { tenant: TENANT, log: 'silent', ...more })

/** A worker's word on how jobs of a topic are to be judged: document 002's way unless it says another. */
export async function announce(pawl: Pawl, topic: string, policy: PolicyInput): Promise<void> {
  const resolved = resolvePolicy({ dialect: '002', ...policy })
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.violations))
  const kind = { tenant: TENANT, queue: topic, type: topic, policy: resolved.policy }
  await new JobTypes(pawl.engine).announce([kind])
}

/** A folder with one policy in it. */
export function policyFolder(text: string): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'pawl-policy-'))
  writeFileSync(join(path, 'policy.yaml'), text)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export type Dispatch = Record<string, unknown> & { readonly fence: string; readonly job_id: string }

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
    // A server that has fallen silent is left after some seconds, as pawl leaves it.
    const patience = { pingInterval: 2_000, maxPingOut: 2, reconnectTimeWait: 100, maxReconnectAttempts: -1 }
    const connection = await connect({ servers: host, ...patience, ...login })
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

  /** Takes the next dispatch to a pool and begins with it, as a worker does: what it has in hand is confirmed once it may begin. */
  async begun(to: string, worker_id: string): Promise<Dispatch> {
    const { consumers } = jetstream(this.connection)
    const { name } = consumerOf(this.#tenant, squadOf({ pool: to }))
    const message = await eventually('a dispatch', async () => {
      const consumer = await consumers.get(streamsOf(this.#tenant).dispatches, name)
      return (await consumer.next({ expires: 1_000 })) ?? undefined
    })
    const dispatch: Dispatch = message.json()
    const { job_id, fence } = dispatch
    const { ok, code } = await this.ask(this.subjects.start, { job_id, fence, worker_id })
    if (ok !== true) throw new Error(`${job_id} may not be begun: ${code}`)
    await message.ackAck()
    return dispatch
  }

  /** What the next dispatch to a pool, or to those of it who can do so much, says; confirmed, as one that has begun it does. */
  async dispatched(to: string | Announced): Promise<Dispatch> {
    return await eventually('a dispatch', async () => (await this.dispatchesTo(to, 1))[0])
  }

  /** Those that come within a moment, as many as that at most. */
  async dispatchesTo(to: string | Announced, most: number): Promise<readonly Dispatch[]> {
    const squad = squadOf(typeof to === 'string' ? { pool: to } : to)
    const { consumers } = jetstream(this.connection)
    const consumer = await consumers.get(streamsOf(this.#tenant).dispatches, consumerOf(this.#tenant, squad).name)
    const found: Dispatch[] = []
    for await (const message of await consumer.fetch({ max_messages: most, expires: 1_000 })) {
      message.ack()
      found.push(message.json())
    }
    return found
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
export function onBus(
  more: Partial<BusOptions> & Pick<OpenOptions, 'policy'> & { readonly kernel?: () => string } = {},
) {
  const { policy, kernel, ...busMore } = more
  const parts: AsyncDisposable[] = []
  const open = async <T extends AsyncDisposable>(opening: Promise<T>): Promise<T> => {
    const part = await opening
    parts.push(part)
    return part
  }
  const setup = {} as { pawl: Pawl; peer: Peer }
  beforeAll(async () => {
    const nats = await open(startNats())
    setup.pawl = await open(openMemory({ policy, kernel: kernel?.(), log: busMore.log ?? 'silent' }))
    await open(busOver(setup.pawl, nats.url, busMore))
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
