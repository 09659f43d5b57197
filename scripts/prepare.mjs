/**
 * Installs what the next script needs: `run` for `npm start`, `all` for whatever tests, measures or builds. Plain
 * JavaScript for the machine's own Node, whichever that is: what comes after it runs on one that suffices.
 *
 * `npm ci` would do, were every lock file complete; one that was written where a registry lacks the packages of some
 * platform is not, and `npm ci` then refuses everywhere. `--no-save` leaves the lock file as it is all the same.
 *
 * The dashboard has a folder of its own (`dashboard.mjs`). For `npm start` it is made while the gateway already serves.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.prepared')
const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The sources run as they are, types and `await using` included, since this version. */
const NODE_SINCE = 24
const ownNode = Number(process.versions.node.split('.')[0]) < NODE_SINCE

const parts = {
  run: {
    what: 'what running needs',
    names: [...Object.keys(dependencies), ...(ownNode ? ['node'] : [])],
    // As if it were needed at run time, for this once: nothing else among the development dependencies is.
    args: ['--omit=dev', ...(ownNode ? ['--save-prod', `node@${devDependencies.node}`] : [])],
  },
  all: { what: 'everything', names: Object.keys({ ...dependencies, ...devDependencies }), args: [] },
}

const asked = process.argv[2] === 'run' ? 'run' : 'all'
const before = stamp()
if (!(before.lock === lockHash() && isThere(asked) && (before.part === 'all' || asked === 'run'))) {
  // Whoever had everything keeps everything: the tests of a clone are not taken away by a look at the demo.
  install(before.part === 'all' ? 'all' : asked)
}

if (asked === 'run') {
  // Not waited for: whoever opens the page before it is there is told so.
  spawn(nodeThatSuffices(), ['scripts/dashboard.mjs'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }).unref()
} else {
  const { status } = spawnSync(nodeThatSuffices(), ['scripts/dashboard.mjs', 'install'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}

/** The one that was just installed, where the machine's own is older. */
function nodeThatSuffices() {
  const own = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  return ownNode && existsSync(own) ? own : process.execPath
}

function install(part) {
  const { what, args } = parts[part]
  const since = performance.now()
  const extra = part === 'run' && ownNode ? `, and Node ${devDependencies.node}: this is ${process.versions.node}` : ''
  console.log(`prepare: npm installs ${what}${extra}`)
  run(['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', ...args])
  if (!isThere(part)) fail(`npm ran, but these are missing: ${missing(part).join(', ')}`)
  // Before it runs anything.
  const verified = spawnSync(process.execPath, ['scripts/verify-node.mjs'], { cwd: root, stdio: 'inherit' })
  if (verified.status !== 0) process.exit(1)
  writeFileSync(stampFile, JSON.stringify({ part, lock: lockHash() }))
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  console.log(`prepare: done in ${seconds} s; node_modules has ${Math.round(sizeOf(modules) / 1e6)} MB`)
}

function run(args) {
  const npm = process.env.npm_execpath
  // What npm was told on the way here is not meant for this: `npm pack --dry-run` would install nothing.
  const env = { ...process.env, npm_config_dry_run: 'false' }
  const options = { cwd: root, stdio: 'inherit', env }
  const { status, error } = npm ? spawnSync(process.execPath, [npm, ...args], options) : spawnSync('npm', args, options)
  if (status !== 0) fail(`npm ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`)
}

function fail(why) {
  console.error(`prepare: ${why}`)
  process.exit(1)
}

function missing(part) {
  return parts[part].names.filter((name) => !existsSync(join(modules, name, 'package.json')))
}

function isThere(part) {
  return missing(part).length === 0
}

/** What was installed last; nothing that can be relied on where it was cut short, or written by an earlier version of this. */
function stamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'))
  } catch {
    return {}
  }
}

function lockHash() {
  const hash = createHash('sha256')
  for (const name of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(root, name)))
  return hash.digest('hex')
}

/** Bytes on the disk; a file that has two names is there once. */
function sizeOf(folder) {
  const seen = new Map()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const { ino, blocks } = lstatSync(join(entry.parentPath ?? entry.path, entry.name))
    seen.set(ino, blocks * 512)
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0)
}
