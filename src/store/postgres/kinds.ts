/**
 * Kinds and queues as the small numbers the database knows them by, both ways, each asked for once. A kind is immutable
 * and content-addressed, so nothing here ever has to be forgotten.
 */
import { createHash } from 'node:crypto'
import { assert } from '../../core/assert.ts'
import type { Kind } from '../../core/job.ts'
import type { Policy } from '../../core/policy.ts'
import { leaseWindowMs } from '../../core/timers.ts'
import { original, storable } from '../codec/text.ts'
import type { Row } from './connection.ts'
import type { Statements } from './statements.ts'

export interface Interned {
  readonly id: number
  readonly queue: number
  readonly windowMs: number
  readonly kind: Kind
}

export type Run = (text: string, values: unknown[]) => Promise<Row[]>

export class Kinds {
  readonly #run: Run
  readonly #statements: Statements
  readonly #byKind = new WeakMap<Kind, Interned>()
  /** Whoever makes a new object of the same words for each job mostly shares the policy. */
  readonly #byPolicy = new WeakMap<Policy, Map<string, Interned>>()
  readonly #byHash = new Map<string, Promise<Interned>>()
  readonly #byId = new Map<number, Interned>()
  readonly #queues = new Map<string, number>()

  constructor(run: Run, statements: Statements) {
    this.#run = run
    this.#statements = statements
  }

  /** The number, where it is known already. */
  known(kind: Kind): Interned | undefined {
    return this.#byKind.get(kind)
  }

  /** The number of a kind that has been interned. */
  of(kind: Kind): Interned {
    const interned = this.#byKind.get(kind)
    assert(interned !== undefined, 'a kind is interned before it is used')
    return interned
  }

  async intern(kind: Kind): Promise<Interned> {
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
    const interned = await asked
    this.#byKind.set(kind, interned)
    const siblings = this.#byPolicy.get(kind.policy) ?? new Map<string, Interned>()
    this.#byPolicy.set(kind.policy, siblings.set(name, interned))
    return interned
  }

  /** Kinds by their numbers. Every id must be loaded before `byId` is asked for it. */
  async ensure(ids: Iterable<number>): Promise<void> {
    const missing = new Set<number>()
    for (const id of ids) if (!this.#byId.has(id)) missing.add(id)
    if (missing.size === 0) return
    const rows = await this.#run(this.#statements.kinds, [`{${[...missing].join()}}`])
    for (const row of rows) this.#learn(row)
  }

  byId(id: number): Interned {
    const interned = this.#byId.get(id)
    assert(interned !== undefined, `kind ${id} is known`)
    return interned
  }

  queue(tenant: string, queue: string): number | undefined {
    return this.#queues.get(nameOf(tenant, queue))
  }

  async internQueues(lanes: Iterable<{ readonly tenant: string; readonly queue: string }>): Promise<void> {
    const names = new Map<string, { h: string; t: string; q: string }>()
    for (const { tenant, queue } of lanes) {
      const name = nameOf(tenant, queue)
      if (!this.#queues.has(name)) names.set(name, queueWords(tenant, queue))
    }
    if (names.size === 0) return
    const [row] = await this.#run(this.#statements.internQueues, [JSON.stringify([...names.values()])])
    const ids = JSON.parse(String(row?.[0])) as number[]
    for (const [i, name] of [...names.keys()].entries()) this.#queues.set(name, ids[i] as number)
  }

  async #ask(kind: Kind, hash: string, policy: string): Promise<Interned> {
    await this.internQueues([kind])
    const queue = this.queue(kind.tenant, kind.queue)
    const windowMs = leaseWindowMs(kind.policy)
    const [row] = await this.#run(this.#statements.internKind, [hash, queue, storable(kind.type), windowMs, policy])
    assert(row !== undefined && queue !== undefined, 'a kind is interned')
    const interned = { id: Number(row[0]), queue, windowMs, kind }
    this.#byId.set(interned.id, interned)
    return interned
  }

  #learn([id, tenant, queue, queueId, type, policy]: Row): void {
    const kind: Kind = {
      tenant: original(String(tenant)),
      queue: original(String(queue)),
      type: original(String(type)),
      policy: policyFrom(String(policy)),
    }
    const interned = { id: Number(id), queue: Number(queueId), windowMs: leaseWindowMs(kind.policy), kind }
    this.#byId.set(interned.id, interned)
    this.#byKind.set(kind, interned)
    this.#queues.set(nameOf(kind.tenant, kind.queue), interned.queue)
  }
}

/** A queue as the database takes it in. */
export const queueWords = (tenant: string, queue: string): { h: string; t: string; q: string } => ({
  h: hashOf([tenant, queue]),
  t: storable(tenant),
  q: storable(queue),
})

const hashOf = (words: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(words)).digest('base64url')

const nameOf = (tenant: string, queue: string): string => `${tenant.length}:${tenant}${queue}`

/** Sorted, so that the same policy is the same text whoever resolved it; absent fields are null. */
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
