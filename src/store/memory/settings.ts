import type { Time } from '../../core/job.ts'
import type { Setting, SettingAnswer, SettingOperation } from '../store.ts'
import { keep } from './keep.ts'
import type { Shelves } from './shelves.ts'

/** One operation on a small document. A write names the revision it replaces, 0 for none, or does not care. */
export function setting(shelves: Shelves, operation: SettingOperation, now: Time): SettingAnswer {
  const documents = shelves.settings.get(operation.collection) ?? new Map<string, Setting>()
  shelves.settings.set(operation.collection, documents)
  const ok = (...settings: readonly (Setting | undefined)[]): SettingAnswer => ({
    now,
    status: 'ok',
    settings: settings.filter((each) => each !== undefined),
  })
  if (operation.op === 'list') return ok(...page(documents, operation.after, operation.limit))

  const { key } = operation
  const there = documents.get(key)
  if (operation.op === 'get') return ok(there)
  if (operation.rev !== undefined && operation.rev !== (there?.rev ?? 0)) return { ...ok(there), status: 'conflict' }
  if (operation.op === 'remove') {
    documents.delete(key)
    return ok()
  }
  const written = keep({ key, text: operation.text, rev: (there?.rev ?? 0) + 1, updatedAt: now })
  documents.set(key, written)
  return ok(written)
}

function page(documents: ReadonlyMap<string, Setting>, after: string, limit: number): readonly Setting[] {
  const later = [...documents.values()].filter(({ key }) => key > after)
  return later.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit)
}
