/** pawl as a user has it: `open`, `enqueueMany`, `work`; full event history, ticker and retention running. */
import type { JobHandle } from '../../src/library/job-handle.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type Build, built } from '../build.ts'
import {
  ALONE,
  type BulkOptions,
  type Connection,
  type Contender,
  FULL_KEY,
  inParallel,
  type Payload,
  placesOf,
  type WorkOptions,
} from '../contender.ts'

/** What handlers of a worker usually are. No-ops end before the next begins: 32, 128 and 256 drained the same within 5 %. */
const CONCURRENCY = 64
const LANES = 8
const SIGNAL = 'go'
/** As soon as can be. By default the first retry is within 2 s. */
const AT_ONCE = { retry: { base: 1, max: 1, jitter: 'none' } } as const

/**
 * As the peers are: none of them writes a line about a handler that fails. As an object, and with a switch that is known no more: builds
 * of other commits know no word for silence, and turned V8's own switches in `open` unless they were told to keep them.
 */
const QUIET = { log: { info() {}, warn() {}, error() {} } }
const OLDER = { ...QUIET, pretenuring: 'keep' }

type Library = Awaited<ReturnType<typeof built>>

/** The same with V8 told what `pawl work` tells it in a process of its own; `open` tells it nothing. */
export async function asPawlWork(): Promise<Contender> {
  const { withoutPretenuring } = await import('../../src/system/pretenuring.ts')
  const contender = await pawl('pawl-work', 'now')
  const configuration = `${contender.configuration}; --no-allocation-site-pretenuring`
  return {
    ...contender,
    configuration,
    connect(...where) {
      withoutPretenuring()
      return contender.connect(...where)
    },
  }
}

/** Redis with a ledger: every answer waits for a commit in Postgres, so it is given as many jobs as a peer that is slower. */
export async function withLedger(): Promise<Contender> {
  const contender = await pawl('pawl-redis-ledger', 'now', 'redis+ledger')
  return { ...contender, share: 0.2, configuration: `${contender.configuration}; ack: 'ledger'` }
}

export async function pawl(name: string, build: Build, store: Contender['store'] = 'postgres'): Promise<Contender> {
  const library = await built(build)
  const { open } = library
  return {
    name,
    build,
    store,
    share: 1,
    keeps: 'the record and an event per transition, until retention',
    configuration: `defaults; concurrency ${CONCURRENCY}`,
    async prepare(url) {
      const opened = await open(url, { migrate: true, ticker: false, retention: false })
      await opened.close()
    },
    async connect(url, role, purpose, { claimers, places } = ALONE) {
      if (url.startsWith('nats:')) return await overBus(url, QUEUES[purpose])
      const quiet: typeof QUIET = build === 'before' ? OLDER : QUIET
      const upkeep = role === 'worker' ? quiet : ({ ...quiet, ticker: false, retention: false } as const)
      // Each of a crowd as if it were a process by itself: connections, ticker and retention of its own.
      const crowd = await Promise.all(Array.from({ length: claimers }, () => open(url, upkeep)))
      const [opened] = crowd
      if (opened === undefined) throw new Error('a crowd of nobody')
      const producing = new Producing(opened, library, QUEUES[purpose])
      return {
        bulk: (payloads, options) => producing.bulk(payloads, options),
        async one(payload) {
          await opened.enqueue(producing.noop, payload)
        },
        async signal(job) {
          await opened.signal(job, SIGNAL)
        },
        async work({ handle, concurrency = CONCURRENCY, limited = false }) {
          const jobsOf = (claimer: number) =>
            places === 0
              ? [limited ? limitedOf(library, handle) : noopOf(library, QUEUES[purpose], handle)]
              : placesOf({ claimers, places }, claimer).map((place) => placed(library, place, handle))
          const workers = crowd.map((each, claimer) => each.work(jobsOf(claimer), { concurrency }))
          return {
            settled: async () => workers.every(({ held }) => held === 0),
            async stop() {
              await Promise.all(workers.map((worker) => worker.stop({ drain: 0 })))
            },
          }
        },
        async close() {
          await Promise.all(crowd.map((each) => each.close()))
        },
      }
    },
  }
}

/** Loaded where it is measured: NATS' client is of no interest to anybody else. */
async function overBus(url: string, queue: string): Promise<Connection> {
  const { busConnection } = await import('./bus-worker.ts')
  return await busConnection(url, queue, CONCURRENCY)
}

/** Who waits for steps of others is in a queue of its own. */
const QUEUES = { throughput: 'bench', latency: 'soon' } as const

interface Details {
  readonly type?: string
  readonly tenant?: string
  readonly limit?: { readonly key: (payload: Payload) => string; readonly concurrency: number }
  readonly retry?: { readonly base: number; readonly max: number; readonly jitter: 'none' }
}

const noopOf = (
  { defineJob }: Library,
  queue: string,
  handle: WorkOptions['handle'] = () => {},
  details: Details = {},
) =>
  defineJob<string, Payload, void>({
    type: 'noop',
    queue,
    ...details,
    run: (payload, context) =>
      handle(payload, {
        step: (name, work) => context.step(name, work),
        wait: () => context.waitFor(SIGNAL),
      }),
  })

/** With a key that it shares with others, and that may have as many at once as a worker has. */
const limitedOf = (library: Library, handle?: WorkOptions['handle']) =>
  noopOf(library, 'limited', handle, {
    type: 'limited',
    limit: { key: ({ limitKey = '' }: Payload) => limitKey, concurrency: CONCURRENCY },
  })

type Noop = ReturnType<typeof noopOf>

/** Each place is a queue of a tenant of its own, with a type of its own: a worker has one handler for each type. */
const placed = (library: Library, place: number, handle?: WorkOptions['handle']) =>
  noopOf(library, `queue-${place}`, handle, { tenant: `tenant-${place}`, type: `noop-${place}` })

class Producing {
  readonly noop: Noop
  readonly #failing: Noop
  readonly #limited: Noop
  readonly #opened: Pawl
  readonly #library: Library
  readonly #places = new Map<number, Noop>()

  constructor(opened: Pawl, library: Library, queue: string) {
    this.noop = noopOf(library, queue)
    this.#failing = noopOf(library, queue, undefined, AT_ONCE)
    this.#limited = limitedOf(library)
    this.#opened = opened
    this.#library = library
  }

  async bulk(payloads: readonly Payload[], { delayMs, failing }: BulkOptions): Promise<readonly string[]> {
    const keyed = payloads[0]?.key !== undefined
    const options = {
      ...(delayMs !== undefined && { delay: delayMs }),
      ...(keyed && { each: ({ key }: Payload) => ({ dedupeKey: key }) }),
    }
    const limitKey = payloads[0]?.limitKey
    // One is let in within a day: all the others wait.
    if (limitKey === FULL_KEY) await this.#opened.limits.set(FULL_KEY, { rate: { most: 1, per: '1d' } })
    const job = limitKey !== undefined ? this.#limited : failing === true ? this.#failing : this.noop
    if (payloads[0]?.place === undefined) return named(await this.#opened.enqueueMany(job, payloads, options))
    const byPlace = Map.groupBy(payloads, ({ place = 0 }) => place)
    await inParallel(byPlace, LANES, ([place, some]) => this.#opened.enqueueMany(this.#at(place), some, options))
    return []
  }

  #at(place: number): Noop {
    const known = this.#places.get(place) ?? placed(this.#library, place)
    this.#places.set(place, known)
    return known
  }
}

const named = (handles: readonly JobHandle[]): readonly string[] => handles.map(({ id }) => id)
