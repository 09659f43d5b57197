/**
 * What is measured, seen from outside: the same five verbs for pawl, for each peer and for bare SQL. A contender runs in
 * processes of its own (`actor.ts`), so that its CPU is nobody else's. All jobs are the same: a no-op with about 100
 * bytes of payload.
 */
import type { Build } from './build.ts'

export interface Contender {
  readonly name: string
  /** Of those that are pawl: which. */
  readonly build?: Build | undefined
  /** What its jobs are in: decides which server is metered. */
  readonly store: 'postgres' | 'redis' | 'sqlite'
  /** Share of the jobs it is given: the slow ones would run into the time limit, and a rate needs no more. */
  readonly share: number
  /** What is left of a job that has ended. */
  readonly keeps: string
  /** The configuration that is measured, as its documentation calls it. */
  readonly configuration: string
  /** Brings the schema into an empty store. */
  prepare(url: string): Promise<void>
  connect(url: string, role: Role, purpose: Purpose): Promise<Connection>
}

export type Role = 'producer' | 'worker'

/** Whether throughput or latency counts: some have a configuration for each. */
export type Purpose = 'throughput' | 'latency'

export interface Connection {
  /** Many at once, as fast as it goes. */
  bulk(payloads: readonly Payload[], options: BulkOptions): Promise<void>
  /** One, acknowledged. */
  one(payload: Payload): Promise<void>
  work(options: WorkOptions): Promise<Working>
  close(): Promise<void>
}

export interface Payload {
  /** When it was sent, on the machine's own clock. */
  readonly at: number
  readonly text: string
  /** The piece of business it stands for, of which there is one job at a time. */
  readonly key?: string | undefined
}

export interface BulkOptions {
  readonly delayMs?: number | undefined
}

export interface WorkOptions {
  readonly purpose: Purpose
  /** Called when a handler starts. What it returns ends with the handler. `step` is there where a contender has steps. */
  readonly handle: (payload: Payload, step?: Step) => void | Promise<void>
  readonly concurrency?: number | undefined
}

/** Answers when what was done under this name is durable. */
export type Step = (name: string, work: () => Promise<string>) => Promise<unknown>

export interface Working {
  /** Whether all that was handled has been written down, too. */
  settled(): Promise<boolean>
  stop(): Promise<void>
}

/** Says in the URL that a pooler is in between: some have to be told. */
export const pooled = (url: string): string => `${url}?application_name=pooled`
export const isPooled = (url: string): boolean => url.endsWith(pooled(''))

/** 100 bytes, more or less, as JSON. */
export const payload = (at = 0, key?: string): Payload => ({ at, text: 'x'.repeat(70), ...(key && { key }) })

/** The machine's clock: the same in all processes, in milliseconds, never set back. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** Pieces of a list, in order. */
export function* pieces<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}

/** Does the same with all of them, so many at a time. */
export async function inParallel<T>(all: Iterable<T>, lanes: number, work: (item: T) => Promise<unknown>) {
  const items = all[Symbol.iterator]()
  const lane = async () => {
    for (let next = items.next(); !next.done; next = items.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** The answer of a statement that asks whether something is there. */
export async function exists(
  client: { query(text: string): Promise<{ rows: unknown[] }> },
  from: string,
): Promise<boolean> {
  const { rows } = await client.query(`select 1 from ${from} limit 1`)
  return rows.length > 0
}
