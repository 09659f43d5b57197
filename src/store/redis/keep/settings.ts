import { original, storable } from '../../codec/text.ts'
import type { Setting, SettingAnswer, SettingOperation } from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { list, pairs, type Reply, word, words } from '../connection/reply.ts'
import { NONE } from '../job/job-text.ts'

type Listing = Extract<SettingOperation, { op: 'list' }>
type Single = Exclude<SettingOperation, Listing>

/** One after the other; those that follow each other and list nothing are one call. */
export function settings(calls: Calls, operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
  return calls.repeated(async () => {
    const answers: SettingAnswer[] = []
    for (let i = 0; i < operations.length; ) {
      const operation = operations[i] as SettingOperation
      if (operation.op === 'list') {
        answers.push(await listed(calls, operation))
        i += 1
        continue
      }
      const end = operations.findIndex(({ op }, n) => n > i && op === 'list')
      const some = operations.slice(i, end < 0 ? undefined : end) as readonly Single[]
      answers.push(...(await done(calls, some)))
      i += some.length
    }
    return answers
  })
}

async function done(calls: Calls, operations: readonly Single[]): Promise<readonly SettingAnswer[]> {
  const answer = await calls.call('settings', operations.flatMap(wordsOf))
  const now = calls.timeIn(answer)
  return answer.slice(1).map((reply, i) => {
    const [status, key, document] = list(reply)
    const isRemoval = operations[i]?.op === 'remove' && status === 'ok'
    const there = document === null || isRemoval ? [] : [settingIn(word(key), document)]
    return { now, status: status === 'ok' ? 'ok' : 'conflict', settings: there }
  })
}

function wordsOf(operation: Single): readonly string[] {
  const { op, collection, key } = operation
  const rev = op === 'get' || operation.rev === undefined ? NONE : String(operation.rev)
  const text = op === 'put' ? operation.text : ''
  return [op, collection, storable(key), rev, storable(text), collection === 'queue' && isPaused(text) ? '1' : '0']
}

/** The one thing that a store reads in a document (`queueKey`). */
function isPaused(text: string): boolean {
  try {
    const document: unknown = JSON.parse(text)
    return typeof document === 'object' && document !== null && 'paused' in document && document.paused === true
  } catch {
    return false
  }
}

async function listed(calls: Calls, { collection, after, limit }: Listing): Promise<SettingAnswer> {
  const answer = await calls.call('list', [collection, storable(after), String(limit)])
  const found = pairs(words(answer.slice(1))).map(([key, document]) => settingIn(key, document))
  return { now: calls.timeIn(answer), status: 'ok', settings: found }
}

function settingIn(key: string, document: Reply | undefined): Setting {
  const [, rev, updatedAt, text = ''] = /^(\d+) (\d+) (.*)$/s.exec(word(document)) ?? []
  return { key: original(key), text: original(text), rev: Number(rev), updatedAt: Number(updatedAt) }
}
