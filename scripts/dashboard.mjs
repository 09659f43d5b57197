/**
 * The dashboard: installs what it is made of, in a folder of its own, and builds it where the gateway looks for it. Once: as long as
 * nothing it is made of has changed, there is nothing to do. Plain JavaScript, like `prepare.mjs`, which begins it.
 *
 * Beside what runs, not in it: a gateway may be serving from this checkout meanwhile. The build is moved into its place whole.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = join(root, 'dashboard')
const modules = join(home, 'node_modules')
const built = join(home, 'dist')
const installStamp = join(modules, '.prepared')
const buildStamp = join(built, '.made-of')

const OWN = ['scripts/dashboard.mjs', 'dashboard/index.html', 'dashboard/vite.config.ts', 'dashboard/package-lock.json']

const only = process.argv[2]
install()
if (only !== 'install') build()

function install() {
  const lock = hashOf(['dashboard/package.json', 'dashboard/package-lock.json'])
  if (read(installStamp) === lock) return
  const since = performance.now()
  console.log('dashboard: npm installs what it is built with')
  run('npm', ['install', '--include=dev', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(installStamp, lock)
  console.log(`dashboard: installed in ${seconds(since)} s, ${Math.round(sizeOf(modules) / 1e6)} MB`)
}

function build() {
  const sources = hashOf(filesOf('dashboard/src', 'dashboard/public', 'src/gateway/contract', 'src/core').concat(OWN))
  if (read(buildStamp) === sources) return
  const since = performance.now()
  const making = join(home, `dist-${process.pid}`)
  run(process.execPath, [
    join(modules, 'vite', 'bin', 'vite.js'),
    'build',
    '--logLevel=warn',
    '--outDir',
    making,
    '--emptyOutDir',
  ])
  writeFileSync(join(making, '.made-of'), sources)
  rmSync(built, { recursive: true, force: true })
  renameSync(making, built)
  console.log(`dashboard: built in ${seconds(since)} s, ${Math.round(sizeOf(built) / 1e3)} kB`)
}

function run(program, args) {
  const npm = program === 'npm' ? process.env.npm_execpath : undefined
  const [command, all] = npm === undefined ? [program, args] : [process.execPath, [npm, ...args]]
  // What npm was told on the way here is not meant for this: `npm pack --dry-run` would install nothing.
  // And whoever tests does not build what is for tests: React would be twice as large, and slow.
  const env = { ...process.env, npm_config_dry_run: 'false', NODE_ENV: 'production' }
  const { status, error } = spawnSync(command, all, { cwd: home, stdio: ['ignore', 'inherit', 'inherit'], env })
  if (status === 0) return
  console.error(`dashboard: ${program} ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`)
  console.error('dashboard: everything else works without it; `npm run dashboard` tries again.')
  process.exit(1)
}

/** Whatever goes into it, by name and content. */
function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function filesOf(...folders) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name))),
  )
  return files.sort()
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(1)
}

/** Bytes on the disk. */
function sizeOf(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.reduce(
    (sum, entry) => sum + lstatSync(join(entry.parentPath ?? entry.path, entry.name)).blocks * 512,
    0,
  )
}
