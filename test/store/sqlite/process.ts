import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const HOST = fileURLToPath(new URL('./host.ts', import.meta.url))

export interface Host {
  readonly child: ChildProcessWithoutNullStreams
  /** Everything it said, until it ended. */
  readonly lines: string[]
  /** The next line, or undefined when it has ended. */
  next(): Promise<string | undefined>
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Starts `host.ts`. Its errors are the test's errors. */
export const startHost = (...words: readonly string[]): Host => startHostWith([], ...words)

/** The same, with flags for Node. */
export function startHostWith(flags: readonly string[], ...words: readonly string[]): Host {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...flags, HOST, ...words])
  child.stderr.pipe(process.stderr)
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const iterator = reader[Symbol.asyncIterator]()
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  return {
    child,
    lines,
    ended,
    async next() {
      const { value, done } = await iterator.next()
      if (done === true) return undefined
      lines.push(value)
      return value
    },
  }
}

/** Reads what is left until the process has ended. */
export async function rest(host: Host): Promise<readonly string[]> {
  while ((await host.next()) !== undefined);
  await host.ended
  return host.lines
}
