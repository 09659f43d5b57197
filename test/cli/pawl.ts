/**
 * The real command. Where a test is about what it says and does, it runs in this process (`pawl`, `json`), which costs
 * a hundredth; where it is about the process — streams, signals, terminals, memory, modules of a user — it has one of
 * its own, with nothing of ours in its environment (`ended`, `started`, `spawned`).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from '../../src/cli/run.ts'
import { type Resources, resources } from '../../src/store/conformance/resources.ts'
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

/** As long as a test may take. */
const LONGEST_MS = 110_000
/** For what a whole file works with, however long its tests take together. */
export const WHOLE_FILE_MS = 900_000
const MAIN = resolve('src/cli/main.ts')

/** A terminal of so many columns; without, what is said goes into a pipe. */
export interface Here {
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
}

/**
 * `pawl <words>`, here. As the end of a process would, it shows what was left open: nothing may be. Where a worker of the
 * test's own runs beside it, whose timers come and go, that cannot be told: there it takes a process.
 */
export async function pawl(words: readonly string[], { env = {}, columns }: Here = {}): Promise<Ran> {
  const before = resources()
  let stdout = ''
  let stderr = ''
  const streams = {
    out: (text: string) => {
      stdout += text
    },
    err: (text: string) => {
      stderr += text
    },
    isTTY: columns !== undefined,
    errIsTTY: columns !== undefined,
    columns: columns ?? 80,
    rows: 24,
  }
  const { exit } = await run(words, { env, signal: new AbortController().signal, streams })
  let left: readonly string[] = []
  await eventually('what it opened to be closed', () => {
    left = more(resources(), before)
    return left.length === 0
  }).catch((cause: unknown) => {
    throw new Error(`pawl ${words.join(' ')} leaves ${left.join(', ')} behind`, { cause })
  })
  return { code: exit, stdout, stderr }
}

const more = (now: Resources, before: Resources): readonly string[] =>
  Object.entries(now).flatMap(([name, count]) => (count > (before[name] ?? 0) ? [name] : []))

/** The one object a command told; it must have told one and nothing else. */
export async function json<T = Record<string, unknown>>(words: readonly string[], options: Here = {}): Promise<T> {
  return told(words, await pawl([...words, '--json'], options))
}

/** The same of a command in a process. */
export async function endedJson<T = Record<string, unknown>>(
  words: readonly string[],
  options: RunOptions = {},
): Promise<T> {
  return told(words, await ended([...words, '--json'], options))
}

function told<T>(words: readonly string[], { code, stdout, stderr }: Ran): T {
  if (code !== 0) throw new Error(`pawl ${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

/** `pawl <words>` in a process, run to its end. */
export async function ended(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const running = started(words, options)
  running.child.stdin?.end(options.input ?? '')
  return await running.ended
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ran>
  readonly stdout: () => string
  /** The first line that matches, as soon as it is there. */
  line(pattern: RegExp): Promise<string>
}

/** `pawl <words>` in a process, left running. */
export const started = (words: readonly string[], options: RunOptions = {}): Running =>
  spawned(process.execPath, [MAIN, ...words], options)

export function spawned(command: string, words: readonly string[], options: RunOptions = {}): Running {
  const { env = {}, cwd, group = false, longestMs = LONGEST_MS } = options
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(command, [...words], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
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
