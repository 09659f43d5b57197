import type { Event } from '../core/event.ts'
import type { JobId } from '../core/job.ts'
import type { Loaded, LoadItem } from '../store/store.ts'
import type { Engine } from './engine.ts'
import { logOf } from './log-of.ts'

/** How often a job is looked at again that moves while it is read. */
const LOOKS = 10

export interface Still {
  readonly loaded: Loaded
  readonly log: readonly Event[]
}

/** A record, what is asked for with it, and its log, all of one revision; undefined where the job is gone, or moves whenever it is read. */
export async function still(
  engine: Pick<Engine, 'load' | 'events'>,
  id: JobId,
  asked: Pick<LoadItem, 'bodies'> = {},
): Promise<Still | undefined> {
  for (let n = 0; n < LOOKS; n += 1) {
    const [before] = (await engine.load([{ id }])).items
    const log = await logOf(engine, id)
    const [loaded] = (await engine.load([{ id, ...asked }])).items
    if (before === undefined || loaded === undefined) return undefined
    if (before.job.rev === loaded.job.rev) return { loaded, log }
  }
  return undefined
}
