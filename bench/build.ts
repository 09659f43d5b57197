/**
 * pawl as it is published: JavaScript. Run from its sources, Node strips the types in every process and in every thread,
 * which was 40 % of the CPU of a drain of 40,000 jobs, and no peer pays that.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as serving from '../src/gateway/serve.ts'
import type * as pawl from '../src/index.ts'
import type * as arrays from '../src/store/postgres/arrays.ts'
import type * as migrating from '../src/store/postgres/migrate.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BUILT = fileURLToPath(new URL('./dist/', import.meta.url))

export function build(): void {
  rmSync(BUILT, { recursive: true, force: true })
  const bare = ['--declaration', 'false', '--sourceMap', 'false', '--inlineSources', 'false']
  const project = ['-p', 'tsconfig.build.json', '--outDir', BUILT, ...bare]
  spawnSync(join(ROOT, 'node_modules/.bin/tsc'), project, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  if (!existsSync(join(BUILT, 'index.js'))) throw new Error('pawl does not build')
  for (const asset of globSync('**/*.sql', { cwd: join(ROOT, 'src') })) {
    cpSync(join(ROOT, 'src', asset), join(BUILT, asset))
  }
}

export const built = (): Promise<typeof pawl> => load('index.js') as Promise<typeof pawl>
export const builtGateway = () => load('gateway/serve.js') as Promise<typeof serving>
export const builtMigrate = () => load('store/postgres/migrate.js') as Promise<typeof migrating>
export const builtArrays = () => load('store/postgres/arrays.js') as Promise<typeof arrays>

const load = (module: string): Promise<unknown> => import(join(BUILT, module))
