/**
 * A platform in small: two processes' worth of gateway, scheduler and reconciler over one store, workers that keep to the protocol of the bus
 * and do nothing else, and one who submits. What the workers were let begin is written down; what the store says of it is held against that.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type NatsConnection } from '@nats-io/transport-node'
import { expect } from 'vitest'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { busOver, type Dispatch, Peer, policyFolder, TENANT } from './bus-fixture.ts'

export interface FlowOptions {
  /** Who is gateway, scheduler and reconciler over this store, by this policy. */
  readonly platform: Platform
  /** Where that store is; a file of its own, unless given. */
  readonly store?: string | undefined
  /** Where workers and submitter have their bus. */
  readonly outside: string
  readonly jobs: number
  readonly workers: number
}

export type Platform = (store: string, policy: string) => Promise<AsyncDisposable>

/** Two of everything in this process, each with its own way to the bus. */
export const twoAt =
  (...buses: readonly [string, string]): Platform =>
  async (store, policy) => {
    const stack = new AsyncDisposableStack()
    for (const url of buses) {
      const pawl = stack.use(await open(store, { tenant: TENANT, log: 'silent', policy }))
      stack.use(await busOver(pawl, url))
    }
    return stack
  }

export interface Flow extends AsyncDisposable {
  /** Submits all of them, or a share, and says again what fails to be kept until it is. */
  submit(first?: number, end?: number): Promise<void>
  /** Whether the bus takes what is submitted: a job that was before, which is no other. */
  takes(): Promise<boolean>
  /** How many have ended. */
  ended(): Promise<number>
  /** All have ended as they should, and nothing was done twice, by the account of the workers and by that of the store. */
  settled(withinMs: number): Promise<void>
}

const POOLS = 4
const PATIENCE_MS = 1_000

