/**
 * What a drained no-op job costs Node, store by store: `node bench/worker-drain.ts [jobs] [store…]`. Stores: `none` (an
 * engine that agrees with everything: the worker's own share), `memory`, `sqlite`, `postgres`, `redis`. CPU is the main thread's
 * and the whole process's, from the first claim to the last answer; only ratios within one run count.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Job } from '../src/core/job.ts'
import type { Assignment, Engine } from '../src/engine/engine.ts'
import { defineJob } from '../src/library/define-job.ts'
import { open } from '../src/open.ts'
import { startWorker, type Worker } from '../src/worker/worker.ts'
import { freshDatabase, stopOwnPostgres } from '../test/support/postgres.ts'
import { startRedis } from '../test/support/redis.ts'

const [count, ...wanted] = process.argv.slice(2)
const JOBS = Number(count ?? 50_000)
const STORES = wanted.length > 0 ? wanted : ['none', 'memory', 'sqlite', 'postgres', 'redis']
const CONCURRENCY = 32

let done = 0
const noop = defineJob({
  type: 'noop',
  queue: 'drain',
  run: async () => {
    done += 1
  },
})
const inputs = Array.from({ length: JOBS }, (_, n) => ({ n, text: 'x'.repeat(80) }))

for (const store of STORES) {
  if (store === 'none') await measure(store, startWorker(await agreeable(), [noop], { concurrency: CONCURRENCY }))
  else await drainStore(store)
}
await stopOwnPostgres()

async function drainStore(store: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'))
  const database = store === 'postgres' ? await freshDatabase() : undefined
  const redis = store === 'redis' ? await startRedis(['--appendfsync', 'everysec']) : undefined
  const url = database?.url ?? redis?.url ?? (store === 'sqlite' ? join(folder, 'jobs.db') : 'memory:')
  const pawl = await open(url, { migrate: true, ticker: false, retention: false })
  for (let i = 0; i < JOBS; i += 2_000) await pawl.enqueueMany(noop, inputs.slice(i, i + 2_000))
  await measure(store, pawl.work([noop], { concurrency: CONCURRENCY }))
  await pawl.close()
  await database?.drop()
  await redis?.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(store: string, worker: Worker): Promise<void> {
  const start = performance.now()
  const cpu = process.cpuUsage()
  const thread = process.threadCpuUsage()
  while (done < JOBS || worker.held > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const own = process.threadCpuUsage(thread)
  const row = {
    store,
    jobs: JOBS,
    'jobs/s': Math.round(JOBS / seconds),
    'main thread µs/job': ((own.user + own.system) / JOBS).toFixed(1),
    'process µs/job': ((user + system) / JOBS).toFixed(1),
    keeper: worker.keeper,
  }
  console.log(row)
  await worker.stop()
  done = 0
}

/** Hands out one job again and again, and accepts every word about it. */
async function agreeable(): Promise<Engine> {
  await using pawl = await open('memory:', { ticker: false, retention: false })
  const handle = await pawl.enqueue(noop, inputs[0])
  const { engine } = pawl
  const lane = { tenant: 'default', queue: 'drain', priority: 5 }
  const [first] = await engine.claim({ requestId: 'r', workerId: 'w', lanes: [lane], limit: 1 })
  const job = first?.job as Job
  let left = JOBS
  const state = 'succeeded' as const
  const answer = {
    ok: true,
    jobId: handle.id,
    rev: 4,
    state,
    at: job.updatedAt,
    replayed: false,
    cancel: undefined,
  } as const
  const agrees: Engine = {
    enqueue: async () => [],
    claim: async ({ limit }) => {
      const given = Math.min(limit, left)
      left -= given
      return Array.from({ length: given }, () => first as Assignment)
    },
    settle: async (words) => words.map(() => answer),
    heartbeat: async () => [],
    load: async () => ({ now: job.updatedAt, items: [] }),
    find: async () => ({ now: job.updatedAt, jobs: [], cursor: undefined }),
    events: (query) => engine.events(query),
    settings: async () => [],
    limits: (query) => engine.limits(query),
    whatHolds: async () => new Map(),
    sayToLimits: async (words) => words.map(() => undefined),
    subscribe: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    until: () => agrees,
    now: () => job.updatedAt,
    [Symbol.asyncDispose]: async () => {},
  }
  return agrees
}
