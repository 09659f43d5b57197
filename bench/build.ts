/**
 * pawl as it is published: JavaScript. Run from its sources, Node strips the types in every process and in every thread,
 * which was 40 % of the CPU of a drain of 40,000 jobs, and no peer pays that. As it is now; and, where it is to be compared
 * with what it was, as it was at another commit, with today's compiler and today's dependencies.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as busing from '../src/bus/bus.ts'
import type * as serving from '../src/gateway/serve.ts'
import type * as pawl from '../src/index.ts'
import type * as arrays from '../src/store/postgres/batch/arrays.ts'
import type * as migrating from '../src/store/postgres/schema/migrate.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Where nothing is measured, and it is only to be seen that everything runs: no build, the sources as they are. */
const FROM_SOURCES = process.env['PAWL_BENCH_SMOKE'] === '1'
/** Both below a folder that nobody commits or looks into; a build finds its packages above it. */
const BUILT = {
  now: FROM_SOURCES ? join(ROOT, 'src/') : fileURLToPath(new URL('./dist/', import.meta.url)),
  before: fileURLToPath(new URL('./dist/before/dist/', import.meta.url)),
} as const
const BEFORE = join(BUILT.before, '..')

export type Build = keyof typeof BUILT

export function build(): void {
  rmSync(BUILT.now, { recursive: true, force: true })
  compile(ROOT, BUILT.now)
}

/** After `build`, which empties the folder that both are in. */
export function buildBefore(commit: string): void {
  mkdirSync(BEFORE, { recursive: true })
  const parts = ['src', 'tsconfig.json', 'tsconfig.build.json', 'package.json']
  const archive = spawnSync('git', ['archive', '--format=tar', commit, ...parts], { cwd: ROOT, maxBuffer: 2 ** 30 })
  if (archive.status !== 0) throw new Error(`--against ${commit}: ${archive.stderr.toString().trim()}`)
  const { status } = spawnSync('tar', ['-x', '-C', BEFORE], { input: archive.stdout, stdio: ['pipe', 2, 2] })
  if (status !== 0) throw new Error(`--against ${commit}: tar failed`)
  compile(BEFORE, BUILT.before)
}

function compile(root: string, to: string): void {
  const bare = [
    '--declaration',
    'false',
    '--sourceMap',
    'false',
    '--inlineSources',
    'false',
    '--noEmitOnError',
    'false',
  ]
  const project = ['-p', 'tsconfig.build.json', '--outDir', to, ...bare]
  spawnSync(join(ROOT, 'node_modules/.bin/tsc'), project, { cwd: root, stdio: ['ignore', 2, 2] })
  if (!existsSync(join(to, 'index.js'))) throw new Error(`pawl does not build in ${root}`)
  for (const asset of globSync('**/*.{sql,lua}', { cwd: join(root, 'src') })) {
    cpSync(join(root, 'src', asset), join(to, asset))
  }
}

export const built = (which: Build = 'now') => load(which, 'index.js') as Promise<typeof pawl>
export const builtGateway = (which: Build) => load(which, 'gateway/serve.js') as Promise<typeof serving>
export const builtBus = (which: Build) => load(which, 'bus/bus.js') as Promise<typeof busing>
export const builtMigrate = () => load('now', 'store/postgres/schema/migrate.js') as Promise<typeof migrating>
export const builtArrays = () => load('now', 'store/postgres/batch/arrays.js') as Promise<typeof arrays>

const load = (which: Build, module: string): Promise<unknown> =>
  import(join(BUILT[which], FROM_SOURCES ? module.replace(/js$/, 'ts') : module))
