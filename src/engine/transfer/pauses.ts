/**
 * Queues stand still while jobs are brought into them: between its first event and where it stands, a job that ended long ago looks
 * like one that has just come. An import that is cut off leaves them so, and finds them as its own the next time.
 */
import { queueKey } from '../../store/store.ts'
import type { Engine } from '../engine.ts'
import { Queues } from '../queues.ts'

export interface QueueName {
  readonly tenant: string
  readonly queue: string
}

/** By whom a queue is paused for this. */
const IMPORTER = 'pawl import'

type Settings = Pick<Engine, 'settings' | 'now'>

export async function pausedFor(engine: Settings, { tenant, queue }: QueueName): Promise<void> {
  const queues = new Queues(engine)
  if ((await queues.paused(tenant, queue)) === undefined) await queues.pause(tenant, queue, IMPORTER)
}

/** Ends a pause of ours, as `carried` has it where the queue had a document in the other store. A pause of somebody else's stays. */
export async function resumed(
  engine: Settings,
  { tenant, queue }: QueueName,
  carried: string | undefined,
): Promise<void> {
  const queues = new Queues(engine)
  if ((await queues.paused(tenant, queue))?.by !== IMPORTER) return
  if (carried === undefined) return await queues.resume(tenant, queue)
  const key = queueKey(tenant, queue)
  await engine.settings([{ op: 'put', collection: 'queue', key, text: carried, rev: undefined }])
}
