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

/** Path of `redis-server`; installed first where that is possible. */
export function redisBinary(): string {
  return findRedis() ?? install('redis-server', findRedis)
}

/** Why there is no Redis here, and none can be installed; undefined: there is. */
export function redisMissing(): string | undefined {
  return findRedis() === undefined && !mayInstall()
    ? 'redis-server is not here, and whoever runs this may not install it: what needs Redis is skipped. It is Debian’s package “redis-server”, and Homebrew’s “redis”.'
    : undefined
}

/** Path of `nats-server`; installed first where that is possible. */
export function natsBinary(): string {
  return findNats() ?? install('nats-server', findNats)
}

/** Why there is no NATS here, and none can be installed; undefined: there is. */
export function natsMissing(): string | undefined {
  return findNats() === undefined && !mayInstall()
    ? 'nats-server is not here, and whoever runs this may not install it: what needs the bus is skipped. It is Debian’s and Homebrew’s package “nats-server”.'
    : undefined
}

/** Why there is no pooler here, and none can be installed; undefined: there is. */
export function pgbouncerMissing(): string | undefined {
  return findPgbouncer() === undefined && !mayInstall()
    ? 'pgbouncer is not here, and whoever runs this may not install it: what goes through a pooler is skipped. It is Debian’s and Homebrew’s package “pgbouncer”.'
    : undefined
}

/** Path of a browser; installed first where that is possible. */
export function chromiumBinary(): string {
  return findChromium() ?? install('chromium', findChromium)
}

/** Why there is no browser here, and none can be installed; undefined: there is. */
export function chromiumMissing(): string | undefined {
  return findChromium() === undefined && !mayInstall()
    ? 'No chromium is here, and whoever runs this may not install it: what needs a browser is skipped. It is Debian’s package “chromium”.'
    : undefined
}

/** Paths of what looks after servers; installed first where that is possible. */
export const patroniBinary = (): string => findPatroni() ?? install('patroni', findPatroni)
export const etcdBinary = (): string => findEtcd() ?? install('etcd-server', findEtcd)

/** Why there is nothing here that looks after servers, and cannot be; undefined: there is. */
export function patroniMissing(): string | undefined {
  return (findPatroni() === undefined || findEtcd() === undefined) && !mayInstall()
    ? 'patroni and etcd are not here, and whoever runs this may not install them: failovers that nobody helps are skipped. They are Debian’s packages “patroni” and “etcd-server”.'
    : undefined
}

const VERSIONS = '/usr/lib/postgresql'

function findPostgres(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined
  return readdirSync(VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(VERSIONS, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

const findPgbouncer = () => findProgram('pgbouncer')
const findRedis = () => findProgram('redis-server')
const findNats = () => findProgram('nats-server')
const findChromium = () => findProgram('chromium')
const findPatroni = () => findProgram('patroni')
const findEtcd = () => findProgram('etcd')

/** Debian keeps servers where no user's path leads; Homebrew has a place for each kind of machine. */
function findProgram(name: string): string | undefined {
  const path = (process.env['PATH'] ?? '').split(':').filter((folder) => folder !== '')
  const folders = [...path, '/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

const mayInstall = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

function install(name: string, find: () => string | undefined): string {
  const advice = `"${name}" is needed. Install it: apt-get install ${name}, or brew install ${name.replace('redis-server', 'redis')}`
  if (!mayInstall()) throw new Error(`${advice}. (Whoever is root on Debian has it installed by this.)`)
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
