import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A folder of the test's own, gone when it ends. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const ownFile = (): string => join(ownFolder(), 'jobs.db')

/** The same for all tests of a file. */
export function sharedFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-sqlite-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'jobs.db')
}
