import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folder with `initdb` and `postgres`, of the newest version there is; installed first where that is possible. */
export function postgresBinaries(): string {
  return findPostgres() ?? install('postgresql', findPostgres)
}

/** Path of `pgbouncer`; installed first where that is possible. */
export function pgbouncerBinary(): string {
  return findPgbouncer() ?? install('pgbouncer', findPgbouncer)
}

const VERSIONS = '/usr/lib/postgresql'

function findPostgres(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined
  return readdirSync(VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(VERSIONS, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

function findPgbouncer(): string | undefined {
  return ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) => existsSync(path))
}

function install(name: string, find: () => string | undefined): string {
  const advice = `These tests need Debian's package "${name}". Install it: apt-get install ${name}`
  if (process.getuid?.() !== 0) throw new Error(`${advice} (or set PAWL_TEST_POSTGRES_URL to a server of your own)`)
  if (!existsSync('/usr/bin/apt-get')) throw new Error(`${advice} (there is no apt-get on this machine)`)
  console.log(`installing Debian's package "${name}", once`)
  withoutServices(() => {
    apt(['update'])
    // The package would set up and start a cluster of its own; its common part, installed first, can be told not to.
    if (name === 'postgresql') {
      apt(['install', '-y', '--no-install-recommends', 'postgresql-common'])
      withoutMainCluster(() => apt(['install', '-y', '--no-install-recommends', name]))
    } else {
      apt(['install', '-y', '--no-install-recommends', name])
    }
  })
  const found = find()
  if (found === undefined)
    throw new Error(`${advice} (it was installed, but its programs are not where they should be)`)
  return found
}

function apt(args: readonly string[]): void {
  const run = spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(`apt-get ${args.join(' ')} failed:\n${run.stderr}${run.stdout}`.slice(0, 4000))
}

const POLICY = '/usr/sbin/policy-rc.d'

/** Debian starts a service when its package is installed, unless this file says no. */
function withoutServices(run: () => void): void {
  if (existsSync(POLICY)) return run()
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    run()
  } finally {
    rmSync(POLICY)
  }
}

const CREATE_CLUSTER = '/etc/postgresql-common/createcluster.conf'

function withoutMainCluster(run: () => void): void {
  if (!existsSync(CREATE_CLUSTER)) return run()
  const before = readFileSync(CREATE_CLUSTER, 'utf8')
  writeFileSync(CREATE_CLUSTER, `${before}\ncreate_main_cluster = false\n`)
  try {
    run()
  } finally {
    writeFileSync(CREATE_CLUSTER, before)
  }
}
