import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { realRandom } from '../../../system/random.ts'

/** The owner's alone: the fences of running jobs are in it, and whatever users have handed in. */
export const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/**
 * An empty file where there is none, and its folder. What SQLite keeps beside a file has the file's own mode. A file or a
 * folder that is there already keeps its mode: somebody may have opened it to others on purpose (`pawl doctor` says so).
 *
 * It is made under another name and linked: by its own name another thread could have opened it meanwhile, and closing a
 * descriptor of a file drops all locks that the process has on it, those of other connections too.
 */
export function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
  if (existsSync(path)) return
  const made = `${path}-${realRandom.hex64()}`
  writeFileSync(made, '', { mode: FILE_MODE, flag: 'wx' })
  try {
    linkSync(made, path)
  } catch {
    // Another process has made the file; or this file system has no links, and SQLite makes it with the process's usual mode.
  } finally {
    rmSync(made)
  }
}
