/**
 * Who did what to the installation itself: tokens made and revoked, queues paused, jobs moved by operators, migrations.
 * What happens to a job is in the job's own log; this is what has no job to tell it.
 *
 * Append-only: entries are numbered per tenant, each is created once and holds the hash of the one before, so that one
 * that was changed or taken out by hand shows. An entry is written before the act it tells of: an act that nobody
 * did may be in it after a crash, one that is missing in it was not done through pawl.
 */
import { assert } from '../core/assert.ts'
import type { Time } from '../core/job.ts'
import type { Setting, SettingOperation } from '../store/store.ts'
import { sha256 } from '../system/digest.ts'
import type { Attestation } from './attestation.ts'
import type { Engine } from './engine.ts'

export const ACTS = [
  'token.created',
  'token.revoked',
  'queue.paused',
  'queue.resumed',
  'schedule.defined',
  'schedule.removed',
  'schedule.paused',
  'schedule.resumed',
  'schedule.run',
  'limit.set',
  'limit.removed',
  'limit.reset',
  'limit.probed',
  'policy.set',
  'policy.removed',
  'limits.repaired',
  'operation.started',
  'operation.cancelled',
  'jobs.admitted',
  'jobs.denied',
  'jobs.approved',
  'jobs.cancelled',
  'jobs.reopened',
  'jobs.rescheduled',
  'jobs.dead_lettered',
  'log.verified',
  'store.migrated',
] as const
export type ActName = (typeof ACTS)[number]

export interface Act {
  readonly act: ActName
  /** The actor's name. */
  readonly by: string
  /** The thing acted on: a token's id, a queue's name, the first of the jobs. */
  readonly about: string
  /** How many things, where one act is about many. */
  readonly count?: number | undefined
  readonly reason?: string | undefined
  /** Which stretch of a job's log was verified, and its hash. */
  readonly attestation?: Attestation | undefined
  /** Origin of the act (token, address, agent), as far as it is known. */
  readonly token?: string | undefined
  readonly address?: string | undefined
  readonly agent?: string | undefined
}

export interface AuditEntry extends Act {
  /** 1, 2, 3 … within the tenant. */
  readonly n: number
  readonly at: Time
  /** Hash of the entry before, with all its words; empty for the first. */
  readonly before: string
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[]
  /** The number of the entry that the next page begins with. */
  readonly cursor: number | undefined
}

export interface AuditBreach {
  readonly n: number
  readonly what: 'missing' | 'changed'
}

/** Stands for a tenant where an act concerns all of them. */
export const INSTALLATION = ''

/** Entries are kept this long. The chain goes on from what is left. */
export const AUDIT_DAYS = 400

const KEEP_MS = AUDIT_DAYS * 24 * 60 * 60 * 1_000
const TRIES = 100
/** Old entries removed with each new one: more than come, so that none stays for long. */
const SWEPT = 4
const PAGE = 200

interface Head {
  /** Number and hash of the last entry. */
  readonly n: number
  readonly hash: string
  /** Number of the first that is still there. */
  readonly first: number
}

const NO_HEAD: Head = { n: 0, hash: '', first: 1 }

/** Origin of acts that came over HTTP. */
export type Origin = Pick<Act, 'address' | 'agent'>

export class AuditLog {
  readonly #engine: Pick<Engine, 'settings'>
  readonly #origin: Origin
  /** By tenant: the last append, which the next one waits for. */
  readonly #lines = new Map<string, Promise<void>>()

  /** `origin`: where acts come from that do not say it themselves. */
  constructor(engine: Pick<Engine, 'settings'>, origin: Origin = {}) {
    this.#engine = engine
    this.#origin = origin
  }

