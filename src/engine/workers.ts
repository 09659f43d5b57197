/**
 * Who works, on what: documents in which workers tell of themselves, under their tenant. No job is lost or run twice by what they say;
 * routing looks here who is there, and so does `explain`.
 * A worker that falls silent is forgotten after an hour, and removed by retention.
 */
import type { Present } from '../core/admission.ts'
import type { Around, Circumstances } from '../core/explain.ts'
import type { Job, Kind, Time } from '../core/job.ts'
import { isRouted, needOf, type Route } from '../core/needs.ts'
import type { Setting, Store } from '../store/store.ts'
import type { WhoIsThere } from './admission.ts'
import { countOf, pageOf, prefixOf } from './documents.ts'
import type { Engine } from './engine.ts'
import type { StoreClock } from './store-clock.ts'

export interface SeenWorker {
  readonly tenant: string
  readonly workerId: string
  /** The token that made it, where it came over HTTP. */
  readonly token: string | undefined
  /** The document in which the worker tells of itself. */
  readonly about: Readonly<Record<string, unknown>>
  readonly seenAt: Time
  readonly present: boolean
}

export interface WorkerPage {
  readonly workers: readonly SeenWorker[]
  /** Where there are more: the name to go on behind. */
  readonly cursor: string | undefined
}

/** As much of a job as says who may have it. */
interface Waiting extends Pick<Job, 'needs'> {
  readonly spec: { readonly kind: Pick<Kind, 'tenant' | 'queue' | 'type'> }
}

/** Workers tell of themselves twice as often. */
const PRESENT_MS = 60_000
const PAGE = 500
/** Documents that are read together where all of a tenant's are wanted: one may have 128 KB, and is understood in half a millisecond. */
const FEW = 50
/** Letters of documents that are understood for one question: what more tell is not worth the time of all others. */
const LETTERS_MOST = 4 * 1024 * 1024
/** A worker that has been silent for this long is removed. */
export const REMEMBERED_MS = 60 * 60 * 1_000

export class Workers {
  readonly #engine: Pick<Engine, 'settings' | 'now'>

  constructor(engine: Pick<Engine, 'settings' | 'now'>) {
    this.#engine = engine
  }

