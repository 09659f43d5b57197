import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isUnreadable } from './result-codes.ts'
import { one } from './rows.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'
import { prepare } from './statements.ts'

/** Why a file cannot be a store, in words for whoever named it. */
export class FileRefused extends Error {
  readonly code = 'STORE_FILE_REFUSED'
}

/** Throws `SQLITE_BUSY` where another process is opening the same file; then it is tried again. */
export function openFile(path: string): DatabaseSync {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    configure(db, path)
    migrate(db, path)
    return db
  } catch (error) {
    db.close()
    throw refusal(error, path)
  }
}

function configure(db: DatabaseSync, path: string): void {
  // Looked at before anything is written: a file that is somebody else's stays as it is.
  const tables = number(db, 'SELECT count(*) FROM sqlite_master')
  const owner = number(db, 'PRAGMA application_id')
  if (owner !== APPLICATION_ID && (owner !== 0 || tables > 0)) {
    throw new FileRefused(
      `${path} is an SQLite file of another program, or of a pawl that was never released. Name a file of pawl's own, or one that does not exist yet.`,
    )
  }
  const mode = one(prepare(db, 'PRAGMA journal_mode = WAL'))?.[0]
  if (path !== ':memory:' && mode !== 'wal') {
    throw new FileRefused(
      `${path} cannot be used with a write-ahead log (journal mode is ${mode}). Is it on a network file system?`,
    )
  }
  db.exec('PRAGMA synchronous = FULL')
  // Where a sync is less than that: macOS. Nothing elsewhere.
  db.exec('PRAGMA fullfsync = ON')
  db.exec('PRAGMA busy_timeout = 0')
  db.exec('PRAGMA foreign_keys = OFF')
  // Within noise in a drain: pages of 8 and 16 KiB (and a tenth slower for single inserts), a log of 64 MiB before a
  // checkpoint, mapped reads, temporary tables in memory. Without any sync a drain is a tenth faster, and no more.
  db.exec('PRAGMA cache_size = -65536')
  db.exec('PRAGMA wal_autocheckpoint = 4000')
  db.exec('PRAGMA journal_size_limit = 67108864')
}

function migrate(db: DatabaseSync, path: string): void {
  if (version(db, path) === MIGRATIONS.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the lock: somebody else may have been faster.
    for (let done = version(db, path); done < MIGRATIONS.length; done++) db.exec(MIGRATIONS[done] as string)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function version(db: DatabaseSync, path: string): number {
  const found = number(db, 'PRAGMA user_version')
  if (found > MIGRATIONS.length) {
    throw new FileRefused(
      `${path} was written by a newer pawl (schema ${found}, this one knows ${MIGRATIONS.length}). Use that version, or another file.`,
    )
  }
  return found
}

const number = (db: DatabaseSync, sql: string): number => one(prepare(db, sql))?.[0] as number

function refusal(error: unknown, path: string): unknown {
  if (isUnreadable(error)) {
    const what = error instanceof Error ? error.message : String(error)
    return new FileRefused(
      `${path} is not a readable SQLite file (${what}). Restore it from a backup, or name another file.`,
    )
  }
  return error
}
