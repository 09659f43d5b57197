/** Enqueue → claim → settle: the store's port, core's decisions, and the smallest loop that keeps both busy. */
import { decide } from '../../src/core/decide.ts'
import type { Event } from '../../src/core/event.ts'
import { idText } from '../../src/core/id.ts'
import type { Job, Kind } from '../../src/core/job.ts'
import { resolvePolicy } from '../../src/core/resolve.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres.ts'
import type { Change, ClaimedJob, NewJob, Store } from '../../src/store/store.ts'
import { realRandom } from '../../src/system/random.ts'
import type { Figures, Meter } from './meter.ts'

const BATCH = 500
/** As many as graphile-worker fetches at once. */
const FETCHED = 2_000
const INPUT = JSON.stringify({ url: `https://example.com/${'x'.repeat(70)}` })
/** Claims ahead of what is being settled, as a worker prefetches. */
const AHEAD = 2

export async function skeleton(meter: Meter, jobs: number): Promise<Record<'enqueue' | 'drain', Figures>> {
  const store = await openPostgresStore({ url: meter.url, migrate: true })
  const policy = resolvePolicy({})
  if ('violations' in policy && policy.violations !== undefined) throw new Error('the default policy is valid')
  const kind = { tenant: 't', queue: 'q', type: 'noop', policy: 'policy' in policy ? policy.policy : policy } as Kind
  await store.insert([])
  await store.load([])
  const enqueue = await meter.measure(jobs, () => enqueueAll(store, kind, jobs))
  await meter.settle('pawl')
  const drain = await meter.measure(jobs, () => drainAll(store, jobs))
  await store.close()
  return { enqueue, drain }
}

async function enqueueAll(store: Store, kind: Kind, jobs: number): Promise<void> {
  let under: Promise<unknown> = Promise.resolve()
  for (let from = 1; from <= jobs; from += BATCH) {
    const items: NewJob[] = []
    const now = Date.now()
    for (let n = from; n < from + BATCH; n += 1) items.push(newJob(kind, n, now))
    await under
    under = store.insert(items)
  }
  await under
}

function newJob(kind: Kind, n: number, now: number): NewJob {
  const id = idText(n)
  const input = { name: 'input', size: INPUT.length, digest: undefined }
  const asked = { actor: 'producer', requestId: id }
  const decision = decide(undefined, { ...asked, type: 'enqueue', id, kind, priority: 5, input }, now)
  if (decision.kind !== 'accepted') throw new Error(`an enqueue is accepted: ${JSON.stringify(decision)}`)
  return { job: decision.job, event: decision.events[0] as Event, input: INPUT, keys: [] }
}

async function drainAll(store: Store, jobs: number): Promise<void> {
  let done = 0
  let round = 0
  const lanes = [{ tenant: 't', queue: 'q', priority: 5 }]
  const loops = Array.from({ length: AHEAD }, async () => {
    while (done < jobs) {
      round += 1
      const nonce = realRandom.hex64()
      const grant = { requestId: `claim/${round}`, workerId: 'w1', actor: 'worker:w1', nonce, lanes, limit: FETCHED }
      const claimed = await store.claim({ ...grant, maxInputBytes: 8 << 20 })
      if (claimed.jobs.length === 0) return
      const changes = claimed.jobs.map((job) => completed(job, grant, claimed.now))
      const { verdicts } = await store.commit(changes)
      for (const { status } of verdicts) if (status !== 'applied') throw new Error(status)
      done += changes.length
    }
  })
  await Promise.all(loops)
}

interface Words {
  readonly requestId: string
  readonly workerId: string
  readonly actor: string
  readonly nonce: string
}

function completed(
  { before, at, input }: ClaimedJob,
  { requestId, workerId, actor, nonce }: Words,
  now: number,
): Change {
  JSON.parse(input ?? '')
  const job = accepted(decide(before, { type: 'claim', requestId, workerId, actor, nonce }, at)).job
  const fence = job.lease?.fence ?? ''
  const { job: after, events } = accepted(
    decide(job, { type: 'complete', actor, requestId: `${fence}/complete`, fence }, now),
  )
  const nothing = { bodies: [], give: [], take: [], spawn: undefined }
  return { kind: 'move', before: job, after, events, notAfter: job.lease?.expiresAt, ...nothing }
}

function accepted(decision: ReturnType<typeof decide>): { job: Job; events: readonly Event[] } {
  if (decision.kind !== 'accepted') throw new Error(`accepted, not ${JSON.stringify(decision)}`)
  return decision
}
