/** What operators say to flow keys: load, decide, commit by revision, and again where somebody was faster. */
import { decideKey } from '../core/flow/decide.ts'
import { decodeKey, type KeyDocument, limitIn } from '../core/flow/document.ts'
import type { KeyEvent } from '../core/flow/event.ts'
import { atRest, type KeyCause, type KeyCircumstances, type KeyRecord } from '../core/flow/key.ts'
import type { KeyInput } from '../core/flow/signal.ts'
import { fraction } from '../core/hash.ts'
import type { Time } from '../core/job.ts'
import type { KeyView, Store } from '../store/store.ts'
import type { Timers } from '../system/timers.ts'
import type { KeyWord } from './engine.ts'
import { type FlowKeys, moveTo } from './flow-keys.ts'
import { noteKeyholder } from './keyholders.ts'

export interface KeyWordParts {
  readonly store: Pick<Store, 'commit' | 'settings'>
  readonly keys: Pick<FlowKeys, 'views' | 'forget' | 'tell'>
  readonly timers: Pick<Timers, 'sleep'>
  readonly now: () => Time
}

/** With the pauses in between some ten seconds: jobs that end under a key that is pushed back change it all the time. */
const TRIES = 100
const LONGEST_PAUSE_MS = 200

/** The key as it is then; undefined where nobody has ever heard of it, and the word does not make it. */
export function sayToKey(parts: KeyWordParts, word: KeyWord): Promise<KeyView | undefined> {
  const { tenant, key, ask, actor, requestId } = word
  const cause: KeyCause = { job: undefined, attempt: undefined, code: undefined, actor, requestId }
  return changeKey(parts, { tenant, key }, (view) => {
    if (view === undefined && ask.type !== 'set') return undefined
    const before = view === undefined ? nothingKnown(key) : decodeKey(key, view.text)
    const byHand = ask.type === 'set' ? ask.limit : ask.type === 'unset' ? undefined : before.byHand
    const type = ask.type === 'unset' ? 'set' : ask.type
    return { document: { ...before, byHand }, inputs: [{ type, cause }] }
  })
}

/** What is to become of a key: its document, and what it hears, in order. */
export interface KeyChange {
  readonly document: KeyDocument
  readonly inputs: readonly KeyInput[]
}

/** The key as it is once it was changed; undefined where there is none, and none is made. */
export async function changeKey(
  parts: KeyWordParts,
  { tenant, key }: { readonly tenant: string; readonly key: string },
  changed: (view: KeyView | undefined) => KeyChange | undefined | Promise<KeyChange | undefined>,
): Promise<KeyView | undefined> {
  for (let n = 0; n < TRIES; n += 1) {
    const [view] = await parts.keys.views(tenant, [key])
    const change = await changed(view)
    if (change === undefined) return undefined
    const { document, inputs } = change
    const limitBefore = view && limitIn(decodeKey(key, view.text))
    const around = { limit: limitIn(document), limitBefore, taken: view?.count.taken ?? 0 }
    const { record, events } = heardBy(document.record, inputs, around, parts.now())
    if (events.length === 0) return view
    // There may be no job that would tell of its tenant.
    if (view === undefined) await noteKeyholder(parts.store, tenant)
    const move = moveTo(key, view?.rev ?? 0, { ...document, record }, view?.log, events)
    const { verdicts } = await parts.store.commit([{ kind: 'key', tenant, move }])
    const [verdict] = verdicts
    if (verdict?.status === 'applied') {
      for (const event of events) parts.keys.tell(tenant, event, record)
      return (await parts.keys.views(tenant, [key]))[0]
    }
    if (verdict?.status === 'rejected') throw new Error(`Key ${key}: ${verdict.field} ${verdict.rule}.`)
    parts.keys.forget(tenant, key)
    await parts.timers.sleep(pauseMs(n, `${key}/${inputs[0]?.cause.requestId}`))
  }
  throw new Error(`Key ${key} was changed by others ${TRIES} times in a row.`)
}

function heardBy(before: KeyRecord, inputs: readonly KeyInput[], around: KeyCircumstances, now: Time) {
  const events: KeyEvent[] = []
  let record = before
  for (const input of inputs) {
    const decision = decideKey(record, input, around, now)
    record = decision.key
    events.push(...decision.events)
  }
  return { record, events }
}

/** Longer with each, and different for any two who met: else they meet again. */
const pauseMs = (conflicts: number, name: string): number =>
  Math.min(2 ** conflicts, LONGEST_PAUSE_MS) * (0.25 + 0.75 * fraction(`${name}/${conflicts}`))

const nothingKnown = (key: string): KeyDocument => ({ declared: undefined, byHand: undefined, record: atRest(key) })
