/** The thread that reads: on a connection of its own, which cannot write. */
import { realClock } from '../../system/clock.ts'
import { realTimers } from '../../system/timers.ts'
import { arrived, live, openWhenFree, options, post } from './thread/life.ts'
import { openToRead } from './thread/open.ts'
import { ReadQueue } from './thread/read-queue.ts'
import { Reading } from './thread/reading.ts'
import { setBy, storeClock } from './thread/store-clock.ts'

const reading = await openWhenFree(() => new Reading(openToRead(options.path)))
if (reading !== undefined) serve(reading)

function serve(reading: Reading): void {
  const queue = new ReadQueue(reading, {
    path: options.path,
    busyMs: options.busyMs,
    clock: storeClock(setBy(realClock, options.setBy), options.latest),
    timers: realTimers,
    monotonicMs: () => realClock.monotonicMs(),
    gather: arrived,
    report: (answer) => post({ answers: [answer], kinds: reading.kinds.unsent() }),
    close() {
      reading.file.close()
      end()
    },
  })
  const end = live(queue)
}
