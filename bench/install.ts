/** The peers, installed here when they are first needed. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

export function installPeers(): void {
  if (wanted().every(([name, version]) => installed(name) === version)) return
  console.error('installing the peers, once')
  // Not `npm ci`: it refuses a lock file that was written where a registry lacks the packages of some platform.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', args, { cwd: HERE, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed in bench/`)
}

/** With versions, as they are installed. */
export function peerVersions(): Readonly<Record<string, string>> {
  return Object.fromEntries(wanted())
}

const wanted = (): [string, string][] => Object.entries(JSON.parse(read(`${HERE}package.json`)).dependencies)

function installed(name: string): string | undefined {
  const file = `${HERE}node_modules/${name}/package.json`
  return existsSync(file) ? JSON.parse(read(file)).version : undefined
}

const read = (file: string) => readFileSync(file, 'utf8')
