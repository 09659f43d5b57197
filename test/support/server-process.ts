import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whom servers run as: they refuse root, so root lends them another user. `undefined`: whoever we are. */
export interface RunAs {
  readonly uid: number
  readonly gid: number
}

export function serverUser(): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('the servers refuse to run as root, and there is neither a user "postgres" nor "nobody" to lend them')
}

/** A folder of our own that the server may write to. */
export function serverFolder(name: string, user: RunAs | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), `pawl-${name}-`))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  return folder
}

/** Free a moment ago. Somebody may be faster: callers try again. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Whether somebody is there, and begins with this to say something, by itself or once it is asked. */
export function answersWith(port: number, words: string, asked?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    const done = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('error', () => done(false))
    socket.once('data', (data) => done(data.toString().startsWith(words)))
    if (asked !== undefined) socket.write(asked)
  })
}

export function runToEnd(program: string, args: readonly string[], folder: string, user: RunAs | undefined): void {
  const run = spawnSync(program, args, { cwd: folder, encoding: 'utf8', ...user })
  if (run.status !== 0) throw new Error(`${program} failed: ${run.error?.message ?? ''}\n${run.stderr}${run.stdout}`)
}

/** A server process that we started, known by its pid and by nothing else; it does not outlive this process. */
export interface ServerProcess {
  readonly pid: number
  readonly logFile: string
  exited(): boolean
  /** Asks with `signal`, insists after ten seconds. */
  stop(signal: NodeJS.Signals): Promise<void>
  /** The machine loses power, as far as the server can tell: it and its children are gone at once. */
  kill(): Promise<void>
  /** It and its children stand still: whoever is connected is told nothing. Ended by `kill`. */
  freeze(): void
}

const alive = new Map<ChildProcess, string>()

export function startServer(
  program: string,
  args: readonly string[],
  folder: string,
  user: RunAs | undefined,
): ServerProcess {
  const logFile = join(folder, 'log')
  const log = openSync(logFile, 'a')
  // Where Linux offers it, the kernel stops the server should this process die without a chance to do it.
  const [command, ...rest] = existsSync(SETPRIV)
    ? [SETPRIV, '--pdeathsig', 'INT', program, ...args]
    : [program, ...args]
  const child = spawn(command, rest, { cwd: folder, stdio: ['ignore', log, log], ...user })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} does not start; see ${logFile}`)
  watchExit()
  alive.set(child, folder)
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void gone.then(() => alive.delete(child))
  const exited = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid,
    logFile,
    exited,
    async stop(signal) {
      if (exited()) return
      child.kill(signal)
      const insist = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await gone
      clearTimeout(insist)
    },
    async kill() {
      if (exited()) return
      // Held still first, so that it cannot have another child between the count and the blow.
      child.kill('SIGSTOP')
      const children = childrenOf(pid)
      child.kill('SIGKILL')
      for (const each of children) signalQuietly(each, 'SIGKILL')
      await gone
      await Promise.all(children.map(untilGone))
    },
    freeze() {
      child.kill('SIGSTOP')
      for (const each of childrenOf(pid)) signalQuietly(each, 'SIGSTOP')
    },
  }
}

const SETPRIV = '/usr/bin/setpriv'

let watching = false

/** The last resort, for a process that ends without having stopped its servers. */
function watchExit(): void {
  if (watching) return
  watching = true
  process.once('exit', () => {
    for (const [child, folder] of alive) {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  })
}

/** SIGKILL to a server that somebody else started for us, and to its children. */
export async function killTree(pid: number): Promise<void> {
  signalQuietly(pid, 'SIGSTOP')
  const all = [pid, ...childrenOf(pid)]
  for (const each of all) signalQuietly(each, 'SIGKILL')
  await Promise.all(all.map(untilGone))
}

function childrenOf(pid: number): number[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid)
}

function parentOf(pid: number): number | undefined {
  try {
    // `pid (name) state ppid …`, and the name may hold anything, brackets included.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return Number(parent)
  } catch {
    return undefined
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It was faster.
  }
}

async function untilGone(pid: number): Promise<void> {
  const deadline = performance.now() + 10_000
  while (existsSync(`/proc/${pid}`) && !isZombie(pid)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} does not go away`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function isZombie(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return true
  }
}
