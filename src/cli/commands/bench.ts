/** `pawl bench`: a quick measure of one's own store, on this machine. Leaves nothing behind where it can help it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { DEFAULT_TENANT, TERMINAL_STATES } from '../../core/job.ts'
import { type DefinedJob, defineJob } from '../../library/define-job.ts'
import type { Pawl } from '../../library/pawl.ts'
import { openOn } from '../../open.ts'
import { openStore } from '../../open-store.ts'
import type { Store } from '../../store/store.ts'
import { withoutCredentials } from '../../system/credentials.ts'
import { realRandom } from '../../system/random.ts'
import { countOf } from '../choice.ts'
import { examples } from '../example.ts'
import type { Context } from '../program.ts'
import { isGateway, opened, type Session } from '../session.ts'

interface Options {
  readonly jobs: string
  readonly concurrency: string
}

interface Measured {
  readonly store: string
  readonly jobs: number
  readonly enqueuePerSecond: number
  readonly drainPerSecond: number
  /** From an enqueue to its result, one job at a time. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number; readonly samples: number }
  readonly left: number
}

const SAMPLES = 50
/** Code is compiled while it runs: a process measured from its first job on is slower than one that has been at it. */
const WARM_SHARE = 0.25
const PAGE = 500
const BULK = 2_000

export function bench(parent: Command, { session }: Context): void {
  const command = parent
    .command('bench')
    .description('a quick measure of a store: enqueue, drain, latency; a file of its own unless --url names one')
    .option('-n, --jobs <n>', 'how many that count; a quarter as many before them', '50000')
    .option('-c, --concurrency <n>', 'handlers at a time', '64')
    .action((options: Options) => run(session(), options))
  examples(command, 'pawl bench', 'pawl bench --url postgres://localhost/app --jobs 20000 --json')
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal } = session
  const jobs = countOf('--jobs', options.jobs, { min: 1, max: 10_000_000 })
  const concurrency = countOf('--concurrency', options.concurrency, { min: 1, max: 10_000 })
  const folder = session.named === undefined ? mkdtempSync(join(tmpdir(), 'pawl-bench-')) : undefined
  try {
    const url = folder === undefined ? session.url : join(folder, 'jobs.db')
    const measured = await measure({ ...session, url }, jobs, concurrency)
    terminal.tell(measured, () => {
      terminal.say(`${withoutCredentials(measured.store)}, ${jobs} jobs, ${concurrency} handlers at a time`)
      terminal.say(`enqueue  ${measured.enqueuePerSecond} jobs/s`)
      terminal.say(`drain    ${measured.drainPerSecond} jobs/s`)
      terminal.say(
        `latency  p50 ${measured.latencyMs.p50} ms, p95 ${measured.latencyMs.p95} ms, p99 ${measured.latencyMs.p99} ms (enqueue to result, one at a time)`,
      )
      if (measured.left > 0)
        terminal.say(terminal.paint.yellow(`${measured.left} ended jobs stay there until retention removes them.`))
    })
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(session: Session, jobs: number, concurrency: number): Promise<Measured> {
  const { url, schema, directUrl, tenant, terminal, clock } = session
  const remote = isGateway(url)
  const { store, ...abilities } = remote ? {} : await openStore(url, { schema, directUrl })
  await using pawl =
    store === undefined ? await opened(session) : openOn(store, { tenant, retention: false }, abilities)
  const queue = `bench-${realRandom.hex64().slice(0, 8)}`
  let done = 0
  const job = defineJob<'pawl.bench', { readonly n: number }, number>({
    type: 'pawl.bench',
    queue,
    ...(tenant === undefined ? {} : { tenant }),
    run: ({ n }) => {
      done += 1
      return n
    },
  })
  const enqueued = async (count: number, doing: string) => {
    const inputs = Array.from({ length: count }, (_, n) => ({ n }))
    const begunMs = clock.monotonicMs()
    for (let from = 0; from < count && !session.signal.aborted; from += BULK) {
      await pawl.enqueueMany(job, inputs.slice(from, from + BULK))
      terminal.progress(doing, Math.min(count, from + BULK), count)
    }
    return clock.monotonicMs() - begunMs
  }
  /** With a worker of its own: what it does while jobs are enqueued would count for nobody. */
  const drained = async (count: number, doing: string) => {
    const until = done + count
    const begunMs = clock.monotonicMs()
    const worker = pawl.work([job], { concurrency })
    while ((done < until || worker.held > 0) && !session.signal.aborted) {
      await session.timers.sleep(10, session.signal)
      terminal.progress(doing, count - (until - done), count)
    }
    return { worker, ms: clock.monotonicMs() - begunMs }
  }
  const warm = Math.ceil(jobs * WARM_SHARE)
  await enqueued(warm, 'warmed up')
  await (await drained(warm, 'warmed up')).worker.stop()
  const enqueueMs = await enqueued(jobs, 'enqueued')
  const { worker, ms: drainMs } = await drained(jobs, 'drained')
  const latencies = await oneByOne(session, pawl, job)
  await worker.stop()
  terminal.progressDone()
  if (!remote) await forget(pawl, tenant ?? DEFAULT_TENANT, job.type)
  const left = store === undefined ? warm + jobs + latencies.length : await removed(store, queue, session)
  return {
    store: url,
    jobs,
    enqueuePerSecond: perSecond(jobs, enqueueMs),
    drainPerSecond: perSecond(jobs, drainMs),
    latencyMs: {
      p50: share(latencies, 0.5),
      p95: share(latencies, 0.95),
      p99: share(latencies, 0.99),
      samples: latencies.length,
    },
    left,
  }
}

async function oneByOne(
  { clock, signal, terminal }: Session,
  pawl: Pawl,
  job: DefinedJob<'pawl.bench', { readonly n: number }, number>,
): Promise<readonly number[]> {
  const found: number[] = []
  for (let n = 0; n < SAMPLES && !signal.aborted; n += 1) {
    const beganMs = clock.monotonicMs()
    const handle = await pawl.enqueue(job, { n })
    await handle.result({ timeout: '30s' })
    found.push(clock.monotonicMs() - beganMs)
    terminal.progress('timed', n + 1, SAMPLES)
  }
  return found.sort((a, b) => a - b)
}

/** A worker announces its types: nobody should find this one. */
async function forget({ engine }: Pawl, tenant: string, type: string) {
  await engine.settings([{ op: 'remove', collection: 'type', key: JSON.stringify([tenant, type]), rev: undefined }])
}

/** What was made for the measure goes; how many could not be removed. */
async function removed(store: Store, queue: string, { terminal }: Session): Promise<number> {
  for (let gone = 0; ; ) {
    const { jobs } = await store.find({ queues: [queue], states: TERMINAL_STATES, order: 'oldest', limit: PAGE })
    if (jobs.length === 0) break
    const { verdicts } = await store.commit(jobs.map((before) => ({ kind: 'purge', before }) as const))
    const applied = verdicts.filter(({ status }) => status === 'applied').length
    gone += applied
    terminal.progress('removed', gone)
    if (applied === 0) return jobs.length
  }
  terminal.progressDone()
  return 0
}

const perSecond = (count: number, ms: number): number => Math.round((count / Math.max(ms, 0.001)) * 1_000)
const share = (sorted: readonly number[], part: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 100) / 100
