import { DatabaseSync } from 'node:sqlite'
import { damage } from './damage.ts'
import { makeFile } from './make-file.ts'
import { OpenFile } from './open-file.ts'
import { isUnreadable } from './result-codes.ts'
import { one } from './rows.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

/** A file that cannot be a store; its message tells the user who named it why. */
export class UnusableFile extends Error {
  readonly code = 'STORE_FILE_REFUSED'
}

/** Throws `SQLITE_BUSY` where another process is opening the same file; then it is tried again. */
export function openFile(path: string): OpenFile {
  makeFile(path)
  return opened(path, new DatabaseSync(path, { timeout: 0 }), (file) => {
    configure(file, path)
    migrate(file, path)
  })
}

/** A second connection to a file that is open already: it can be neither made nor changed by it. */
export function openToRead(path: string): OpenFile {
  return opened(path, new DatabaseSync(path, { timeout: 0, readOnly: true }), ({ db }) => {
    db.exec('PRAGMA busy_timeout = 0')
    db.exec('PRAGMA cache_size = -16384')
  })
}

function opened(path: string, db: DatabaseSync, prepare: (file: OpenFile) => void): OpenFile {
  const file = new OpenFile(db)
  try {
    prepare(file)
    return file
  } catch (error) {
    file.close()
    throw isUnreadable(error) ? new UnusableFile(damage(path, error)) : error
  }
}

function configure(file: OpenFile, path: string): void {
  const { db } = file
  // Looked at before anything is written: a file of another program stays as it is.
  const tables = number(file, 'SELECT count(*) FROM sqlite_master')
  const owner = number(file, 'PRAGMA application_id')
  if (owner !== APPLICATION_ID && (owner !== 0 || tables > 0)) {
    throw new UnusableFile(
      `${path} is an SQLite file of another program, or of a pawl that was never released. Name a file of pawl's own, or one that does not exist yet.`,
    )
  }
  const mode = one(file.prepare('PRAGMA journal_mode = WAL'))?.[0]
  if (mode !== 'wal') {
    throw new UnusableFile(
      `${path} cannot be used with a write-ahead log (journal mode is ${mode}). Is it on a network file system?`,
    )
  }
  db.exec('PRAGMA synchronous = FULL')
  // On macOS fsync does not reach the disk without it. Elsewhere it changes nothing.
  db.exec('PRAGMA fullfsync = ON')
  db.exec('PRAGMA busy_timeout = 0')
  db.exec('PRAGMA foreign_keys = OFF')
  // Within noise in a drain: pages of 8 and 16 KiB (and a tenth slower for single inserts), a log of 64 MiB before a
  // checkpoint, mapped reads, temporary tables in memory. Without any sync a drain is a tenth faster, and no more.
  db.exec('PRAGMA cache_size = -65536')
  db.exec('PRAGMA wal_autocheckpoint = 4000')
  db.exec('PRAGMA journal_size_limit = 67108864')
}

function migrate(file: OpenFile, path: string): void {
  const { db } = file
  if (version(file, path) === MIGRATIONS.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the lock: another process may have migrated the file meanwhile.
    for (let done = version(file, path); done < MIGRATIONS.length; done++) db.exec(MIGRATIONS[done] as string)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function version(file: OpenFile, path: string): number {
  const found = number(file, 'PRAGMA user_version')
  if (found > MIGRATIONS.length) {
    throw new UnusableFile(
      `${path} was written by a newer pawl (schema ${found}, this one knows ${MIGRATIONS.length}). Use that version, or another file.`,
    )
  }
  return found
}

const number = (file: OpenFile, sql: string): number => one(file.prepare(sql))?.[0] as number
