/** What holds jobs that could run, as core tells it. */
import { decodeKey, decodeKeyLog, limitIn } from '../core/flow/document.ts'
import { explainHeld, type Holding } from '../core/flow/explain.ts'
import { weighedBy } from '../core/flow/membership.ts'
import type { Job, JobId, Time } from '../core/job.ts'
import type { Lobby } from '../store/store.ts'
import type { Engine } from './engine.ts'

/** Of each that is held, in one question for all of them. */
export async function whatHolds(
  engine: Pick<Engine, 'load'>,
  jobs: readonly Job[],
): Promise<ReadonlyMap<JobId, Holding>> {
  const found = new Map<JobId, Holding>()
  const limited = jobs.filter(({ spec, readyAt }) => spec.flow !== undefined && readyAt !== undefined)
  if (limited.length === 0) return found
  const { now, items } = await engine.load(limited.map(({ id }) => ({ id, flow: true })))
  for (const [i, job] of limited.entries()) {
    const lobby = items[i]?.flow
    const holding = lobby?.held === true ? toldOf(job, lobby, now) : undefined
    if (holding !== undefined) found.set(job.id, holding)
  }
  return found
}

function toldOf({ spec }: Job, { keys, others }: Lobby, now: Time): Holding | undefined {
  const holding = keys.map(({ key, text, gate, count, probes, log }) => {
    const document = decodeKey(key, text)
    return { record: document.record, limit: limitIn(document), gate, count, probes, log: decodeKeyLog(log) }
  })
  const weighed = (spec.flow && weighedBy(spec.flow)) ?? ''
  return explainHeld(holding, { lane: spec.kind.queue, others, weighed }, now)
}
