/** Worker processes that a test starts, listens to and kills, by pid and by nothing else. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import type { WorkerOptions } from '../../src/worker/worker.ts'
import { redisMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { freshPrefix } from '../support/redis.ts'
import type { Line } from './jobs.ts'

export interface WorkerProcess {
  readonly pid: number
  readonly lines: readonly Line[]
  /** Its standard error so far. */
  complaints(): string
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
  /** The first line that fits. */
  said(wanted: Partial<Line>, withinMs?: number): Promise<Line>
}

/** A store that several processes open, and a pawl on it without a worker of its own. */
export interface ProcessesFixture extends AsyncDisposable {
  readonly url: string
  /** Gone with the fixture. */
  readonly folder: string
  readonly pawl: Pawl
  /** Once its keeper is ready. */
  start(options?: WorkerOptions): Promise<WorkerProcess>
  /** For one that may not live that long. */
  launch(options?: WorkerOptions, started?: Started): WorkerProcess
}

/** How a process is started, where it is not the usual one. */
export interface Started {
  readonly program?: URL
  readonly url?: string
  readonly execArgv?: readonly string[]
}

export const STORES = ['sqlite', 'postgres'] as const
/** Where a server for it is to be had, this as well. */
export const AND_REDIS = redisMissing() === undefined ? ([...STORES, 'redis'] as const) : STORES

export async function openProcessesFixture(store: (typeof STORES)[number] | 'redis'): Promise<ProcessesFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-chaos-'))
  const database = store === 'sqlite' ? undefined : await (store === 'postgres' ? migratedDatabase() : freshPrefix())
  const url = database?.url ?? join(folder, 'jobs.db')
  const pawl = await open(url, { migrate: true, log: 'silent' })
  const children: ChildProcess[] = []
  const launch = (options: WorkerOptions = {}, started: Started = {}): WorkerProcess => {
    const child = startProcess({ url, program: PROGRAM, execArgv: [], ...started }, options)
    children.push(child.process)
    return child
  }
  return {
    url,
    folder,
    pawl,
    async start(options) {
      const child = launch(options)
      await child.said({ what: 'ready' })
      return child
    },
    launch,
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(children.map(gone))
      await pawl.close()
      await database?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const PROGRAM = new URL('./worker-process.ts', import.meta.url)

function startProcess(
  { url, program, execArgv }: Required<Started>,
  options: WorkerOptions,
): WorkerProcess & { readonly process: ChildProcess } {
  const words = [...execArgv, fileURLToPath(program), url, JSON.stringify(options)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: Line[] = []
  let rest = ''
  let complaints = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) lines.push(JSON.parse(part) as Line)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString()
  })
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const { pid } = child
  if (pid === undefined) throw new Error('the worker process does not start')
  return {
    process: child,
    pid,
    lines,
    complaints: () => complaints,
    exit,
    kill: (signal) => void child.kill(signal),
    async said(wanted, withinMs = 20_000) {
      const names = Object.keys(wanted) as (keyof Line)[]
      const fits = (line: Line) => names.every((name) => line[name] === wanted[name])
      const what = `process ${pid} to say ${JSON.stringify(wanted)}`
      return eventually(what, () => lines.find(fits), { withinMs }).catch((cause: unknown) => {
        throw new Error(`${what}; it said ${JSON.stringify(lines)}, and complained:\n${complaints}`, { cause })
      })
    },
  }
}

const gone = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()))
