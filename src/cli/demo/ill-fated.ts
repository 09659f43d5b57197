/**
 * A worker in a process of its own, which is really killed now and then, in the middle of a job, and replaced: what an
 * operator sees of a crash. It speaks to the gateway, like a worker on another machine.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { FIELDS } from '../../core/invariants.ts'
import type { Pawl } from '../../library/pawl.ts'
import { entry } from '../../system/entry.ts'
import { silentLog } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import { crawlSite } from './jobs.ts'

export interface IllFatedOptions {
  readonly pawl: Pawl
  readonly timers: Timers
  readonly url: string
  readonly secret: string
}

/** So often it dies; it may take longer until it holds something. */
const DIES_EVERY_MS = 40_000
const LOOKS_EVERY_MS = 2_000
/** Steps that are kept by the time it dies. */
const STEPS_LEAST = 2
/** To hand back what it holds. */
const STOPS_WITHIN_MS = 3_000

/** The first begins with the first round, hence after whatever is more urgent. */
export function illFated(options: IllFatedOptions): Service {
  const { pawl, timers } = options
  let child: ChildProcess | undefined
  const round = async () => {
    child ??= begun(options)
    const { jobs } = await pawl.find({ types: [crawlSite.type], states: FIELDS.owner })
    // A job that was lost once may finish first.
    const isTime = jobs.every(({ attempt }) => attempt === 1) && jobs.some(({ steps }) => steps >= STEPS_LEAST)
    if (!isTime) return LOOKS_EVERY_MS
    child.kill('SIGKILL')
    await exited(child)
    child = begun(options)
    return DIES_EVERY_MS
  }
  const dying = service({ name: 'ill-fated worker', everyMs: LOOKS_EVERY_MS, timers, log: silentLog, round })
  const stop = async () => {
    await dying.stop()
    if (child !== undefined) await stopped(child, timers)
  }
  return { ...lively(dying), stop, [Symbol.asyncDispose]: stop }
}

const lively = (service: Service): Pick<Service, 'start' | 'runOnce' | 'wake'> => ({
  start: () => service.start(),
  runOnce: () => service.runOnce(),
  wake: () => service.wake(),
})

async function stopped(child: ChildProcess, timers: Timers): Promise<void> {
  if (child.connected) child.disconnect()
  using _ = timers.after(STOPS_WITHIN_MS, () => child.kill('SIGKILL'))
  await exited(child)
}

const OWN = 'cli/demo/ill-fated'

function begun({ url, secret }: IllFatedOptions): ChildProcess {
  const module = entry(import.meta.url, OWN, `${OWN}-process`)
  const env = { ...process.env, PAWL_URL: url, PAWL_TOKEN: secret }
  return fork(module, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
