/** What operators say to flow keys: load, decide, commit by revision, and again where somebody was faster. */
import { decideKey } from '../core/flow/decide.ts'
import { decodeKey, type KeyDocument, limitIn } from '../core/flow/document.ts'
import type { KeyEvent } from '../core/flow/event.ts'
import { atRest, type KeyCause } from '../core/flow/key.ts'
import type { Time } from '../core/job.ts'
import type { KeyView, Store } from '../store/store.ts'
import type { KeyWord } from './engine.ts'
import { type FlowKeys, moveTo } from './flow-keys.ts'

export interface KeyWordParts {
  readonly store: Pick<Store, 'commit'>
  readonly keys: Pick<FlowKeys, 'views' | 'forget'>
  readonly now: () => Time
}

const TRIES = 10

/** The key as it is then; undefined where nobody has ever heard of it, and the word does not make it. */
export async function sayToKey(parts: KeyWordParts, word: KeyWord): Promise<KeyView | undefined> {
  const { tenant, key } = word
  for (let n = 0; n < TRIES; n += 1) {
    const [view] = await parts.keys.views(tenant, [key])
    if (view === undefined && word.ask.type !== 'set') return undefined
    const before = view === undefined ? nothingKnown(key) : decodeKey(key, view.text)
    const { document, events } = spoken(before, word, view?.count.taken ?? 0, parts.now())
    const move = moveTo(key, view?.rev ?? 0, document, view?.log, events)
    const { verdicts } = await parts.store.commit([{ kind: 'key', tenant, move }])
    const [verdict] = verdicts
    if (verdict?.status === 'applied') return (await parts.keys.views(tenant, [key]))[0]
    if (verdict?.status === 'rejected') throw new Error(`Key ${key}: ${verdict.field} ${verdict.rule}.`)
    parts.keys.forget(tenant, key)
  }
  throw new Error(`Key ${key} was changed by others ${TRIES} times in a row.`)
}

interface Spoken {
  readonly document: KeyDocument
  readonly events: readonly KeyEvent[]
}

function spoken(before: KeyDocument, { ask, actor, requestId }: KeyWord, taken: number, now: Time): Spoken {
  const cause: KeyCause = { job: undefined, attempt: undefined, code: undefined, actor, requestId }
  const byHand = ask.type === 'set' ? ask.limit : ask.type === 'unset' ? undefined : before.byHand
  const document = { ...before, byHand }
  const type = ask.type === 'unset' ? 'set' : ask.type
  const { key, event } = decideKey(document.record, { type, cause }, { limit: limitIn(document), taken }, now)
  return { document: { ...document, record: key }, events: event === undefined ? [] : [event] }
}

const nothingKnown = (key: string): KeyDocument => ({ declared: undefined, byHand: undefined, record: atRest(key) })
