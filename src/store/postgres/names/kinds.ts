/**
 * Kinds and queues as the small numbers the database knows them by, both ways, each asked for once. A kind is immutable
 * and content-addressed, so nothing here ever has to be forgotten; unless the database itself forgets, as a standby may
 * have that took the place of its primary before it had heard the last of it.
 */
import { createHash } from 'node:crypto'
import { assert } from '../../../core/assert.ts'
import type { Job, Kind } from '../../../core/job.ts'
import type { Policy } from '../../../core/policy.ts'
import { leaseWindowMs } from '../../../core/timers.ts'
import { laneNumber } from '../../codec/lane.ts'
import { original, storable } from '../../codec/text.ts'
import type { Lane } from '../../store.ts'
import type { Row } from '../connection/client.ts'
import type { Statements } from '../connection/statements.ts'
import { PostgresRewound } from '../connection/trouble.ts'

export interface NumberedKind {
  readonly id: number
  readonly queue: number
  readonly windowMs: number
  readonly kind: Kind
}

const NONE = { kind: undefined, numbered: undefined }

export type Run = (text: string, values: unknown[]) => Promise<Row[]>

export class Kinds {
  readonly #run: Run
  readonly #statements: Statements
  #byKind = new WeakMap<Kind, NumberedKind>()
  /** By policy, then by name: callers that make a new `Kind` for each job mostly share its policy. */
  #byPolicy = new WeakMap<Policy, Map<string, NumberedKind>>()
  /** The last hit of `#byKind`: jobs that come together mostly share their kind. */
  #last: { readonly kind: Kind | undefined; readonly numbered: NumberedKind | undefined } = NONE
  readonly #byHash = new Map<string, Promise<NumberedKind>>()
  readonly #byId = new Map<number, NumberedKind>()
  readonly #queues = new Map<string, Numbered>()
  #ofLane = new WeakMap<Lane, number>()
  /** The database has lost some that it had. */
  #isRewound = false

  constructor(run: Run, statements: Statements) {
    this.#run = run
    this.#statements = statements
  }

