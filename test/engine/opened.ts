import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import { redisMissing } from '../support/debian.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { freshPrefix } from '../support/redis.ts'

/** A store of each kind, empty and its own, by the URL a user would open it with. */
export interface Place extends AsyncDisposable {
  readonly url: string
}

export const PLACES: Readonly<Record<'memory' | 'sqlite' | 'postgres' | 'redis', () => Promise<Place>>> = {
  memory: async () => ({ url: 'memory:', [Symbol.asyncDispose]: async () => {} }),
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-engine-'))
    return {
      url: join(folder, 'jobs.db'),
      [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
  postgres: () => migratedDatabase(),
  redis: () => freshPrefix(),
}

/** Those that are to be had here. */
export const STORES = (Object.keys(PLACES) as (keyof typeof PLACES)[]).filter(
  (name) => name !== 'redis' || redisMissing() === undefined,
)

/** Services off: a test calls what it needs. Quiet: handlers of tests fail on purpose. */
export function openAt({ url }: Place, options: OpenOptions = {}): Promise<Pawl> {
  return open(url, { migrate: true, ticker: false, retention: false, log: 'silent', ...options })
}
