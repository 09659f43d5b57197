/**
 * What was counted, written down: a document per tenant with how far in the feed it has counted, and behind them a head, which says how
 * far all of them have. Who starts goes on from there. A tenant that was written further than the head (its writer was killed in between)
 * is not counted twice: its document says so.
 */
import { z } from 'zod'
import type { Engine } from '../../engine/engine.ts'
import { comparePositions } from '../../store/compare-positions.ts'
import type { Setting } from '../../store/store.ts'
import { Buckets, type PackedBucket } from './buckets.ts'
import { othersOf } from './keys.ts'
import { type PackedTaker, Takers } from './takers.ts'
import { Versions } from './versions.ts'

export interface TenantTraffic {
  readonly buckets: Buckets
  /** By type. */
  readonly lastSuccess: Map<string, number>
  readonly takers: Takers
  readonly versions: Versions
}

export const noTraffic = (): TenantTraffic => ({
  buckets: new Buckets(),
  lastSuccess: new Map(),
  takers: new Takers(),
  versions: new Versions(),
})

export interface Head {
  /** Everything up to it is in the documents. */
  readonly position: string
  readonly since: number
}

export interface Shelved {
  readonly head: Head
  readonly tenants: ReadonlyMap<string, KeptTraffic>
}

interface KeptTraffic extends TenantTraffic {
  /** Everything of this tenant up to it is in there. */
  readonly position: string
}

/** One may be half a megabyte. */
const READ_AT_ONCE = 10
const LETTERS_MOST = 512 * 1024
const TYPES_KEPT = 200
/** Nothing of an older one would be shown. */
const OLD_MS = 8 * 24 * 60 * 60 * 1_000

const bucket: z.ZodType<PackedBucket> = z.tuple([z.number(), z.record(z.string(), z.number())])
const taker: z.ZodType<PackedTaker> = z.tuple([z.string(), z.string(), z.string(), z.number(), z.string()])
const position = z.string().regex(/^\d+(\.\d+)*$/)
const headDocument = z.object({ version: z.literal(1), position, since: z.number() })
const document = z.object({
  version: z.literal(1),
  position,
  windows: z.object({
    '15m': z.array(bucket),
    '1h': z.array(bucket),
    '24h': z.array(bucket),
    '7d': z.array(bucket),
  }),
  lastSuccess: z.array(z.tuple([z.string(), z.number()])),
  // Absent in what an older gateway has written, which goes on beside this one while they are replaced.
  takers: z.array(z.tuple([z.string(), z.array(taker)])).default([]),
  versions: z.array(z.tuple([z.string(), z.number().nullable()])).default([]),
})

const collection = 'traffic'
/** No tenant's: theirs begin with a bracket. */
const HEAD = 'head'
const keyOf = (tenant: string): string => JSON.stringify([tenant])
const tenantIn = (key: string): string => String((JSON.parse(key) as readonly unknown[])[0])

export class TrafficShelf {
  readonly #engine: Pick<Engine, 'settings' | 'now'>

  constructor(engine: Pick<Engine, 'settings' | 'now'>) {
    this.#engine = engine
  }

  /** Undefined where nothing was written, or nothing that can be read. What is too old goes. */
  async read(): Promise<Shelved | undefined> {
    const all = await this.#all()
    const headed = all.find(({ key }) => key === HEAD)
    const head = headed && parsed(headDocument, headed.text)
    if (headed === undefined || head === undefined) return undefined
    const tenants = new Map<string, KeptTraffic>()
    let first = head.position
    for (const { key, text, updatedAt } of all) {
      const told = key === HEAD ? undefined : parsed(document, text)
      if (told === undefined) continue
      tenants.set(tenantIn(key), {
        position: told.position,
        buckets: Buckets.from(told.windows, (name) => othersOf(name) !== undefined),
        lastSuccess: new Map(told.lastSuccess),
        takers: Takers.from(told.takers),
        versions: Versions.from(told.versions),
      })
      // Behind the head, and later than it: of another gateway, which had not come as far and took the place of who had.
      if (updatedAt >= headed.updatedAt && comparePositions(told.position, first) < 0) first = told.position
    }
    return { head: { ...head, position: first }, tenants }
  }

  async write(tenant: string, traffic: KeptTraffic): Promise<void> {
    await this.#put(keyOf(tenant), textOf(traffic))
  }

  /** After all that has changed. */
  async writeHead({ position, since }: Head): Promise<void> {
    await this.#put(HEAD, JSON.stringify({ version: 1, position, since }))
  }

  async clear(): Promise<void> {
    await this.#remove(await this.#all())
  }

  async #all(): Promise<readonly Setting[]> {
    const found: Setting[] = []
    for (let after = ''; ; ) {
      const [page] = await this.#engine.settings([{ op: 'list', collection, after, limit: READ_AT_ONCE }])
      const settings = page?.settings ?? []
      const [old, fresh] = [settings.filter((each) => this.#isOld(each)), settings.filter((each) => !this.#isOld(each))]
      await this.#remove(old)
      found.push(...fresh)
      if (settings.length < READ_AT_ONCE) return found
      after = settings.at(-1)?.key ?? after
    }
  }

  #isOld({ updatedAt }: Setting): boolean {
    return updatedAt < this.#engine.now() - OLD_MS
  }

  async #remove(settings: readonly Setting[]): Promise<void> {
    if (settings.length > 0)
      await this.#engine.settings(settings.map(({ key, rev }) => ({ op: 'remove', collection, key, rev })))
  }

  async #put(key: string, text: string): Promise<void> {
    await this.#engine.settings([{ op: 'put', collection, key, text, rev: undefined }])
  }
}

/** Codes and queues are users' own, and may be long: where they are too much they are counted together. */
function textOf({ buckets, lastSuccess, takers, versions, position: reached }: KeptTraffic): string {
  const head = { version: 1, position: reached, versions: versions.packed() }
  const latest = [...lastSuccess].slice(-TYPES_KEPT)
  const whole = JSON.stringify({ ...head, windows: buckets.packed(), lastSuccess: latest, takers: takers.packed() })
  if (whole.length <= LETTERS_MOST) return whole
  // Who took each way last is known again as soon as somebody takes it.
  const windows = buckets.packed((name) => othersOf(name) ?? name)
  return JSON.stringify({ ...head, windows, lastSuccess: latest })
}

/** Undefined where it is of another version, or damaged: then it is counted anew. */
function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