  /** Workers in the order of their names. */
  async page(tenant: string, cursor: string | undefined, limit: number): Promise<WorkerPage> {
    const workers: SeenWorker[] = []
    let after = cursor === undefined ? prefixOf(tenant) : keyOf(tenant, cursor)
    for (;;) {
      const { settings, isLast } = await pageOf(this.#engine, 'worker', tenant, after, Math.min(PAGE, limit + 1))
      for (const setting of settings) {
        if (this.#isForgotten(setting.updatedAt)) continue
        if (workers.length === limit) return { workers, cursor: workers.at(-1)?.workerId }
        workers.push(this.#seen(setting))
      }
      if (isLast) return { workers, cursor: undefined }
      after = settings.at(-1)?.key ?? after
    }
  }

  /** Workers that are present and serve a queue. */
  async serving(tenant: string, queue: string): Promise<readonly SeenWorker[]> {
    return (await this.presentOf(tenant)).filter((worker) => serves(worker, queue))
  }

  /** Those of a tenant that are present. Throws where they tell so much that it is not looked at: callers do without. */
  async presentOf(tenant: string): Promise<readonly SeenWorker[]> {
    const found: SeenWorker[] = []
    let letters = 0
    for (let after = prefixOf(tenant); ; ) {
      const { settings, isLast } = await pageOf(this.#engine, 'worker', tenant, after, FEW)
      const present = settings.filter((setting) => this.#isPresent(setting))
      for (const { text } of present) letters += text.length
      if (letters > LETTERS_MOST) throw new Error(`the workers of ${tenant} tell more than is looked at`)
      found.push(...present.map((setting) => this.#seen(setting)))
      if (isLast) return found
      after = settings.at(-1)?.key ?? after
    }
  }

  /** Who serves the queue of a job, can do what it requires and knows its type, for `explain`; undefined where the store cannot be asked. */
  async around({ spec, needs }: Waiting): Promise<Circumstances['workers']> {
    const { tenant, queue, type } = spec.kind
    const need = needOf(needs)
    try {
      const present = await this.presentOf(tenant)
      const { fit, routed } = isRouted(need) ? routedTo(need, present) : { fit: present, routed: undefined }
      const serving = fit.filter((worker) => serves(worker, queue))
      const able = serving.filter((worker) => knows(worker, type)).map(({ workerId }) => workerId)
      return { routed, serving: serving.length, able }
    } catch {
      return undefined
    }
  }

  /** Workers of all tenants that are present. */
  async present(): Promise<readonly SeenWorker[]> {
    const found: SeenWorker[] = []
    for (let after = ''; ; ) {
      const [answer] = await this.#engine.settings([{ op: 'list', collection: 'worker', after, limit: FEW }])
      const settings = answer?.settings ?? []
      found.push(...settings.filter((setting) => this.#isPresent(setting)).map((setting) => this.#seen(setting)))
      if (settings.length < FEW) return found
      after = settings.at(-1)?.key ?? after
    }
  }

  async find(tenant: string, workerId: string): Promise<SeenWorker | undefined> {
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'worker', key: keyOf(tenant, workerId) }])
    const setting = answer?.settings[0]
    return setting === undefined || this.#isForgotten(setting.updatedAt) ? undefined : this.#seen(setting)
  }

  /** Removes workers that have been silent for long and counts the others, up to `most`. */
  count(tenant: string, most: number): Promise<number> {
    return countOf(this.#engine, 'worker', tenant, most, (setting) => this.#isForgotten(setting.updatedAt))
  }

  async report(
    tenant: string,
    workerId: string,
    token: string | undefined,
    about: Readonly<Record<string, unknown>>,
  ): Promise<Time> {
    const text = JSON.stringify({ ...about, token })
    const key = keyOf(tenant, workerId)
    const [answer] = await this.#engine.settings([{ op: 'put', collection: 'worker', key, text, rev: undefined }])
    return answer?.now ?? this.#engine.now()
  }

  #seen({ key, text, updatedAt }: Setting): SeenWorker {
    const [tenant, workerId] = JSON.parse(key) as readonly [string, string]
    const { token, ...about } = JSON.parse(text) as Readonly<Record<string, unknown>>
    const present = this.#isPresent({ updatedAt })
    return { tenant, workerId, token: typeof token === 'string' ? token : undefined, about, seenAt: updatedAt, present }
  }

  #isPresent({ updatedAt }: Pick<Setting, 'updatedAt'>): boolean {
    return this.#engine.now() - updatedAt < PRESENT_MS
  }

  #isForgotten(seenAt: Time): boolean {
    return this.#engine.now() - seenAt > REMEMBERED_MS
  }
}

export const serves = ({ about }: SeenWorker, queue: string): boolean => mentions(about['queues'], queue) ?? false

/** Those of some workers who may have what is routed like that. */
export function routedTo(
  { pool, capabilities }: Route,
  workers: readonly SeenWorker[],
): { readonly fit: readonly SeenWorker[]; readonly routed: NonNullable<Around['routed']> } {
  const inPool = pool === undefined ? workers : workers.filter((worker) => poolOf(worker) === pool)
  const fit = inPool.filter((worker) => canDo(worker, capabilities))
  return { fit, routed: { inPool: inPool.length, capable: fit.length } }
}

/** Who is there is asked once for all who ask in a round, and only where somebody asks. */
export function rollCall({
  store,
  clock,
}: {
  readonly store: Pick<Store, 'settings'>
  readonly clock: Pick<StoreClock, 'now'>
}): WhoIsThere {
  const workers = new Workers({ settings: (operations) => store.settings(operations), now: () => clock.now() })
  const asked = new Map<string, ReturnType<WhoIsThere>>()
  return (tenant) => {
    const unknown = () => undefined
    const there = asked.get(tenant) ?? workers.presentOf(tenant).then((all) => all.map(presentAs), unknown)
    asked.set(tenant, there)
    return there
  }
}

/** A worker as routing looks at it. */
const presentAs = (worker: SeenWorker): Present => ({
  pool: poolOf(worker),
  can: Array.isArray(worker.about['capabilities']) ? (worker.about['capabilities'] as readonly string[]) : [],
})

/** The pool that a worker is in; undefined where it is in none. */
export const poolOf = ({ about }: SeenWorker): string | undefined =>
  typeof about['pool'] === 'string' ? about['pool'] : undefined

/** Whether a worker can do all of it. */
export const canDo = ({ about }: SeenWorker, capabilities: readonly string[]): boolean =>
  capabilities.every((each) => mentions(about['capabilities'], each) === true)

/** A worker that does not tell which types it knows counts as knowing every type. */
export const knows = ({ about }: SeenWorker, type: string): boolean => mentions(about['types'], type) ?? true

/** Those of some names that a worker tells of; undefined where it does not tell. */
export function namedBy(
  { about }: SeenWorker,
  what: 'queues' | 'types',
  among: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  const names = about[what]
  return Array.isArray(names) ? new Set((names as readonly string[]).filter((name) => among.has(name))) : undefined
}

const mentions = (names: unknown, name: string): boolean | undefined =>
  Array.isArray(names) ? names.includes(name) : undefined

const keyOf = (tenant: string, worker: string): string => JSON.stringify([tenant, worker])
