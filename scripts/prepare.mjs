// Plain JavaScript for whatever Node the machine has: everything after this runs on the Node that npm installs here.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stampFile = `${root}node_modules/.prepared`
const NEEDED = ['node', 'vitest', 'tsc', 'biome', 'bun', 'knip'].map((name) => `${root}node_modules/.bin/${name}`)

if (stampOf() !== stored() || !NEEDED.every((path) => existsSync(path))) install()

function stampOf() {
  const hash = createHash('sha256')
  for (const name of ['package.json', 'package-lock.json']) {
    hash.update(name)
    if (existsSync(root + name)) hash.update(readFileSync(root + name))
  }
  return hash.digest('hex')
}

function stored() {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined
}

function install() {
  const since = performance.now()
  console.log('prepare: npm install, because node_modules is missing or older than the lock file')
  const npm = process.env.npm_execpath
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error']
  const options = { cwd: root, stdio: 'inherit' }
  const run = npm ? spawnSync(process.execPath, [npm, ...args], options) : spawnSync('npm', args, options)
  if (run.status !== 0) {
    console.error(`prepare: npm install failed (${run.error?.message ?? `exit code ${run.status}`})`)
    process.exit(1)
  }
  const missing = NEEDED.filter((path) => !existsSync(path))
  if (missing.length > 0) {
    console.error(`prepare: npm install ran, but these are missing: ${missing.join(', ')}`)
    process.exit(1)
  }
  // Before it runs anything.
  const verified = spawnSync(process.execPath, [`${root}scripts/verify-node.mjs`], options)
  if (verified.status !== 0) process.exit(1)
  writeFileSync(stampFile, stampOf())
  console.log(`prepare: done in ${((performance.now() - since) / 1000).toFixed(1)} s`)
}
