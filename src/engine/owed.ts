/**
 * What flow keys are owed: signals of ends that were committed without them. Each is noted before its end is committed, and taken off once
 * its key has heard it; should the process die in between, another finds the note. A note tells of nothing that has happened: whether the
 * end came about, and when, is in the job's log. One that is told twice counts once, for the key's document has whom it heard.
 */
import { decodeKey } from '../core/flow/document.ts'
import type { Heard } from '../core/flow/heard.ts'
import { agedOf, heardLate, newsOf, type Telling } from '../core/flow/late.ts'
import type { Time } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { KeyView, Setting, SettingOperation, Store } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { changeKey, type KeyChange, type KeyWordParts } from './key-words.ts'
import { logOf } from './log-of.ts'

export interface Owing {
  readonly tenant: string
  readonly heard: Heard
}

/** Its attempt has ended by the word that the key is to hear. */
export interface Ended extends Owing {
  readonly endedAt: Time
}

export type OwedParts = KeyWordParts & { readonly store: Pick<Store, 'commit' | 'settings' | 'events'> }

const PREFIX = 'owed/'
const PAGE = 100
/** A note that is younger may be of a process that is about to tell it: it tries for some ten seconds. */
const PATIENCE_MS = 30_000
/** An end that has not come about by then does not come any more. Sooner, its process may be held up: without its note nobody is told. */
const UNDER_WAY_MS = 600_000

export async function announce({ store }: Pick<OwedParts, 'store'>, owing: readonly Owing[]): Promise<void> {
  const put = (each: Owing): SettingOperation => ({
    op: 'put',
    collection: 'duty',
    key: noteOf(each),
    text: JSON.stringify({ tenant: each.tenant, heard: each.heard }),
    rev: undefined,
  })
  await store.settings(owing.map(put))
}

/** One key hears all that it is owed here, in one change. */
export async function tell(parts: OwedParts, together: readonly Ended[]): Promise<void> {
  const [first] = together
  if (first === undefined) return
  const { tenant } = first
  const { key } = first.heard
  await changeKey(parts, { tenant, key }, (view) => changeBy(parts, together, view))
  const remove = (each: Ended): SettingOperation => ({
    op: 'remove',
    collection: 'duty',
    key: noteOf(each),
    rev: undefined,
  })
  await parts.store.settings(together.map(remove))
}

async function changeBy(
  parts: OwedParts,
  together: readonly Ended[],
  view: KeyView | undefined,
): Promise<KeyChange | undefined> {
  const [first] = together
  if (view === undefined || first === undefined) return undefined
  const { tenant, heard } = first
  const document = decodeKey(heard.key, view.text)
  const before = document.heardBehind ?? []
  const told = together.map(
    (each): Telling => ({ name: nameOf(each), signal: each.heard.input, endedAt: each.endedAt }),
  )
  // Only now: a note that is there was not told, and forgotten, before the key was read.
  const names = [...told.map(({ name }) => name), ...agedOf(before, told.length)]
  const noted = await notedOf(parts, names, (name) => noteKey(tenant, heard.key, name))
  const { news, remembered } = newsOf(before, told, noted)
  const now = parts.now()
  const inputs = news.flatMap(
    ({ signal, endedAt }) => heardLate(signal, Math.max(0, now - endedAt), document.record.level) ?? [],
  )
  return { document: { ...document, heardBehind: remembered }, inputs }
}

async function notedOf(
  { store }: Pick<OwedParts, 'store'>,
  names: readonly string[],
  keyOf: (name: string) => string,
): Promise<ReadonlySet<string>> {
  const answers = await store.settings(names.map((name) => ({ op: 'get', collection: 'duty', key: keyOf(name) })))
  return new Set(names.filter((_, i) => answers[i]?.settings.length === 1))
}

/**
 * Tells what processes that are gone still owed: a page of notes a round, in order, and from the front again after the last. A key that
 * is not to be had (somebody changes it all the time) takes ten seconds to find out, so its tenant waits for the next walk, and
 * nobody else does.
 */
export class Owed {
  readonly #parts: OwedParts & { readonly log: Log }
  #after = PREFIX
  /** Tenants who wait for the next walk. */
  readonly #later = new Set<string>()

  constructor(parts: OwedParts & { readonly log: Log }) {
    this.#parts = parts
  }

  /** The next round begins at the front. */
  get isAtItsEnd(): boolean {
    return this.#after === PREFIX
  }

  async round(now: Time, signal?: AbortSignal): Promise<void> {
    const { store, log } = this.#parts
    if (this.isAtItsEnd) this.#later.clear()
    const [page] = await store.settings([{ op: 'list', collection: 'duty', after: this.#after, limit: PAGE }])
    const notes = (page?.settings ?? []).filter(({ key }) => key.startsWith(PREFIX))
    this.#after = notes.length < PAGE ? PREFIX : (notes.at(-1)?.key ?? PREFIX)
    const old = notes.filter(({ updatedAt }) => now - updatedAt >= PATIENCE_MS)
    for (const [about, together] of Map.groupBy(old, aboutOf)) {
      const [tenant = ''] = JSON.parse(about) as readonly string[]
      if (signal?.aborted || this.#later.has(tenant)) continue
      try {
        await this.#settle(together, now)
      } catch (error) {
        this.#later.add(tenant)
        const fields = { about, attempts: together.length, reason: reasonOf(error) }
        log.warn('a key is still owed how attempts under it ended', fields)
      }
    }
  }

  /** Of one key. */
  async #settle(notes: readonly Setting[], now: Time): Promise<void> {
    const ended: Ended[] = []
    for (const { key, text, rev, updatedAt } of notes) {
      const owing = JSON.parse(text) as Owing
      const endedAt = await this.#endedAt(owing)
      if (endedAt !== undefined) ended.push({ ...owing, endedAt })
      else if (now - updatedAt >= UNDER_WAY_MS)
        await this.#parts.store.settings([{ op: 'remove', collection: 'duty', key, rev }])
    }
    await tell(
      this.#parts,
      ended.toSorted((a, b) => a.endedAt - b.endedAt),
    )
  }

  /** When the attempt has ended by the word that the key is to hear; undefined where it has not. */
  async #endedAt({ heard }: Owing): Promise<Time | undefined> {
    const { job, requestId } = heard.input.cause
    if (job === undefined) return undefined
    const log = await logOf(this.#parts.store, job)
    return log.find((event) => event.requestId === requestId)?.at
  }
}

/** As JSON: names may have what no store keeps. */
const noteKey = (tenant: string, key: string, name: string): string => `${PREFIX}${JSON.stringify([tenant, key, name])}`

const noteOf = (owing: Owing): string => noteKey(owing.tenant, owing.heard.key, nameOf(owing))

/** Its tenant and its key, as the name of the note has them. */
function aboutOf({ key }: Setting): string {
  const [tenant, name] = JSON.parse(key.slice(PREFIX.length)) as readonly string[]
  return JSON.stringify([tenant, name])
}

const nameOf = ({ heard }: Owing): string => `${heard.input.cause.job}/${heard.input.cause.attempt}`