  /** The number, where it is known already. */
  known(kind: Kind): NumberedKind | undefined {
    if (kind === this.#last.kind) return this.#last.numbered
    const numbered = this.#byKind.get(kind)
    if (numbered !== undefined) this.#last = { kind, numbered }
    return numbered
  }

  /** A kind that has been interned; throws where it has not. */
  of(kind: Kind): NumberedKind {
    const numbered = this.known(kind)
    // The call waited for its turn while the database turned out to have lost kinds: its kind was interned, and is not any more.
    if (numbered === undefined && this.#isRewound) throw new PostgresRewound()
    assert(numbered !== undefined, 'a kind is interned before it is used')
    return numbered
  }

  async intern(kind: Kind): Promise<NumberedKind> {
    const name = JSON.stringify([kind.tenant, kind.queue, kind.type])
    const known = this.#byKind.get(kind) ?? this.#byPolicy.get(kind.policy)?.get(name)
    if (known !== undefined) {
      this.#byKind.set(kind, known)
      return known
    }
    const policy = policyText(kind.policy)
    const hash = hashOf([kind.tenant, kind.queue, kind.type, policy])
    let asked = this.#byHash.get(hash)
    if (asked === undefined) {
      asked = this.#ask(kind, hash, policy)
      this.#byHash.set(hash, asked)
      asked.catch(() => this.#byHash.delete(hash))
    }
    const numbered = await asked
    this.#byKind.set(kind, numbered)
    const siblings = this.#byPolicy.get(kind.policy) ?? new Map<string, NumberedKind>()
    this.#byPolicy.set(kind.policy, siblings.set(name, numbered))
    return numbered
  }

  /** Kinds by their numbers. Every id must be loaded before `byId` is asked for it. */
  async ensure(ids: Iterable<number>): Promise<void> {
    const missing = new Set<number>()
    for (const id of ids) if (!this.#byId.has(id)) missing.add(id)
    if (missing.size === 0) return
    const rows = await this.#run(this.#statements.kinds, [`{${[...missing].join()}}`])
    for (const row of rows) this.#learn(row)
  }

  byId(id: number): NumberedKind {
    const numbered = this.#byId.get(id)
    assert(numbered !== undefined, `kind ${id} is known`)
    return numbered
  }

  /** Whether there are numbers for its kind, and for the side where it stands. */
  knows(job: Job): boolean {
    if (this.known(job.spec.kind) === undefined) return false
    return job.needs === undefined || this.queue(sideOf(job)) !== undefined
  }

  async internFor(job: Job): Promise<void> {
    await this.intern(job.spec.kind)
    if (job.needs !== undefined) await this.internQueues([sideOf(job)])
  }

  /** The number of a queue, or of its side lane for jobs that need something; undefined where it has not been interned. */
  queue(side: QueueSide): number | undefined {
    return this.#queues.get(nameOfSide(side))?.id
  }

  /** As `queue`, of a lane that a claim names: a worker names the same ones with each claim, up to a thousand of them. */
  ofLane(lane: Lane): number | undefined {
    const known = this.#ofLane.get(lane)
    if (known !== undefined) return known
    const queue = this.queue(lane)
    if (queue !== undefined) this.#ofLane.set(lane, queue)
    return queue
  }

  /** The lane of a job whose queue, or side lane, has been interned. */
  lane(job: Job): number {
    const queue = isAside(job) ? this.queue(sideOf(job)) : this.of(job.spec.kind).queue
    assert(queue !== undefined, 'a side is interned before it is used')
    return laneNumber(queue, job.priority)
  }

  /** Learns a side lane that another process has made. */
  knowSide(side: QueueSide, id: number): void {
    this.#queues.set(nameOfSide(side), { id, row: sideRow(side) })
  }

  async internQueues(queues: Iterable<QueueSide>): Promise<void> {
    const names = new Map<string, QueueRow>()
    for (const side of queues) {
      const name = nameOfSide(side)
      if (!this.#queues.has(name)) names.set(name, sideRow(side))
    }
    if (names.size === 0) return
    const ids = await this.#numbersOf([...names.values()], this.#run)
    for (const [i, [name, row]] of [...names].entries()) this.#queues.set(name, { id: ids[i] as number, row })
  }

  /** Whether the database still has all of it. Where it has not, nothing is known any more, and is asked for again. */
  async areThere(run: Run): Promise<boolean> {
    const kinds = [...this.#byId.values()]
    const queues = [...this.#queues.values()]
    const rows = await run(this.#statements.kinds, [`{${kinds.map(({ id }) => id).join()}}`])
    const there = new Map(rows.map((row) => [Number(row[0]), kindText(kindFrom(row))]))
    const numbers = await this.#numbersOf(
      queues.map(({ row }) => row),
      run,
    )
    const same =
      kinds.every(({ id, kind }) => there.get(id) === kindText(kind)) && queues.every(({ id }, i) => numbers[i] === id)
    if (same) return true
    this.#isRewound = true
    this.#byKind = new WeakMap()
    this.#byPolicy = new WeakMap()
    this.#ofLane = new WeakMap()
    this.#last = NONE
    for (const known of [this.#byHash, this.#byId, this.#queues]) known.clear()
    return false
  }

  async #numbersOf(queues: readonly QueueRow[], run: Run): Promise<readonly number[]> {
    if (queues.length === 0) return []
    const [row] = await run(this.#statements.internQueues, [JSON.stringify(queues)])
    return JSON.parse(String(row?.[0])) as number[]
  }

  async #ask(kind: Kind, hash: string, policy: string): Promise<NumberedKind> {
    await this.internQueues([{ tenant: kind.tenant, queue: kind.queue }])
    const queue = this.queue({ tenant: kind.tenant, queue: kind.queue })
    const windowMs = leaseWindowMs(kind.policy)
    const [row] = await this.#run(this.#statements.internKind, [hash, queue, storable(kind.type), windowMs, policy])
    assert(row !== undefined && queue !== undefined, 'a kind is interned')
    const numbered = { id: Number(row[0]), queue, windowMs, kind }
    this.#byId.set(numbered.id, numbered)
    return numbered
  }

  #learn(row: Row): void {
    const [id, , , queueId] = row
    const kind = kindFrom(row)
    const numbered = { id: Number(id), queue: Number(queueId), windowMs: leaseWindowMs(kind.policy), kind }
    this.#byId.set(numbered.id, numbered)
    this.#byKind.set(kind, numbered)
    const { tenant, queue } = kind
    this.#queues.set(nameOfSide({ tenant, queue }), { id: numbered.queue, row: queueRow(tenant, queue) })
  }
}

const kindFrom = ([, tenant, queue, , type, policy]: Row): Kind => ({
  tenant: original(String(tenant)),
  queue: original(String(queue)),
  type: original(String(type)),
  policy: policyFrom(String(policy)),
})

const kindText = ({ tenant, queue, type, policy }: Kind): string =>
  JSON.stringify([tenant, queue, type, policyText(policy)])

/** A queue, or its side where jobs stand that need something. */
export interface QueueSide {
  readonly tenant: string
  readonly queue: string
  readonly needs?: string | undefined
}

/** Whether its lane is another than that of the queue it was enqueued to: it needs something, or was sent elsewhere. */
export const isAside = ({ needs, recast }: Job): boolean => needs !== undefined || recast?.redirect !== undefined

export const sideOf = ({ spec: { kind }, needs }: Job): QueueSide => ({ tenant: kind.tenant, queue: kind.queue, needs })

/** A queue or side lane as `intern_queues` takes it: hash, tenant, queue, what it needs, hash of the main queue. */
interface QueueRow {
  readonly h: string
  readonly t: string
  readonly q: string
  readonly n?: string
  readonly m?: string
}

interface Numbered {
  readonly id: number
  readonly row: QueueRow
}

export const queueRow = (tenant: string, queue: string): QueueRow => ({
  h: hashOf([tenant, queue]),
  t: storable(tenant),
  q: storable(queue),
})

function sideRow({ tenant, queue, needs }: QueueSide): QueueRow {
  const main = queueRow(tenant, queue)
  return needs === undefined ? main : { ...main, h: hashOf([tenant, queue, needs]), n: storable(needs), m: main.h }
}

const hashOf = (names: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('base64url')

/** One text for equal sides. */
export const nameOfSide = ({ tenant, queue, needs }: QueueSide): string =>
  needs === undefined ? `${tenant.length}:${tenant}${queue}` : JSON.stringify([tenant, queue, needs])

/** Keys sorted, so that equal policies are equal texts in every process; absent fields are null. */
const policyText = (policy: Policy): string =>
  JSON.stringify(
    Object.keys(policy)
      .sort()
      .map((key) => [key, Reflect.get(policy, key) ?? null]),
  )

function policyFrom(text: string): Policy {
  const entries = JSON.parse(text) as [string, unknown][]
  return Object.fromEntries(entries.map(([key, value]) => [key, value ?? undefined])) as object as Policy
}
