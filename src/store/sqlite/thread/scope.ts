import { storable } from '../../codec/text.ts'
import type { JobQuery } from '../../store.ts'
import type { Reading } from './reading.ts'
import { all, one, type Row } from './rows.ts'

/** Queues, and kinds, that are gone through one by one at most. */
const MOST = 400

/** Which kinds a search is about: tenant, queue and type are theirs. */
export class Scope {
  readonly #reading: Reading
  readonly #tenant: string | undefined
  readonly #queues: readonly string[] | undefined
  readonly #types: readonly string[] | undefined

  constructor(reading: Reading, { tenant, queues, types }: Pick<JobQuery, 'tenant' | 'queues' | 'types'>) {
    this.#reading = reading
    this.#tenant = tenant === undefined ? undefined : storable(tenant)
    this.#queues = queues?.map(storable)
    this.#types = types?.map(storable)
  }

  has(kind: number): boolean {
    const { tenant, name, type } = this.#reading.kinds.get(kind)
    return (
      (this.#tenant === undefined || this.#tenant === tenant) &&
      (this.#queues === undefined || this.#queues.includes(name)) &&
      (this.#types === undefined || this.#types.includes(type))
    )
  }

  /** The kinds in scope; undefined where they are too many to be gone through. */
  kinds(): readonly number[] | undefined {
    const queues = this.#queueNumbers()
    if (queues === undefined) return undefined
    const found: number[] = []
    for (const queue of queues) {
      for (const row of this.#kindsIn(queue, MOST + 1 - found.length)) found.push(row[0] as number)
      if (found.length > MOST) return undefined
    }
    return found
  }

  /** The tenants in scope, as they are stored: those that have a queue. */
  tenants(): readonly string[] {
    if (this.#tenant !== undefined) return [this.#tenant]
    const found: string[] = []
    for (let last = ''; ; last = found.at(-1) ?? '') {
      const next = one(this.#reading.sql.tenantAfter, last)?.[0]
      if (typeof next !== 'string') return found
      found.push(next)
    }
  }

  #queueNumbers(): readonly number[] | undefined {
    const { sql } = this.#reading
    const tenant = this.#tenant
    if (tenant !== undefined && this.#queues !== undefined) {
      return this.#queues.flatMap((name) => (one(sql.queueByName, tenant, name)?.[0] as number | undefined) ?? [])
    }
    const rows = tenant === undefined ? all(sql.queues, MOST + 1) : all(sql.queuesOf, tenant, MOST + 1)
    if (rows.length > MOST) return undefined
    const named = ([, name]: Row) => this.#queues === undefined || this.#queues.includes(name as string)
    return rows.filter(named).map(([number]) => number as number)
  }

  #kindsIn(queue: number, limit: number): readonly Row[] {
    const { sql } = this.#reading
    if (this.#types === undefined) return all(sql.kindsOf, queue, limit)
    return this.#types.flatMap((type) => all(sql.kindsOfType, queue, type, limit))
  }
}
