import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ledgerFiles, sqlFiles } from '../src/store/postgres/schema/files.ts'
import { luaFiles } from '../src/store/redis/script/files.ts'

/** `dist/`: JavaScript, declarations, source maps, the dashboard, the examples. */
const EXAMPLES = 'examples/**/*.*'

rmSync('dist', { recursive: true, force: true })
const run = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (run.status !== 0) process.exit(run.status ?? 1)
// Modules like any other to whoever bundles them, with nothing beside them to be left behind.
const schema = sqlFiles()
const ledger = ledgerFiles()
const scripts = luaFiles()
embed('dist/store/postgres/schema/files.js', { sqlFiles: schema, ledgerFiles: ledger })
embed('dist/store/redis/script/files.js', { luaFiles: scripts })
const dashboard = spawnSync(process.execPath, ['scripts/dashboard.mjs'], { stdio: ['ignore', 2, 2] })
if (dashboard.status !== 0) process.exit(dashboard.status ?? 1)
cpSync('dashboard/dist', 'dist/dashboard', { recursive: true, filter: (path) => !path.endsWith('.made-of') })
const examples = globSync(EXAMPLES)
// Here they run on the sources; whoever reads them in the package copies them into a project that has installed it.
for (const example of examples) {
  mkdirSync(dirname(join('dist', example)), { recursive: true })
  writeFileSync(join('dist', example), readFileSync(example, 'utf8').replaceAll("'../src/index.ts'", "'pawl'"))
}
console.log(
  `build: ${globSync('dist/**/*.js').length} modules, ${schema.size + ledger.size} files of schemas, ${scripts.size} of scripts, ${examples.length} examples in dist/`,
)

/** Each under the name of the function that answers with it. */
function embed(module: string, maps: Readonly<Record<string, ReadonlyMap<string, string>>>): void {
  const texts = Object.entries(maps).map(([name, files], n) => {
    const text = JSON.stringify([...files], undefined, 2)
    return `const FILES_${n} = new Map(${text})\nexport const ${name} = () => FILES_${n}\n`
  })
  writeFileSync(module, texts.join(''))
  rmSync(`${module}.map`)
}
