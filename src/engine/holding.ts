/** What holds a job that could run, as core tells it. */
import { decodeKey, limitIn } from '../core/flow/document.ts'
import { explainHeld, type Holding } from '../core/flow/explain.ts'
import type { Job } from '../core/job.ts'
import type { Engine } from './engine.ts'

/** Undefined: nothing, or nobody can tell from here. */
export async function holdingOf(engine: Pick<Engine, 'load'>, { id, spec }: Job): Promise<Holding | undefined> {
  if (spec.flow === undefined) return undefined
  const { now, items } = await engine.load([{ id, flow: true }])
  const lobby = items[0]?.flow
  if (lobby === undefined || !lobby.held) return undefined
  const keys = lobby.keys.map(({ key, text, gate, count, probes }) => {
    const document = decodeKey(key, text)
    return { record: document.record, limit: limitIn(document), gate, count, probes }
  })
  return explainHeld(keys, { lane: spec.kind.queue, others: lobby.others }, now)
}
