/**
 * What is carried from one store to another: jobs with all there is of them, documents, and flow keys. Nothing of it is secret between
 * a store and an owner: a lease is named anew where it arrives, so nobody speaks there with a fence from here.
 */
import type { Annotation, Event } from '../../core/event.ts'
import type { JobId } from '../../core/job.ts'
import { keyOf } from '../../core/keys.ts'
import type { FlowKey, SettingCollection } from '../../store/store.ts'
import type { Engine } from '../engine.ts'
import { still } from '../still.ts'

export interface CarriedJob {
  readonly log: readonly Event[]
  readonly bodies: Readonly<Record<string, string>>
  /** Words that came too late, as they are kept beside its log. */
  readonly notes: readonly Annotation[]
  /** Whether it holds its dedupe key: others may have it by now, or it has run out. */
  readonly holdsKey: boolean
}

export interface CarriedSetting {
  readonly collection: SettingCollection
  readonly key: string
  readonly text: string
}

export interface CarriedLimit extends Pick<FlowKey, 'tenant' | 'key' | 'text'> {
  readonly log?: FlowKey['log']
}

/** Every name under which a job has a body (`core/body.ts`). */
const BODIES = ['input', 'output', 'checkpoint', 'step/', 'signal/', 'error/', 'replaced', 'next']

const PAGE = 500

type Reading = Pick<Engine, 'load' | 'events'>

/** A job of one revision; undefined where it is gone, or moves whenever it is read. */
export async function carriedJob(engine: Reading, id: JobId): Promise<CarriedJob | undefined> {
  const seen = await still(engine, id, { bodies: BODIES })
  if (seen === undefined) return undefined
  const { loaded, log } = seen
  const { annotations: notes } = await engine.events({ by: 'annotation', id })
  const key = keyOf(loaded.job)
  const asked = { id: key?.key ?? '', key: 'dedupe', tenant: loaded.job.spec.kind.tenant } as const
  const holder = key === undefined ? undefined : (await engine.load([asked])).items[0]?.job.id
  return { log, bodies: loaded.bodies, notes, holdsKey: holder === id }
}

/**
 * Which documents are of use elsewhere, each with the reason. A collection without an entry does not compile.
 */
const CARRIED: Readonly<Record<SettingCollection, boolean>> = {
  queue: true,
  token: true,
  schedule: true,
  type: true,
  policy: true,
  audit: true,
  // Who works here, whose turn it is, and how the clock went: of this store alone.
  worker: false,
  duty: false,
  clock: false,
  traffic: false,
  // Counted anew where jobs arrive: numbers, kinds that came over HTTP, and calls that are under way.
  ids: false,
  kind: false,
  idempotency: false,
}

const COLLECTIONS = (Object.keys(CARRIED) as SettingCollection[]).filter((collection) => CARRIED[collection])

export const isCarried = (collection: unknown): collection is SettingCollection =>
  (COLLECTIONS as readonly unknown[]).includes(collection)

export async function* carriedSettings(engine: Pick<Engine, 'settings'>): AsyncGenerator<CarriedSetting> {
  for (const collection of COLLECTIONS) {
    for (let after = ''; ; ) {
      const [page] = await engine.settings([{ op: 'list', collection, after, limit: PAGE }])
      const settings = page?.settings ?? []
      for (const { key, text } of settings) yield { collection, key, text }
      const last = settings.at(-1)
      if (last === undefined || settings.length < PAGE) break
      after = last.key
    }
  }
}

/** Limits and what was learnt about keys, of every tenant that has jobs. */
export async function* carriedLimits(engine: Pick<Engine, 'events'>): AsyncGenerator<CarriedLimit> {
  const { tally } = await engine.events({ by: 'tally' })
  for (const tenant of new Set(tally.map((each) => each.tenant))) {
    let cursor: string | undefined
    do {
      const page = await engine.events({ by: 'keys', tenant, limit: PAGE, cursor })
      for (const { key, text, log } of page.keys ?? []) yield { tenant, key, text, log }
      cursor = page.cursor
    } while (cursor !== undefined)
  }
}
