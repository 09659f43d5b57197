/**
 * What this process knows of flow keys, and what becomes of them by what their jobs say. Only ever a first guess: a key moves
 * by compare-and-swap on its revision, in the commit of the job that caused it, so a stale guess costs a round trip and
 * never a mistake. A word that changes nothing about a key that was read since it was said is before whatever has become of the key
 * since: nothing is compared for it, so that who sets numbers all the time keeps nobody from ending.
 */

import type { Event } from '../core/event.ts'
import { decideKey, isUneventful } from '../core/flow/decide.ts'
import {
  decodeKey,
  encodeKey,
  encodeKeyLog,
  gateIn,
  type KeyDocument,
  limitIn,
  ruleName,
} from '../core/flow/document.ts'
import { isTold, type KeyEvent } from '../core/flow/event.ts'
import type { Heard } from '../core/flow/heard.ts'
import { atRest } from '../core/flow/key.ts'
import { toldKey } from '../core/flow/membership.ts'
import type { KeyInput } from '../core/flow/signal.ts'
import type { Job, Kind, Time } from '../core/job.ts'
import type { ClaimedJob, KeyBirth, KeyMove, KeyView, Store } from '../store/store.ts'
import type { Log } from '../system/log.ts'

export interface FlowKeyParts {
  readonly store: Pick<Store, 'events'>
  readonly log: Log
}

/** Keys remembered; the one heard of longest ago goes first. */
const KNOWN_MOST = 10_000
/** Keys read in one question. */
const READ_AT_ONCE = 100

interface Known {
  readonly document: KeyDocument
  readonly rev: number
}

/** A key that was read, and what words of one batch have made of it since. */
interface Working extends Known {
  /** What a word of the batch makes of its document, where one does: whether it comes about is not known yet. */
  readonly text: string | undefined
  readonly log: string | undefined
  readonly taken: number
}

/** What a word makes of its key. */
export interface Hearing {
  readonly tenant: string
  readonly key: string
  /** What the commit of the word is to do about the key. Undefined: nothing. */
  readonly move: KeyMove | undefined
  readonly after: Known
  readonly events: readonly KeyEvent[]
}

/** Words of one batch, each with what its key hears; undefined where none does. */
export interface Said {
  readonly job: Job
  readonly heard: Heard | undefined
  /** Its commit met a conflict: the key may be another than it is known as, and is read. */
  readonly isAgain?: boolean | undefined
}

export class FlowKeys {
  readonly #parts: FlowKeyParts
  readonly #known = new Map<string, Known>()

  constructor(parts: FlowKeyParts) {
    this.#parts = parts
  }

  /** What a claim told. */
  claimed(tenant: string, flow: ClaimedJob['flow']): KeyDocument['record'] | undefined {
    if (flow === undefined) return undefined
    const document = decodeKey(flow.key, flow.text)
    this.#remember(tenant, flow.key, { document, rev: flow.rev })
    return document.record
  }

  /** How often the key that hears of this job was pushed back since it was last open, as far as is known here. */
  levelOf({ spec }: Job, named: string | undefined): number | undefined {
    const key = toldKey(spec, named)
    return key === undefined ? undefined : this.#known.get(nameOf(spec.kind.tenant, key))?.document.record.level
  }

  /** What the words of one batch make of their keys, in order: each finds the key as the one before has left it. */
  async hear(words: readonly Said[], now: Time): Promise<readonly (Hearing | undefined)[]> {
    // Before anything is waited for: what is known now may be forgotten meanwhile, because another batch met a conflict.
    const quiet = words.map((word) => this.#quietly(word, now))
    const working = await this.#read(words.filter(({ heard }, i) => heard !== undefined && quiet[i] === undefined))
    return words.map(({ job, heard }, i) => {
      if (heard === undefined) return undefined
      const { tenant } = job.spec.kind
      const name = nameOf(tenant, heard.key)
      const key = working.get(name)
      // Nothing changes, as far as was known before it was said: the commit compares whether that is still so.
      if (key === undefined) return quiet[i]
      const hearing = moved(tenant, heard.key, key, heard.input, now)
      if (hearing.events.length > 0) {
        const log = encodeKeyLog(key.log, hearing.events) ?? key.log
        working.set(name, { ...hearing.after, text: encodeKey(hearing.after.document), log, taken: key.taken })
      }
      return hearing
    })
  }

  applied({ tenant, key, after, events }: Hearing): void {
    this.#remember(tenant, key, after)
    for (const event of events) this.tell(tenant, event, after.document.record)
  }

  /** The operator is told what became of a key. */
  tell(tenant: string, event: KeyEvent, { allowed, session, until }: KeyDocument['record']): void {
    if (!isTold(event)) return
    const { key, type, from, to, cause } = event
    const fields = { key, tenant, from, to, allowed, session, ...(until === 0 ? {} : { until }) }
    this.#parts.log.info(`key ${type}`, { ...fields, job_id: cause.job ?? '', code: cause.code ?? '' })
  }

  /** What was believed of the key is wrong. */
  forget(tenant: string, key: string): void {
    this.#known.delete(nameOf(tenant, key))
  }

  /** Where a word changes nothing about its key, as far as is known, what it comes to without a look. */
  #quietly({ job, heard, isAgain = false }: Said, now: Time): Hearing | undefined {
    if (heard === undefined || isAgain) return undefined
    const { tenant } = job.spec.kind
    const { key, input } = heard
    const known = this.#known.get(nameOf(tenant, key))
    if (known === undefined || !isUneventful(known.document.record, input, now)) return undefined
    return { tenant, key, move: { key, rev: known.rev, next: 'same' }, after: known, events: [] }
  }

