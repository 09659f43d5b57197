/**
 * What is measured, seen from outside: the same verbs for pawl, for each peer and for bare SQL. A contender runs in
 * processes of its own (`actor.ts`), so that its CPU is nobody else's. All jobs are the same unless a scenario says
 * otherwise: a no-op with about 100 bytes of payload.
 */
import { randomBytes } from 'node:crypto'
import type { Build } from './build.ts'

export interface Contender {
  readonly name: string
  /** Of those that are pawl: which. */
  readonly build?: Build | undefined
  /** What its jobs are in: decides which server is metered. */
  readonly store: 'postgres' | 'redis' | 'redis+ledger' | 'sqlite'
  /** Share of the jobs it is given: the slow ones would run into the time limit, and a rate needs no more. */
  readonly share: number
  /** What is left of a job that has ended. */
  readonly keeps: string
  /** The configuration that is measured, as its documentation calls it. */
  readonly configuration: string
  /** Brings the schema into an empty store. */
  prepare(url: string): Promise<void>
  /** `crowd`: for many workers at once, or for work in many queues. */
  connect(url: string, role: Role, purpose: Purpose, crowd?: Crowd): Promise<Connection>
}

export type Role = 'producer' | 'worker'

/** Whether throughput or latency counts: some have a configuration for each. */
export type Purpose = 'throughput' | 'latency'

export interface Connection {
  /** Many at once, as fast as it goes. Answers with what signals are addressed to, where jobs can wait for them. */
  bulk(payloads: readonly Payload[], options: BulkOptions): Promise<readonly string[]>
  /** One, acknowledged. */
  one(payload: Payload): Promise<void>
  work(options: WorkOptions): Promise<Working>
  /** Where jobs can wait for signals: resumes one, by what `bulk` called it. */
  signal?(job: string): Promise<void>
  close(): Promise<void>
}

export interface Payload {
  /** When it was sent, on the machine's own clock. */
  readonly at: number
  /** Its number among those of its producer. */
  readonly n: number
  readonly text: string
  /** The piece of business it stands for, of which there is one job at a time. */
  readonly key?: string | undefined
  /** What it shares with others, which limits them together. */
  readonly limitKey?: string | undefined
  /** Which of many queues it goes to. */
  readonly place?: number | undefined
}

export interface BulkOptions {
  readonly delayMs?: number | undefined
  /** Their handlers fail once: they are tried again as soon as a contender can be told to. */
  readonly failing?: boolean | undefined
}

export interface WorkOptions {
  readonly purpose: Purpose
  /** Called when a handler starts. What it returns ends with the handler. `able` is there where a contender has steps. */
  readonly handle: (payload: Payload, able?: Able) => void | Promise<void>
  readonly concurrency?: number | undefined
  /** Handlers may throw, each for its own job. */
  readonly failing?: boolean | undefined
  /** For jobs with limit keys. */
  readonly limited?: boolean | undefined
}

/** Workers in one process that know nothing of each other, each with connections of its own. */
export interface Crowd {
  readonly claimers: number
  /** Queues in all, each of a tenant of its own; 0: the one that everything else uses. */
  readonly places: number
}

/** The limit key that lets nobody in, among those that let everybody in. */
export const FULL_KEY = 'full'

export const ALONE: Crowd = { claimers: 1, places: 0 }

/** The places that one of them serves: a tenth of all, where they are enough for that. Together they serve all. */
export function placesOf({ claimers, places }: Crowd, claimer: number): readonly number[] {
  const parts = Math.min(10, claimers)
  return Array.from({ length: places }, (_, place) => place).filter((place) => place % parts === claimer % parts)
}

/** What a handler can do besides. */
export interface Able {
  readonly step: Step
  readonly wait?: (() => Promise<unknown>) | undefined
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
export const payload = (at = 0, more: Partial<Payload> = {}): Payload => ({ at, n: 0, text: SHORT, ...more })

const SHORT = 'x'.repeat(62)

/** So many characters that no server can make shorter, as those of a user's documents hardly are. */
export const textOf = (bytes: number): string =>
  randomBytes(Math.ceil((bytes * 3) / 4))
    .toString('base64')
    .slice(0, bytes)

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
