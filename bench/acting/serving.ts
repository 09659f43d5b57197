/** A gateway in front of a store, as what is said over HTTP goes through, or on a bus. */
import { DEFAULT_TENANT } from '../../src/core/job.ts'
import { realClock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { type Build, built, builtBus, builtGateway } from '../build.ts'

const UNLIMITED = { itemsPerSecond: 1e9, itemsAtOnce: 1e9 }

export async function serve(url: string, build: Build = 'now', bus?: string): Promise<string> {
  const { open } = await built(build)
  const { engine } = await open(url)
  if (bus !== undefined) {
    const { openBus } = await builtBus(build)
    const roles = new Set(['gateway', 'scheduler'] as const)
    const around = { timers: realTimers, clock: realClock, random: realRandom, log: silentLog }
    await openBus({ url: bus, tenant: DEFAULT_TENANT, engine, roles, caps: UNLIMITED, ...around })
    return bus
  }
  const { startGateway } = await builtGateway(build)
  // Caps, and what they were called before: a worker that drains is no tenant who must be held back.
  const unlimited = { caps: UNLIMITED, rate: { perSecond: 1e9, burst: 1e9 } }
  const gateway = await startGateway({ engine, port: 0, auth: false, ...unlimited })
  return gateway.url
}