  async #read(words: readonly Said[]): Promise<Map<string, Working>> {
    const found = new Map<string, Working>()
    const byTenant = Map.groupBy(words, ({ job }) => job.spec.kind.tenant)
    for (const [tenant, group] of byTenant) {
      const names = [...new Set(group.map(({ heard }) => heard?.key ?? ''))]
      for (const key of names) found.set(nameOf(tenant, key), UNKNOWN(key))
      for (const view of await this.views(tenant, names)) found.set(nameOf(tenant, view.key), workingOf(view))
    }
    return found
  }

  async views(tenant: string, names: readonly string[]): Promise<readonly KeyView[]> {
    const views: KeyView[] = []
    for (let i = 0; i < names.length; i += READ_AT_ONCE) {
      const some = names.slice(i, i + READ_AT_ONCE)
      const page = await this.#parts.store.events({ by: 'keys', tenant, names: some, limit: some.length })
      views.push(...(page.keys ?? []))
    }
    for (const view of views) {
      this.#remember(tenant, view.key, { document: decodeKey(view.key, view.text), rev: view.rev })
    }
    return views
  }

  #remember(tenant: string, key: string, known: Known): void {
    const name = nameOf(tenant, key)
    const before = this.#known.get(name)
    if (before !== undefined && before.rev > known.rev) return
    this.#known.delete(name)
    this.#known.set(name, known)
    if (this.#known.size > KNOWN_MOST) this.#known.delete(this.#known.keys().next().value as string)
  }
}

/** What an input makes of a key that was read. */
function moved(tenant: string, key: string, working: Working, input: KeyInput, now: Time): Hearing {
  const { document, rev, text, log, taken } = working
  const decision = decideKey(document.record, input, { limit: limitIn(document), taken }, now)
  if (decision.event === undefined) return { tenant, key, move: undefined, after: { document, rev }, events: [] }
  const after = { ...document, record: decision.key }
  return {
    tenant,
    key,
    move: { ...moveTo(key, rev, after, log, decision.events), on: text },
    after: { document: after, rev: rev + 1 },
    events: decision.events,
  }
}

/** The move that brings a key from a revision to this document. */
export const moveTo = (
  key: string,
  rev: number,
  document: KeyDocument,
  log: string | undefined,
  events: readonly KeyEvent[],
): KeyMove => ({
  key,
  rev,
  next: { gate: gateIn(document), text: encodeKey(document), log: encodeKeyLog(log, events) },
})

/** For each of a new job's keys, what the store is to know of it where it knows nothing; undefined where it has no flow. */
export function birthsOf({ spec }: Job): readonly KeyBirth[] | undefined {
  if (spec.flow === undefined) return undefined
  const births = birthsBy(spec.kind)
  return spec.flow.keys.map((key, i) => ({ key, ...(births[i] ?? UNSAID) }))
}

/** The same of the keys that admission has put a job under; undefined where it has not. */
export function birthsIn(events: readonly Event[]): readonly KeyBirth[] | undefined {
  for (const event of events) {
    if (event.type !== 'admitted' || event.payload.recast?.throttles === undefined) continue
    return event.payload.recast.throttles.map(({ key, rule, limit }) => ({
      key,
      ...(limit === undefined ? UNSAID : birthOf({ declared: limit, declaredBy: ruleName(rule) })),
    }))
  }
  return undefined
}

type Birth = Pick<KeyBirth, 'gate' | 'text'>

const known = new WeakMap<Kind, readonly Birth[]>()

/** The same for all keys that one type declares. */
function birthsBy(kind: Kind): readonly Birth[] {
  const before = known.get(kind)
  if (before !== undefined) return before
  const births = (kind.policy.limits ?? []).map((declared) => birthOf({ declared, declaredBy: kind.type }))
  known.set(kind, births)
  return births
}

function birthOf(said: Pick<KeyDocument, 'declared' | 'declaredBy'>): Birth {
  const document = { ...said, byHand: undefined, record: atRest('') }
  return { gate: gateIn(document), text: encodeKey(document) }
}

const UNSAID = birthOf({ declared: undefined })

const workingOf = ({ key, text, rev, log, count }: KeyView): Working => ({
  document: decodeKey(key, text),
  rev,
  text: undefined,
  log,
  taken: count.taken,
})

const UNKNOWN = (key: string): Working => ({
  document: { declared: undefined, byHand: undefined, record: atRest(key) },
  rev: 0,
  text: undefined,
  log: undefined,
  taken: 0,
})

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key])
