import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `dist/`: JavaScript, declarations, source maps, the files that are neither but belong to the code, the examples. */
const ASSETS = 'src/**/*.sql'
const EXAMPLES = 'examples/*'

rmSync('dist', { recursive: true, force: true })
const run = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (run.status !== 0) process.exit(run.status ?? 1)
const assets = globSync(ASSETS)
for (const asset of assets)
  cpSync(asset, join('dist', dirname(asset).replace(/^src\/?/, ''), asset.split('/').at(-1) ?? ''))
const examples = globSync(EXAMPLES)
mkdirSync('dist/examples')
// Here they run on the sources; whoever reads them in the package copies them into a project that has installed it.
for (const example of examples)
  writeFileSync(join('dist', example), readFileSync(example, 'utf8').replaceAll("'../src/index.ts'", "'pawl'"))
console.log(
  `build: ${globSync('dist/**/*.js').length} modules, ${assets.length} other files, ${examples.length} examples in dist/`,
)
