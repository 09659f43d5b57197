/** The real command, as a child process with nothing of ours in its environment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { eventually } from '../support/eventually.ts'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly cwd?: string
  /** It has children of its own, which end with it. */
  readonly group?: boolean
  /** It is ended after this long at the latest. */
  readonly longestMs?: number
}

const LONGEST_MS = 110_000
const MAIN = resolve('src/cli/main.ts')
/** Threads use it too when it is set from outside: half the time of every command. */
const CACHE = resolve('node_modules/.cache/pawl')

/** `pawl <words>`, run to its end. */
export async function pawl(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const running = started(words, options)
  running.child.stdin?.end(options.input ?? '')
  return await running.ended
}

/** The one object a command told; it must have told one and nothing else. */
export async function json<T = Record<string, unknown>>(
  words: readonly string[],
  options: RunOptions = {},
): Promise<T> {
  const ran = await pawl([...words, '--json'], options)
  if (ran.code !== 0) throw new Error(`pawl ${words.join(' ')} ended with ${ran.code}: ${ran.stderr}`)
  return JSON.parse(ran.stdout) as T
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ran>
  readonly stdout: () => string
  /** The first line that matches, as soon as it is there. */
  line(pattern: RegExp): Promise<string>
}

/** `pawl <words>`, left running. */
export const started = (words: readonly string[], options: RunOptions = {}): Running =>
  spawned(process.execPath, [MAIN, ...words], options)

export function spawned(command: string, words: readonly string[], options: RunOptions = {}): Running {
  const { env = {}, cwd, group = false, longestMs = LONGEST_MS } = options
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, [...words], {
    env: { PATH, HOME, NODE_COMPILE_CACHE: CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A test that gives up must not leave anybody waiting.
    timeout: longestMs,
    killSignal: 'SIGKILL',
    detached: group,
    ...(cwd === undefined ? {} : { cwd }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ran>((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => done({ code, stdout, stderr }))
  })
  return {
    child,
    ended,
    stdout: () => stdout,
    line: (pattern) =>
      eventually(
        `${pattern} from ${words.join(' ')}, which said ${stdout}${stderr}`,
        () =>
          stdout
            .split('\n')
            .slice(0, -1)
            .find((line) => pattern.test(line)),
        { withinMs: 60_000 },
      ),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        if (group && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      }
      await ended
    },
  }
}

export interface Folder extends Disposable {
  readonly path: string
  at(name: string): string
}

export function folder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'pawl-cli-'))
  return {
    path,
    at: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
