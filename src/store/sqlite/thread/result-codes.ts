/** What SQLite says went wrong, by its primary result codes. */
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = 11
const SQLITE_TOOBIG = 18
const SQLITE_CONSTRAINT = 19
const SQLITE_MISMATCH = 20
const SQLITE_RANGE = 25
const SQLITE_NOTADB = 26

/** The primary result code of an error that SQLite reported. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

export const isBusy = (error: unknown): boolean => sqliteCode(error) === SQLITE_BUSY

/** The fault of the row, not of the file: its neighbours are none the worse for it. */
export function isUnkeepable(error: unknown): boolean {
  const code = sqliteCode(error)
  if (code === undefined) return true
  return code === SQLITE_TOOBIG || code === SQLITE_CONSTRAINT || code === SQLITE_MISMATCH || code === SQLITE_RANGE
}

export function isUnreadable(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === SQLITE_NOTADB || code === SQLITE_CORRUPT
}