export async function openFlow({ platform, store, outside, jobs, workers }: FlowOptions): Promise<Flow> {
  const stack = new AsyncDisposableStack()
  const home = mkdtempSync(join(tmpdir(), 'pawl-flow-'))
  stack.defer(() => rmSync(home, { recursive: true, force: true }))
  const policy = stack.use(policyFolder('rules:\n  - { id: all, decision: allow }\n')).path
  const where = store ?? join(home, 'jobs.db')
  stack.use(await platform(where, policy))
  const pawl = stack.use(await open(where, { tenant: TENANT, log: 'silent', ticker: false, retention: false }))
  const peer = stack.use(await Peer.at(outside))
  /** Who was let begin what, by job and fence, as often as it was. */
  const begun = new Map<string, string[]>()
  const stopping = new AbortController()
  const working = Array.from({ length: workers }, (_, n) => {
    const worker = new FlowWorker(peer, `job.pool${n % POOLS}`, `w${n}`, begun)
    return worker.untilStopped(stopping.signal)
  })
  stack.defer(async () => {
    stopping.abort()
    await Promise.all(working)
  })
  const topic = (n: number) => `job.pool${n % POOLS}`
  const succeeded = async () => (await tallied(pawl)).get('succeeded') ?? 0
  return {
    async submit(first = 0, end = jobs) {
      for (let from = first; from < end; from += 100) {
        const some = Array.from({ length: Math.min(100, end - from) }, (_, i) => from + i)
        await Promise.all(
          some.map((n) =>
            insisted(peer.connection, peer.subjects.submit(topic(n)), { job_id: `j${n}`, topic: topic(n) }),
          ),
        )
      }
    },
    async takes() {
      const again = JSON.stringify({ job_id: 'j0', topic: topic(0) })
      const answer = await peer.connection
        .request(peer.subjects.submit(topic(0)), again, { timeout: PATIENCE_MS })
        .catch(() => undefined)
      return answer !== undefined && answer.json<Readonly<Record<string, unknown>>>()['error'] === undefined
    },
    ended: succeeded,
    async settled(withinMs) {
      await eventually(`${jobs} jobs have succeeded`, async () => (await succeeded()) === jobs, {
        withinMs,
        everyMs: 200,
      })
      for (const [what, by] of begun) expect([what, ...by], 'one worker has begun it').toHaveLength(2)
      expect(begun.size, 'each was begun once').toBe(jobs)
      // A dispatch that never came out is what its document makes of it: its lease is lost, which is TIMEOUT, and its successor does it.
      const { succeeded: done, timed_out: late = 0, ...others } = Object.fromEntries(await tallied(pawl))
      expect({ done, others }).toEqual({ done: jobs, others: {} })
      const counts = await eventCounts(pawl)
      const expected = {
        enqueued: jobs + late,
        admitted: jobs + late,
        claimed: jobs + late,
        started: jobs,
        succeeded: jobs,
      }
      expect(counts).toEqual(late === 0 ? expected : { ...expected, stalled: late, timed_out: late })
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function tallied({ engine }: Pawl): Promise<ReadonlyMap<string, number>> {
  const { tally } = await engine.events({ by: 'tally' })
  const counts = new Map<string, number>()
  for (const { tenant, state, count } of tally)
    if (tenant === TENANT) counts.set(state, (counts.get(state) ?? 0) + count)
  return counts
}

/** What happened, all in all, by the logs of all jobs; heartbeats of a long wait apart. */
async function eventCounts(pawl: Pawl): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (let cursor: string | undefined; ; ) {
    const page = await pawl.find({ limit: 500, cursor })
    for (const { id } of page.jobs)
      for (const { type } of await pawl.events(id)) if (type !== 'heartbeat') counts[type] = (counts[type] ?? 0) + 1
    if (page.cursor === undefined) return counts
    cursor = page.cursor
  }
}

class FlowWorker {
  readonly #peer: Peer
  readonly #pool: string
  readonly #id: string
  readonly #begun: Map<string, string[]>

  constructor(peer: Peer, pool: string, id: string, begun: Map<string, string[]>) {
    this.#peer = peer
    this.#pool = pool
    this.#id = id
    this.#begun = begun
  }

  async untilStopped(signal: AbortSignal): Promise<void> {
    const { connection, subjects } = this.#peer
    const call = (subject: string, message: object) => insisted(connection, subject, message, signal)
    while (!signal.aborted) {
      const place = await call(subjects.heartbeat, { worker_id: this.#id, pool: this.#pool, free: 1 })
      if (place === undefined) return
      const taken = await next(connection, String(place['take']))
      if (taken === undefined) continue
      const { job_id, fence } = taken.dispatch
      const own = { job_id, fence, worker_id: this.#id }
      const name = `${job_id}/${fence}`
      const before = this.#begun.get(name) ?? []
      // Its confirmation was lost.
      const isKnown = before.includes(this.#id)
      const started = isKnown ? undefined : await call(subjects.start, own)
      taken.confirm()
      if (started?.['ok'] !== true) continue
      this.#begun.set(name, [...before, this.#id])
      await call(subjects.result, { ...own, status: 'SUCCEEDED', result_ptr: `mem://${job_id}`, execution_ms: 1 })
    }
  }
}

/** Asked again until it is answered, and not by an error; undefined where it was stopped before. */
async function insisted(
  connection: NatsConnection,
  subject: string,
  message: object,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  while (signal?.aborted !== true) {
    try {
      const answer = await connection.request(subject, JSON.stringify(message), { timeout: PATIENCE_MS })
      const told = answer.json<Readonly<Record<string, unknown>>>()
      if (told['error'] === undefined) return told
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return undefined
}

/** The next dispatch; undefined where none came within a moment. */
async function next(connection: NatsConnection, subject: string) {
  const reply = createInbox()
  const coming = connection.subscribe(reply, { max: 1, timeout: 2 * PATIENCE_MS })
  try {
    connection.publish(subject, JSON.stringify({ batch: 1, expires: PATIENCE_MS * 1e6 }), { reply })
    for await (const message of coming) {
      if (message.data.length === 0) return undefined
      const dispatch = message.json<Dispatch>()
      return { dispatch, confirm: () => void message.respond('+ACK') }
    }
  } catch {
    // Silent: asked again, it comes.
  }
  return undefined
}
