/**
 * The embedded store through the port alone: bulk insert, drain (claim and complete in batches of 500, two batches in
 * flight), single inserts one and 64 at a time. With a second number, the same again beside that many finished, delayed
 * and parked jobs. `node bench/sqlite-drain.ts [jobs] [beside]`
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decide } from '../src/core/decide.ts'
import type { Event } from '../src/core/event.ts'
import { fenceOf } from '../src/core/fence.ts'
import { idText } from '../src/core/id.ts'
import type { Job, Kind } from '../src/core/job.ts'
import { impliedRequestId } from '../src/core/receipt.ts'
import { resolvePolicy } from '../src/core/resolve.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite.ts'
import type { Change, ClaimedJob, NewJob, Store } from '../src/store/store.ts'
import { realRandom } from '../src/system/random.ts'

const jobs = Number(process.argv[2] ?? 100_000)
const beside = Number(process.argv[3] ?? 0)
const BATCH = 500
const INPUT = JSON.stringify({ to: 'somebody@example.com', subject: 'a payload of about a hundred bytes', n: 1234567 })
const resolved = resolvePolicy({})
if (!resolved.ok) throw new Error('the default policy is a policy')
const kind: Kind = { tenant: 'default', queue: 'default', type: 'noop', policy: resolved.policy }
let ids = 0

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'))
const path = join(folder, 'jobs.db')
const store = await openSqliteStore({ path })
try {
  await measure('bulk insert', jobs, () => bulk(store, jobs))
  await measure('drain', jobs, () => drain(store, jobs))
  await measure('single insert, 1 in flight', 2_000, () => singles(store, 2_000, 1))
  await measure('single insert, 64 in flight', 20_000, () => singles(store, 20_000, 64))
  await measure('drain of the singles', 22_000, () => drain(store, 22_000))
  if (beside > 0) {
    await measure('finished', beside, async () => {
      await bulk(store, beside)
      await drain(store, beside)
    })
    await measure('delayed', beside, () => bulk(store, beside, Date.now() + 1e9))
    await measure('parked', beside, () => parked(store, beside))
    await measure(`bulk insert beside ${3 * beside}`, jobs, () => bulk(store, jobs))
    await measure(`drain beside ${3 * beside}`, jobs, () => drain(store, jobs))
  }
  console.log(`file ${Math.round(statSync(path).size / ids)} B/job`)
} finally {
  await store.close()
  rmSync(folder, { recursive: true })
}

async function measure(name: string, count: number, run: () => Promise<void>): Promise<void> {
  const cpuBefore = process.threadCpuUsage()
  const allBefore = process.cpuUsage()
  const begin = performance.now()
  await run()
  const ms = performance.now() - begin
  const cpu = process.threadCpuUsage(cpuBefore)
  const all = process.cpuUsage(allBefore)
  const perJob = (us: number) => (us / count).toFixed(1)
  const main = cpu.user + cpu.system
  console.log(
    `${name}: ${Math.round((count / ms) * 1000)} jobs/s, ${perJob(ms * 1000)} us/job,`,
    `main thread ${perJob(main)} us, other threads ${perJob(all.user + all.system - main)} us`,
  )
}

function newJob(runAt?: number): NewJob {
  const id = idText(++ids)
  const input = { name: 'input', size: INPUT.length, digest: undefined }
  const asked = { actor: 'producer', requestId: id, correlationId: id }
  const decision = decide(undefined, { type: 'enqueue', id, kind, priority: 5, input, runAt, ...asked }, Date.now())
  if (decision.kind !== 'accepted' || decision.events[0] === undefined) throw new Error('refused')
  return { job: decision.job, event: decision.events[0], input: INPUT, keys: [] }
}

async function bulk(store: Store, count: number, runAt?: number): Promise<void> {
  let left = count
  const producer = async () => {
    while (left > 0) {
      left -= BATCH
      await store.insert(Array.from({ length: BATCH }, () => newJob(runAt)))
    }
  }
  await Promise.all([producer(), producer(), producer()])
}

async function singles(store: Store, count: number, inFlight: number): Promise<void> {
  let left = count
  const one = async () => {
    while (left-- > 0) await store.insert([newJob()])
  }
  await Promise.all(Array.from({ length: inFlight }, one))
}

/** From the lane straight to a long wait, in one change. */
async function parked(store: Store, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const items = Array.from({ length: BATCH }, () => newJob())
    await store.insert(items)
    await store.commit(items.map(({ job }) => parking(job)))
  }
}

function parking(before: Job): Change {
  const now = before.updatedAt
  const actor = 'worker:w1'
  const fence = fenceOf(0, 1, '0123456789abcdef')
  let job = before
  const events: Event[] = []
  for (const command of [
    { type: 'claim', actor, requestId: 'c', workerId: 'w1', nonce: '0123456789abcdef' },
    { type: 'start', actor, requestId: 's', fence },
    { type: 'wait', actor, requestId: 'w', fence, name: 'approval' },
  ] as const) {
    const decision = decide(job, command, now)
    if (decision.kind !== 'accepted') throw new Error('refused')
    job = decision.job
    events.push(...decision.events)
  }
  return {
    kind: 'move',
    before,
    after: job,
    events,
    notAfter: undefined,
    bodies: [],
    give: [],
    take: [],
    spawn: undefined,
  }
}

async function drain(store: Store, count: number): Promise<void> {
  let done = 0
  const worker = async () => {
    for (;;) {
      const nonce = realRandom.hex64()
      const grant = {
        requestId: `r${nonce}`,
        workerId: 'w1',
        actor: 'worker:w1',
        nonce,
        limit: BATCH,
        maxInputBytes: 8 << 20,
      }
      const { jobs, now } = await store.claim({
        ...grant,
        lanes: [{ tenant: 'default', queue: 'default', priority: 5 }],
      })
      if (jobs.length === 0) return
      const { verdicts } = await store.commit(jobs.map((claimed) => completed(claimed, nonce, grant.requestId, now)))
      for (const { status } of verdicts) if (status !== 'applied') throw new Error(status)
      done += jobs.length
    }
  }
  await Promise.all([worker(), worker(), worker()])
  if (done !== count) throw new Error(`${done} of ${count}`)
}

function completed({ before, at }: ClaimedJob, nonce: string, requestId: string, now: number): Change {
  const claim = decide(before, { type: 'claim', actor: 'worker:w1', requestId, workerId: 'w1', nonce }, at)
  if (claim.kind !== 'accepted') throw new Error('refused')
  const job: Job = claim.job
  const fence = fenceOf(job.generation, job.attempt, nonce)
  const asked = { actor: 'worker:w1', requestId: impliedRequestId(fence, 'complete'), fence }
  const end = decide(job, { type: 'complete', ...asked, startedAt: now }, now)
  if (end.kind !== 'accepted') throw new Error('refused')
  const nothing = { bodies: [], give: [], take: [], spawn: undefined }
  return { kind: 'move', before: job, after: end.job, events: end.events, notAfter: job.lease?.expiresAt, ...nothing }
}
