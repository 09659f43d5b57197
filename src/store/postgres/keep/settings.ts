/** Small documents, compare-and-swap by rev. A queue's document is the only one that is read here: whether it is paused. */
import { original, storable } from '../../codec/text.ts'
import type { Setting, SettingAnswer, SettingOperation } from '../../store.ts'
import type { Statements } from '../connection/statements.ts'
import { keyText, named } from '../enqueue/new-row.ts'
import { queueRow, type Run } from '../names/kinds.ts'

export async function settings(
  run: Run,
  statements: Statements,
  operations: readonly SettingOperation[],
  sawClock: (now: number) => number,
): Promise<readonly SettingAnswer[]> {
  if (operations.length === 0) return []
  const [row] = await run(statements.settings, [JSON.stringify(operations.map(operationRow))])
  const now = sawClock(Number(row?.[0]))
  return (JSON.parse(String(row?.[1])) as [boolean, Found[]][]).map(([fine, found]) => ({
    now,
    status: fine ? 'ok' : 'conflict',
    settings: found.map(settingOf),
  }))
}

type Found = readonly [key: string, name: string | null, text: string, rev: number, updatedAt: number]

const settingOf = ([key, name, text, rev, updatedAt]: Found): Setting => ({
  key: original(name ?? key),
  text: original(text),
  rev,
  updatedAt,
})

function operationRow(operation: SettingOperation): object {
  const { op, collection: c } = operation
  if (op === 'list') return { o: 'l', c, a: keyText(operation.after), m: operation.limit }
  const key = { c, ...named(operation.key) }
  if (op === 'get') return { o: 'g', ...key }
  const queue = c === 'queue' ? queueOf(operation.key) : undefined
  if (op === 'remove') return { o: 'r', ...key, r: operation.rev, ...queue }
  return {
    o: 'p',
    ...key,
    t: storable(operation.text),
    r: operation.rev,
    ...queue,
    ...(queue && { z: isPaused(operation.text) }),
  }
}

/** The queues whose documents these operations write: workers that serve them are hinted at, since a pause may have ended. */
export const queuesWritten = (operations: readonly SettingOperation[]): readonly (readonly [string, string])[] =>
  operations.flatMap((each) =>
    each.collection === 'queue' && (each.op === 'put' || each.op === 'remove') ? (namesIn(each.key) ?? []) : [],
  )

/** The queue a document is about; undefined where the key is not one of `queueKey`. */
function queueOf(key: string): { h: string; tn: string; q: string } | undefined {
  const [names] = namesIn(key) ?? []
  if (names === undefined) return undefined
  const { h, t, q } = queueRow(...names)
  return { h, tn: t, q }
}

function namesIn(key: string): readonly [readonly [tenant: string, queue: string]] | undefined {
  const names = parsedOr(key)
  if (!Array.isArray(names) || names.length !== 2) return undefined
  const [tenant, queue] = names as readonly unknown[]
  return typeof tenant === 'string' && typeof queue === 'string' ? [[tenant, queue]] : undefined
}

function isPaused(text: string): boolean {
  const document = parsedOr(text)
  return typeof document === 'object' && document !== null && 'paused' in document && document.paused === true
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
