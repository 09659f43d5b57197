import { unreachable } from '../../../core/assert.ts'
import type { Answered, Asked, SettingRow, SettingRows } from '../protocol.ts'
import { turnQueue } from './hall/turn-queue.ts'
import type { Ledger } from './ledger.ts'
import { all, one, type Row } from './rows.ts'
import type { ReadStatements } from './statements.ts'

export const isSettingWrite = (asked: Asked<'settings'>): boolean =>
  asked.some(([op]) => op === 'put' || op === 'remove')

/** Operations of which none writes, for the reading thread. */
export function readSettings(
  { sql }: { readonly sql: ReadStatements },
  asked: Asked<'settings'>,
): Answered<'settings'> {
  return asked.map((row) => read(sql, row as ReadRow))
}

type ReadRow = Extract<SettingRow, readonly ['get' | 'list', ...unknown[]]>

function read(sql: ReadStatements, row: ReadRow): SettingRows {
  if (row[0] === 'get') {
    const [, collection, key] = row
    return documents(true, one(sql.setting, collection, key))
  }
  const [, collection, after, limit] = row
  return documents(true, ...all(sql.settings, collection, after, limit))
}

export function settings(ledger: Ledger, asked: Asked<'settings'>): Answered<'settings'> {
  return asked.map((row) => {
    const answer = setting(ledger, row)
    const [op, collection, key] = row
    if (collection === 'queue' && (op === 'put' || op === 'remove')) turnQueue(ledger, key)
    return answer
  })
}

function setting({ sql, now }: Ledger, row: SettingRow): SettingRows {
  switch (row[0]) {
    case 'get':
    case 'list':
      return read(sql, row)
    case 'put': {
      const [, collection, key, rev, text] = row
      const there = one(sql.setting, collection, key)
      const thereRev = revOf(there)
      if (rev !== null && rev !== thereRev) return documents(false, there)
      sql.putSetting.run(collection, key, thereRev + 1, now, text)
      return documents(true, [key, thereRev + 1, now, text])
    }
    case 'remove': {
      const [, collection, key, rev] = row
      const there = one(sql.setting, collection, key)
      if (rev !== null && rev !== revOf(there)) return documents(false, there)
      sql.removeSetting.run(collection, key)
      return documents(true)
    }
    default:
      return unreachable(row)
  }
}

/** 0: there is none. */
function revOf(there: Row | undefined): number {
  const [, rev] = there ?? []
  return typeof rev === 'number' ? rev : 0
}

const documents = (ok: boolean, ...rows: readonly (Row | undefined)[]): SettingRows => [
  ok,
  rows.filter((row) => row !== undefined) as readonly (readonly unknown[])[] as SettingRows[1],
]
