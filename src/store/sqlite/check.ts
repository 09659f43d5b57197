/**
 * Is a file sound, and who may read it? For `pawl verify` and `pawl doctor`: a look at every page by SQLite itself, on a connection
 * of its own that cannot write, table by table.
 */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { damage, remedy } from './thread/damage.ts'
import { FILE_MODE } from './thread/make-file.ts'
import { OpenFile } from './thread/open-file.ts'
import { isUnreadable } from './thread/result-codes.ts'
import { all } from './thread/rows.ts'

/** What is wrong with each table, in SQLite's words, and what to do; none where the file is sound. */
export interface Damage {
  readonly tables: Readonly<Record<string, string>>
  readonly next: string
}

/** `looked` hears of each table that was found sound or not. */
export function damageOf(path: string, looked: (tables: number) => void = () => {}): Damage | undefined {
  const file = new OpenFile(new DatabaseSync(path, { readOnly: true }))
  const tables: Record<string, string> = {}
  try {
    const names = all(file.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`))
    for (const [n, [name]] of names.entries()) {
      const found = wrongWith(file, String(name))
      if (found !== undefined) tables[String(name)] = found
      looked(n + 1)
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    tables['sqlite_master'] = damage(path, error)
  } finally {
    file.close()
  }
  return Object.keys(tables).length === 0 ? undefined : { tables, next: remedy(path) }
}

/** The first of it: one broken page has many consequences. */
function wrongWith(file: OpenFile, table: string): string | undefined {
  try {
    const [first] = all(file.prepare(`PRAGMA quick_check('${table.replaceAll("'", "''")}')`))
    return first?.[0] === 'ok' ? undefined : String(first?.[0])
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

/** Those of the file, and the files SQLite keeps beside it, that others than their owner may read or write. */
export function openToOthers(path: string): readonly string[] {
  return [path, `${path}-wal`, `${path}-shm`].filter((each) => {
    const mode = statSync(each, { throwIfNoEntry: false })?.mode ?? 0
    return process.platform !== 'win32' && (mode & 0o777 & ~FILE_MODE) !== 0
  })
}
