/**
 * Removes what ended long ago, or what is beside it, shortens the logs of what ended, and forgets workers that have gone and flow keys that are quiet. These are walks that stores serve from an index, a page
 * at a time; a round walks so far and no further, remembers where it was, and is followed by another one soon if there is
 * more to do: nobody waits for a round, however much has piled up.
 */
import { bondOf } from '../core/dialects/bond.ts'
import { type Job, SUCCESSFUL_STATES, type Time, UNSUCCESSFUL_STATES } from '../core/job.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import { Departure } from './departure.ts'
import { Duty } from './duty.ts'
import type { Engine } from './engine.ts'
import { FlowKeys } from './flow-keys.ts'
import { Forgetting } from './forgetting.ts'
import { Owed } from './owed.ts'
import { Removal } from './removal.ts'
import { RETENTION_DEFAULTS, type RetentionOptions } from './retention-options.ts'
import { SettingNotch } from './setting-notch.ts'
import { Shortening } from './shortening.ts'
import { Stripping, type StrippingParts } from './stripping.ts'

export interface RetentionParts {
  readonly store: Store
  readonly engine: Pick<Engine, 'settle'>
  readonly timers: Timers
  readonly log: Log
  /** Present where many processes have the store: those that were told the same do it one at a time, and look at times of their own. */
  readonly random?: Random | undefined
}

/** Whom a setting spares that nobody has made: jobs whose document keeps its log for audits (004). */
const unlessAsked =
  (setting: unknown) =>
  ({ spec }: Job): boolean =>
    setting === undefined && bondOf(spec.kind.policy).keptUntilAsked

/** The pause after a round that left something to do. */
const SOON_MS = 1_000

export function retention(
  { store, engine, timers, log, random }: RetentionParts,
  options: RetentionOptions = {},
): Service {
  const batch = options.batch ?? RETENTION_DEFAULTS.batch
  const succeededMs = options.succeededMs ?? RETENTION_DEFAULTS.succeededMs
  const endedMs = options.endedMs ?? RETENTION_DEFAULTS.endedMs
  const removals = [
    new Removal(store, { states: SUCCESSFUL_STATES, ageMs: succeededMs, batch }, unlessAsked(options.succeededMs)),
    new Removal(store, { states: UNSUCCESSFUL_STATES, ageMs: endedMs, batch }, unlessAsked(options.endedMs)),
  ]
  const shortenings = shorteningsOf(store, log, options)
  const strippings = strippingsOf({ store, engine }, batch, options)
  const departure = new Departure(store)
  const forgetting = new Forgetting(store)
  const keys = new FlowKeys({ store, log })
  let heardAt: Time = 0
  const owed = new Owed({ store, keys, timers, log, now: () => heardAt })
  const everyMs = options.everyMs ?? RETENTION_DEFAULTS.everyMs
  const notch = new SettingNotch(store, 'retention', options)
  const duty = random && new Duty({ lastNotch: () => notch.last(), random, everyMs })
  const round = async (signal: AbortSignal) => {
    if (duty !== undefined && !(await duty.look())) return duty.pauseMs
    if (duty !== undefined) await notch.leave()
    // The store's own word on what time it is: this machine's clock may be years off, and what is purged is gone.
    const { now } = await store.load([])
    let purged = 0
    for (const removal of removals) purged += await removal.round(now, signal)
    if (purged > 0) log.info('retention', { purged })
    for (const shortening of shortenings) await shortening.round(now, signal)
    let stripped = 0
    for (const stripping of strippings) stripped += await stripping.round(now, signal)
    if (stripped > 0) log.info('retention', { stripped })
    await departure.round(now)
    heardAt = now
    await owed.round(now, signal)
    const forgotten = await forgetting.round(now)
    if (forgotten > 0) log.info('retention', { forgotten })
    const done = [...removals, ...shortenings, ...strippings, departure, owed, forgetting].every(
      ({ isAtItsEnd }) => isAtItsEnd,
    )
    return done ? everyMs : Math.min(everyMs, SOON_MS)
  }
  return service({ name: 'retention', everyMs, timers, log, round })
}

/** A walk for each age: in each, the jobs whose type has that age. */
function shorteningsOf(store: Store, log: Log, options: RetentionOptions): readonly Shortening[] {
  const { compact, verboseMs, verboseMsByType = {} } = options
  if (compact === false) return []
  const byType = new Map(Object.entries(verboseMsByType))
  const ageOf = ({ spec }: Job): number => byType.get(spec.kind.type) ?? verboseMs ?? RETENTION_DEFAULTS.verboseMs
  const isSpared = (job: Job): boolean => unlessAsked(compact ?? byType.get(job.spec.kind.type) ?? verboseMs)(job)
  const ages = new Set([verboseMs ?? RETENTION_DEFAULTS.verboseMs, ...byType.values()])
  return Array.from(ages, (age) => new Shortening(store, log, age, (job) => ageOf(job) === age && !isSpared(job)))
}

/** A pass for each age: over the jobs whose type has that age. */
function strippingsOf(parts: StrippingParts, batch: number, options: RetentionOptions): readonly Stripping[] {
  const { bodiesMs, bodiesMsByType = {}, bodiesEvenOf: evenOf = [] } = options
  const byType = new Map(Object.entries(bodiesMsByType))
  const ages = new Set([...(bodiesMs === undefined ? [] : [bodiesMs]), ...byType.values()])
  return Array.from(ages, (ageMs) => {
    const wants = ({ spec }: Job): boolean => (byType.get(spec.kind.type) ?? bodiesMs) === ageMs
    const types = ageMs === bodiesMs ? undefined : [...byType.keys()].filter((type) => byType.get(type) === ageMs)
    return new Stripping(parts, { ageMs, batch, types, wants, evenOf })
  })
}
