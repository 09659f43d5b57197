/** One connection for the time of one errand (`pawl doctor` looks around), where no store is open. */
import { realClock } from '../../../system/clock.ts'
import { silentLog } from '../../../system/log.ts'
import { realRandom } from '../../../system/random.ts'
import { realTimers } from '../../../system/timers.ts'
import { connectWithPg } from './client.ts'
import type { Link, Role } from './link.ts'
import { Route } from './route.ts'
import { type Address, targetOf } from './target.ts'

const VISIT: Role = { name: 'visits', pipeline: false, workMs: Number.POSITIVE_INFINITY }
const WITHIN_MS = 10_000

export async function visit<T>(address: Address, errand: (link: Link) => Promise<T>): Promise<T> {
  const system = { connect: connectWithPg, clock: realClock, timers: realTimers, random: realRandom, log: silentLog }
  const patience = { answerWithinMs: WITHIN_MS, retryForMs: WITHIN_MS }
  const route = new Route({ ...system, ...patience, target: targetOf(address) })
  try {
    const untilMs = realClock.monotonicMs() + WITHIN_MS
    return await errand(await route.open(VISIT, untilMs, new AbortController().signal))
  } finally {
    await route.close()
  }
}
