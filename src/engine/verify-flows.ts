/** Whether somebody will look at every flow that holds jobs (F11): where nobody does, they are held for ever. */
import { flowNameOf, presenceOf } from '../core/flow/membership.ts'
import { overlooked } from '../core/flow/watch.ts'
import { type Job, LIVE_STATES } from '../core/job.ts'
import type { JobPage, Loaded } from '../store/store.ts'
import type { Discrepancy } from './discrepancy.ts'
import type { Engine } from './engine.ts'

type Asked = Pick<Engine, 'find' | 'load'>

const PAGE = 200

/** What is told of a flow twice, and alike: one that is just being looked at stands between two places. */
export async function verifyFlows(engine: Asked): Promise<readonly Discrepancy[]> {
  const first = await unwatched(engine)
  const second = first.size === 0 ? first : await unwatched(engine)
  return [...first].flatMap(([name, { job, what }]): readonly Discrepancy[] =>
    second.get(name)?.what === what ? [{ job: job.id, about: 'flow', invariant: undefined, what }] : [],
  )
}

async function unwatched(engine: Asked): Promise<ReadonlyMap<string, { readonly job: Job; readonly what: string }>> {
  const found = new Map<string, { readonly job: Job; readonly what: string }>()
  for await (const { job, flow, now } of heldOfEachFlow(engine)) {
    const key = flow?.watch?.by === 'key' ? flow.watch.key : undefined
    const why = overlooked(
      flow?.watch,
      flow?.keys.find((view) => view.key === key),
      now,
    )
    if (why !== undefined) found.set(flowNameOf(job) ?? '', { job, what: `nobody will look at its flow: ${why}` })
  }
  return found
}

/** One held job of each flow, with what holds it. */
export async function* heldOfEachFlow(engine: Asked): AsyncGenerator<Loaded & { readonly now: number }> {
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const page: JobPage = await engine.find({ states: LIVE_STATES, order: 'oldest', limit: PAGE, cursor })
    const ready = page.jobs.filter((job) => job.spec.flow !== undefined && presenceOf(job) === 'ready')
    // Only those that are held speak for their flow; others may stand.
    const unseen = ready.filter((job) => !seen.has(flowNameOf(job) ?? ''))
    const { items, now } = await engine.load(unseen.map(({ id }) => ({ id, flow: true })))
    for (const item of items) {
      const name = item === undefined ? undefined : flowNameOf(item.job)
      if (item?.flow?.held !== true || name === undefined || seen.has(name)) continue
      seen.add(name)
      yield { ...item, now }
    }
    cursor = page.cursor
  } while (cursor !== undefined)
}