  /**
   * Appends of one process stand in line, by tenant: many at a time would otherwise be in each other's way, and in that of the
   * operator who revokes the token behind them.
   */
  append(tenant: string, act: Act): Promise<void> {
    const before = this.#lines.get(tenant) ?? Promise.resolve()
    const written = before.catch(() => {}).then(() => this.#append(tenant, { ...this.#origin, ...act }))
    this.#lines.set(tenant, written)
    const leave = () => {
      if (this.#lines.get(tenant) === written) this.#lines.delete(tenant)
    }
    written.then(leave, leave)
    return written
  }

  async #append(tenant: string, act: Act): Promise<void> {
    let [read] = await this.#engine.settings([get(headKey(tenant))])
    for (let tried = 0; tried < TRIES; tried += 1) {
      assert(read !== undefined, 'every operation is answered')
      const there = read.settings[0]
      const head = headIn(there)
      const text = JSON.stringify({ ...act, n: head.n + 1, at: read.now, before: head.hash } satisfies AuditEntry)
      const swept = await this.#swept(tenant, head, read.now)
      const next: Head = { n: head.n + 1, hash: sha256(text), first: head.first + swept.length }
      // Entry and head are written together or not at all: where another process was faster, it has written both.
      const [entry, headed] = await this.#engine.settings([
        { op: 'put', collection: 'audit', key: entryKey(tenant, next.n), text, rev: 0 },
        { op: 'put', collection: 'audit', key: headKey(tenant), text: JSON.stringify(next), rev: there?.rev ?? 0 },
        ...swept.map(
          (n): SettingOperation => ({ op: 'remove', collection: 'audit', key: entryKey(tenant, n), rev: 1 }),
        ),
      ])
      if (entry?.status === 'ok') return
      read = headed
    }
    throw new Error(`pawl: nothing could be written to the audit log in ${TRIES} tries.`)
  }

  async page(tenant: string, before: number | undefined, limit: number): Promise<AuditPage> {
    const head = await this.#head(tenant)
    const newest = Math.min(head.n, before ?? head.n)
    const oldest = Math.max(head.first, newest - limit + 1)
    const texts = await this.#texts(tenant, newest, oldest)
    const entries = texts.filter((text) => text !== undefined).map((text) => JSON.parse(text) as AuditEntry)
    return { entries, cursor: oldest > head.first ? oldest - 1 : undefined }
  }

  /** Places where the log's hashes do not match: something was changed in it by hand. */
  async verify(tenant: string): Promise<readonly AuditBreach[]> {
    const head = await this.#head(tenant)
    const breaches: AuditBreach[] = []
    /** The hash that the next entry must have; undefined behind a missing one, whose predecessor's is not known. */
    let expected: string | undefined = head.hash
    for (let newest = head.n; newest >= head.first; newest -= PAGE) {
      const texts = await this.#texts(tenant, newest, Math.max(head.first, newest - PAGE + 1))
      for (const [i, text] of texts.entries()) {
        const n = newest - i
        if (text === undefined) breaches.push({ n, what: 'missing' })
        else if (expected !== undefined && sha256(text) !== expected) breaches.push({ n, what: 'changed' })
        expected = text === undefined ? undefined : (JSON.parse(text) as AuditEntry).before
      }
    }
    return breaches
  }

  async #head(tenant: string): Promise<Head> {
    const [read] = await this.#engine.settings([get(headKey(tenant))])
    return headIn(read?.settings[0])
  }

  /** The entries from `newest` down to `oldest`, both included. */
  async #texts(tenant: string, newest: number, oldest: number): Promise<readonly (string | undefined)[]> {
    const numbers = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, i) => newest - i)
    if (numbers.length === 0) return []
    const answers = await this.#engine.settings(numbers.map((n) => get(entryKey(tenant, n))))
    return answers.map(({ settings }) => settings[0]?.text)
  }

  /** Numbers of the oldest entries, if their time is over. */
  async #swept(tenant: string, { n, first }: Head, now: Time): Promise<readonly number[]> {
    const oldest = Array.from({ length: Math.max(0, Math.min(SWEPT, n - first + 1)) }, (_, i) => first + i)
    if (oldest.length === 0) return []
    const answers = await this.#engine.settings(oldest.map((each) => get(entryKey(tenant, each))))
    const fresh = answers.findIndex(({ settings }) => (settings[0]?.updatedAt ?? 0) > now - KEEP_MS)
    return fresh < 0 ? oldest : oldest.slice(0, fresh)
  }
}

const get = (key: string): SettingOperation => ({ op: 'get', collection: 'audit', key })
const headKey = (tenant: string): string => JSON.stringify([tenant, 'head'])
const entryKey = (tenant: string, n: number): string => JSON.stringify([tenant, n])

const headIn = (setting: Setting | undefined): Head =>
  setting === undefined ? NO_HEAD : (JSON.parse(setting.text) as Head)
