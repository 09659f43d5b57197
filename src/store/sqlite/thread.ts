/** The store's own thread: it has the file, and nobody else waits while it commits. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { assert } from '../../core/assert.ts'
import { realClock } from '../../system/clock.ts'
import { realTimers } from '../../system/timers.ts'
import type { Answer, Call, Report, ThreadOptions } from './protocol.ts'
import { GroupCommit } from './thread/group-commit.ts'
import { Ledger } from './thread/ledger.ts'
import { FileRefused, openFile } from './thread/open.ts'
import { isBusy } from './thread/result-codes.ts'
import { one } from './thread/rows.ts'
import { storeClock } from './thread/store-clock.ts'

assert(parentPort !== null, 'this module is the body of a thread')
const port = parentPort
const options = workerData as ThreadOptions

const ledger = await openWhenFree()
if (ledger !== undefined) serve(ledger)

/** Another process may be opening, migrating or closing the same file just now. */
async function openWhenFree(): Promise<Ledger | undefined> {
  const sinceMs = realClock.monotonicMs()
  for (;;) {
    try {
      return new Ledger(openFile(options.path), storeClock(realClock), options.feedMs)
    } catch (error) {
      if (isBusy(error) && realClock.monotonicMs() - sinceMs < options.busyMs) {
        await realTimers.sleep(2)
        continue
      }
      post({ answers: [], kinds: [], changed: false, opened: refusal(error) })
      return undefined
    }
  }
}

function refusal(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof FileRefused) return { code: error.code, message: `pawl: ${message}` }
  if (isBusy(error)) {
    return {
      code: 'STORE_BUSY',
      message: `pawl: another process kept ${options.path} locked for more than ${options.busyMs} ms.`,
    }
  }
  return { code: 'STORE_FAILED', message: `pawl: cannot open ${options.path}: ${message}` }
}

function serve(ledger: Ledger): void {
  const group = new GroupCommit(ledger, {
    busyMs: options.busyMs,
    timers: realTimers,
    monotonicMs: () => realClock.monotonicMs(),
    gather,
    report: (answers) => post({ answers, kinds: ledger.kinds.untold(), changed: false }),
  })
  const watch = watcher(ledger)

  function take(calls: readonly Call[]): void {
    const rest: Call[] = []
    for (const call of calls) {
      if (call.op === 'listen') acknowledge(call, () => watch(call.asked === true))
      else if (call.op === 'close') acknowledge(call, close)
      else rest.push(call)
    }
    if (rest.length > 0) group.take(rest)
  }

  function acknowledge({ n }: Call, act: () => void): void {
    act()
    const answer: Answer = { n, now: ledger.now, ok: true, answered: null }
    post({ answers: [answer], kinds: [], changed: false })
  }

  function close(): void {
    watch(false)
    group.stop()
    if (ledger.db.isOpen) ledger.db.close()
    port.off('message', take)
    port.unref()
  }

  /** What has arrived meanwhile. `listen` and `close` are served before, out of turn: they change no data. */
  function gather(): readonly Call[] {
    const calls: Call[] = []
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      calls.push(...(next.message as readonly Call[]))
    }
    const own = calls.filter(({ op }) => op === 'listen' || op === 'close')
    if (own.length > 0) setImmediate(() => take(own))
    return calls.filter(({ op }) => op !== 'listen' && op !== 'close')
  }

  port.on('message', take)
  post({ answers: [], kinds: [], changed: false, opened: true })
}

/** Tells the main thread of other processes' commits, for as long as somebody there listens. */
function watcher(ledger: Ledger): (on: boolean) => void {
  let timer: Disposable | undefined
  let seen = version(ledger)
  const look = () => {
    const found = version(ledger)
    if (found !== seen) post({ answers: [], kinds: [], changed: true })
    seen = found
    timer = realTimers.after(options.pollMs, look)
  }
  return (on) => {
    timer?.[Symbol.dispose]()
    timer = on ? realTimers.after(options.pollMs, look) : undefined
  }
}

function version(ledger: Ledger): unknown {
  try {
    return one(ledger.sql.dataVersion)?.[0]
  } catch {
    // Nothing is lost: whoever waits for a hint also polls.
    return undefined
  }
}

function post(report: Report): void {
  port.postMessage(report)
}
