/** The thread that writes: it has the file, and nobody else waits while it commits. */
import { realClock } from '../../system/clock.ts'
import { realTimers } from '../../system/timers.ts'
import { queueOf } from '../codec/lane.ts'
import type { Call, Report } from './protocol.ts'
import { GroupCommit } from './thread/group-commit.ts'
import { plainLane } from './thread/hall/lanes.ts'
import { Ledger } from './thread/ledger.ts'
import { arrived, live, openWhenFree, options, post } from './thread/life.ts'
import { openFile } from './thread/open.ts'
import { one, type Row } from './thread/rows.ts'
import { setBy, storeClock } from './thread/store-clock.ts'

const ledger = await openWhenFree(
  () => new Ledger(openFile(options.path), storeClock(setBy(realClock, options.setBy), options.latest), options.feedMs),
)
if (ledger !== undefined) serve(ledger)

function serve(ledger: Ledger): void {
  const watch = watcher(ledger)
  const group = new GroupCommit(ledger, {
    path: options.path,
    busyMs: options.busyMs,
    timers: realTimers,
    monotonicMs: () => realClock.monotonicMs(),
    gather: () => others(arrived()),
    report: (answers) => post({ answers, kinds: ledger.reading.kinds.unsent(), letIn: letInto(ledger) }),
  })
  const end = live({ take: (calls) => group.take(others(calls)) })

  /** Serves calls that change no data at once, out of turn; returns the others. */
  function others(calls: readonly Call[]): readonly Call[] {
    return calls.filter((call) => {
      if (call.op === 'listen') acknowledge(call, () => watch(call.asked === true))
      else if (call.op === 'close') group.close(() => acknowledge(call, close))
      else if (call.op === 'leave') leave()
      else return true
      return false
    })
  }

  function acknowledge({ n }: Call, act: () => void): void {
    act()
    post({ answers: [{ n, now: ledger.now, ok: true, answered: null }] })
  }

  function leave(): void {
    group.drop()
    close()
  }

  function close(): void {
    watch(false)
    ledger.file.close()
    end()
  }
}

/** The queues that jobs were let into. */
function letInto({ usher, sql }: Ledger): Report['letIn'] {
  return usher
    .takeFilled()
    .map((lane) => one(sql.queueNames, queueOf(plainLane(lane))) as Row & Report['letIn'][number])
}

/** Tells the main thread of other processes' commits, for as long as it has listeners. */
function watcher(ledger: Ledger): (on: boolean) => void {
  let timer: Disposable | undefined
  let seen = version(ledger)
  const look = () => {
    const found = version(ledger)
    if (found !== seen) post({ changed: true })
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
    // No hint is given, and none is needed: workers poll as well.
    return undefined
  }
}
