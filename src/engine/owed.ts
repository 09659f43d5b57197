/**
 * What flow keys are owed: signals of ends that were committed without them. Each is noted before its end is committed, and taken off once
 * its key has heard it; should the process die in between, another finds the note. A note tells of nothing that has happened: whether the
 * end came about is in the job's log. One that is told twice counts once, for the key's document has whom it heard last.
 */
import { decodeKey } from '../core/flow/document.ts'
import type { Heard } from '../core/flow/heard.ts'
import type { Time } from '../core/job.ts'
import type { Setting, SettingOperation, Store } from '../store/store.ts'
import { changeKey, type KeyWordParts } from './key-words.ts'
import { logOf } from './log-of.ts'

export interface Owing {
  readonly tenant: string
  readonly heard: Heard
}

export type OwedParts = KeyWordParts & { readonly store: Pick<Store, 'commit' | 'settings' | 'events'> }

const PREFIX = 'owed/'
const PAGE = 100
/** A note that is younger may be of a process that is about to tell it. */
const PATIENCE_MS = 60_000
/** How many a key's document remembers to have heard behind their ends. */
const REMEMBERED = 100

export async function announce({ store }: Pick<OwedParts, 'store'>, owing: readonly Owing[]): Promise<void> {
  const put = (each: Owing): SettingOperation => ({
    op: 'put',
    collection: 'duty',
    key: keyOf(each),
    text: JSON.stringify(each),
    rev: undefined,
  })
  await store.settings(owing.map(put))
}

/** One key hears all that it is owed here, in one change. */
export async function tell(parts: OwedParts, together: readonly Owing[]): Promise<void> {
  const [first] = together
  if (first === undefined) return
  const { tenant } = first
  const { key } = first.heard
  await changeKey(parts, { tenant, key }, (view) => {
    if (view === undefined) return undefined
    const document = decodeKey(key, view.text)
    const before = document.heardBehind ?? []
    const news = together.filter((each) => !before.includes(nameOf(each)))
    const heardBehind = [...before, ...news.map(nameOf)].slice(-REMEMBERED)
    return { document: { ...document, heardBehind }, inputs: news.map(({ heard }) => heard.input) }
  })
  const remove = (each: Owing): SettingOperation => ({
    op: 'remove',
    collection: 'duty',
    key: keyOf(each),
    rev: undefined,
  })
  await parts.store.settings(together.map(remove))
}

/** Tells what processes that are gone still owed. */
export class Owed {
  readonly #parts: OwedParts

  constructor(parts: OwedParts) {
    this.#parts = parts
  }

  async round(now: Time): Promise<void> {
    const { store } = this.#parts
    const [page] = await store.settings([{ op: 'list', collection: 'duty', after: PREFIX, limit: PAGE }])
    const notes = (page?.settings ?? []).filter(({ key }) => key.startsWith(PREFIX))
    const old = notes.filter(({ updatedAt }) => now - updatedAt >= PATIENCE_MS)
    for (const note of old) await this.#settle(note)
  }

  async #settle({ key, text, rev }: Setting): Promise<void> {
    const owing = JSON.parse(text) as Owing
    if (await this.#cameAbout(owing)) await tell(this.#parts, [owing])
    else await this.#parts.store.settings([{ op: 'remove', collection: 'duty', key, rev }])
  }

  /** Whether the attempt has ended by the word that the key is to hear. */
  async #cameAbout({ heard }: Owing): Promise<boolean> {
    const { job, requestId } = heard.input.cause
    if (job === undefined) return false
    const log = await logOf(this.#parts.store, job)
    return log.some((event) => event.requestId === requestId)
  }
}

/** As JSON: names may have what no store keeps. */
const keyOf = (owing: Owing): string => `${PREFIX}${JSON.stringify([owing.tenant, owing.heard.key, nameOf(owing)])}`

const nameOf = ({ heard }: Owing): string => `${heard.input.cause.job}/${heard.input.cause.attempt}`
