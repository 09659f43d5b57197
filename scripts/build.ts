import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `dist/`: JavaScript, declarations and source maps, and the files that are neither but belong to the code. */
const ASSETS = 'src/**/*.sql'

rmSync('dist', { recursive: true, force: true })
const run = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (run.status !== 0) process.exit(run.status ?? 1)
const assets = globSync(ASSETS)
for (const asset of assets)
  cpSync(asset, join('dist', dirname(asset).replace(/^src\/?/, ''), asset.split('/').at(-1) ?? ''))
console.log(`build: ${globSync('dist/**/*.js').length} modules, ${assets.length} other files in dist/`)
