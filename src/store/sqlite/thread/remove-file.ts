import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy, isUnreadable } from './result-codes.ts'

/**
 * Removes a store's file with all that is in it, and answers whether it did: not while a process has the store open. Leaving the
 * write-ahead log needs the file for oneself, and every process that has the store open is in that log. SQLite notices processes
 * that ended without a word, too, which a file with a process id beside it would not.
 */
export function removeFile(path: string): boolean {
  if (!existsSync(path)) return true
  if (isOpenElsewhere(path)) return false
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  return true
}

function isOpenElsewhere(path: string): boolean {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = DELETE')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    // A file that SQLite cannot read is open in no process.
    if (isUnreadable(error)) return false
    throw error
  } finally {
    db.close()
  }
}
