/** The message about a file that SQLite cannot read. */
export function damage(path: string, error: unknown): string {
  const what = error instanceof Error ? error.message : String(error)
  return `${path} is not a readable SQLite file, or not any more (${what}). ${remedy(path)} If it never was pawl's, name another file.`
}

export const remedy = (path: string): string =>
  `Stop whoever uses it and keep a copy; then restore it from a backup, or save what can be read: sqlite3 ${path} .recover | sqlite3 recovered.db.`
