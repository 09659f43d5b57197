/** What operators say to flow keys: load, decide, commit by revision, and again where somebody was faster. */
import { decideKey } from '../core/flow/decide.ts'
import { decodeKey, type KeyDocument, limitIn } from '../core/flow/document.ts'
import { atRest, type KeyCause } from '../core/flow/key.ts'
import type { KeyInput } from '../core/flow/signal.ts'
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
export function sayToKey(parts: KeyWordParts, word: KeyWord): Promise<KeyView | undefined> {
  const { tenant, key, ask, actor, requestId } = word
  const cause: KeyCause = { job: undefined, attempt: undefined, code: undefined, actor, requestId }
  return changeKey(parts, { tenant, key }, (view) => {
    if (view === undefined && ask.type !== 'set') return undefined
    const before = view === undefined ? nothingKnown(key) : decodeKey(key, view.text)
    const byHand = ask.type === 'set' ? ask.limit : ask.type === 'unset' ? undefined : before.byHand
    const type = ask.type === 'unset' ? 'set' : ask.type
    return { document: { ...before, byHand }, input: { type, cause } }
  })
}

/** What is to become of a key: its document, and what it hears of that. */
export interface KeyChange {
  readonly document: KeyDocument
  readonly input: KeyInput
}

/** The key as it is once it was changed; undefined where there is nothing to change. */
export async function changeKey(
  parts: KeyWordParts,
  { tenant, key }: { readonly tenant: string; readonly key: string },
  changed: (view: KeyView | undefined) => KeyChange | undefined,
): Promise<KeyView | undefined> {
  for (let n = 0; n < TRIES; n += 1) {
    const [view] = await parts.keys.views(tenant, [key])
    const change = changed(view)
    if (change === undefined) return undefined
    const { document, input } = change
    const around = { limit: limitIn(document), taken: view?.count.taken ?? 0 }
    const { key: record, event } = decideKey(document.record, input, around, parts.now())
    const events = event === undefined ? [] : [event]
    const move = moveTo(key, view?.rev ?? 0, { ...document, record }, view?.log, events)
    const { verdicts } = await parts.store.commit([{ kind: 'key', tenant, move }])
    const [verdict] = verdicts
    if (verdict?.status === 'applied') return (await parts.keys.views(tenant, [key]))[0]
    if (verdict?.status === 'rejected') throw new Error(`Key ${key}: ${verdict.field} ${verdict.rule}.`)
    parts.keys.forget(tenant, key)
  }
  throw new Error(`Key ${key} was changed by others ${TRIES} times in a row.`)
}

const nothingKnown = (key: string): KeyDocument => ({ declared: undefined, byHand: undefined, record: atRest(key) })
