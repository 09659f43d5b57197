/** Everything a gateway is made of, from an engine to a `fetch`; what it needs to end again; nothing that listens. */
import { AuditLog } from '../engine/audit.ts'
import type { Engine } from '../engine/engine.ts'
import { JobTypes } from '../engine/job-types.ts'
import { Workers } from '../engine/workers.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import { type Random, realRandom } from '../system/random.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { within } from '../system/within.ts'
import { Allowance } from './allowance.ts'
import { type Fetch, gateway, type Pages } from './app.ts'
import type { Parts, Watched } from './call.ts'
import { type Caps, capsWith } from './caps.ts'
import { Census } from './census.ts'
import { Door } from './door.ts'
import { Guard } from './guard.ts'
import { Headcount } from './headcount.ts'
import type { Authorize } from './host.ts'
import { Positions } from './positions.ts'
import { Rate } from './rate.ts'
import { Refusals } from './refusals.ts'
import { Rounds } from './rounds.ts'
import { Shedding } from './shedding.ts'
import { type Token, Tokens } from './token.ts'
import { Traffic } from './traffic/traffic.ts'
import { Turns } from './turns.ts'
import { FeedReader } from './waiting/feed-reader.ts'
import { framesWith } from './waiting/frames.ts'
import { Hearing } from './waiting/hearing.ts'
import { Wakes } from './waiting/wakes.ts'

export interface AssemblyOptions {
  readonly engine: Engine
  /** False: every caller is an admin of `tenant`. */
  readonly auth: boolean
  /** The path it is mounted at; the root unless given. */
  readonly basePath?: string | undefined
  /** Says who a caller is, where the application around the gateway knows. */
  readonly authorize?: Authorize | undefined
  /** The tenant whose admin every caller is where no tokens are asked for; `default` unless given. */
  readonly tenant?: string | undefined
  /** Caps by name; those that are not given are as `docs/limits.md` says. */
  readonly caps?: Partial<Caps> | undefined
  /** Pages for browsers; none unless given. */
  readonly pages?: Pages | undefined
  readonly metricsText?: (() => Promise<string>) | undefined
  /** What the store's server promises about what it has answered, for `/readyz`. */
  readonly promise?: string | undefined
  /** Whether somebody looks at what has come due, for `/readyz`. */
  readonly upkeep?: Watched | undefined
  readonly clock?: Clock | undefined
  readonly timers?: Timers | undefined
  readonly random?: Random | undefined
  readonly log?: Log | undefined
}

export interface Assembly extends AsyncDisposable {
  readonly fetch: Fetch
  readonly tokens: Tokens
}

/** A worker's new announcement holds for everybody this soon. */
const TYPES_FRESH_MS = 2_000

export async function assemble(options: AssemblyOptions): Promise<Assembly> {
  const {
    engine,
    clock = realClock,
    timers = realTimers,
    random = realRandom,
    tenant = 'default',
    metricsText = async () => '',
    basePath = '',
    authorize = () => undefined,
  } = options
  const log = harmless(options.log ?? silentLog)
  const caps = capsWith(options.caps)
  const tokens = new Tokens(engine, clock, random, caps)
  const positions = await Positions.of(engine, random)
  const feed = new FeedReader({ engine, timers, log, framesOf: framesWith(positions) })
  const ending = new AbortController()
  const traffic = new Traffic({ engine, clock, timers, log })
  const parts: Parts = {
    engine,
    caps,
    basePath,
    tokens,
    positions,
    feed,
    hearing: new Hearing(timers, clock),
    ending: ending.signal,
    wakes: new Wakes(timers),
    ...bounds(caps),
    rounds: new Rounds(caps),
    ...records(engine, clock, caps),
    inFlight: new Set(),
    traffic,
    clock,
    timers,
    random,
    log,
    metricsText,
    promise: options.promise,
    upkeep: options.upkeep,
    dashboard: options.pages !== undefined,
  }
  const subscription = await engine.subscribe((hint) => {
    parts.wakes.hinted(hint)
    feed.hinted()
    parts.hearing.hinted(hint)
  })
  // A gateway with pages is going to be asked for the numbers on them: what goes on is counted from here on.
  if (options.pages !== undefined) traffic.asked()
  const guard = new Guard(caps, clock, random.hex64())
  const fetch = gateway({
    parts,
    caps,
    basePath,
    door: new Door({ tokens, guard, authorize, anonymous: options.auth ? undefined : anonymousAdmin(tenant) }),
    shedding: new Shedding({ capacity: caps.requests }),
    rate: new Rate(caps, clock),
    rounds: parts.rounds,
    refusals: new Refusals({ caps, clock, timers, ending: ending.signal }),
    reads: parts.reads,
    bytes: new Allowance(caps, 'bytesPerToken', 'bytes'),
    pages: options.pages,
  })
  return {
    fetch,
    tokens,
    async [Symbol.asyncDispose]() {
      ending.abort()
      parts.wakes.wakeAll()
      const rest = async () => {
        await feed[Symbol.asyncDispose]()
        await traffic[Symbol.asyncDispose]()
        await subscription[Symbol.asyncDispose]()
      }
      // A store that does not answer is not waited for: calls that are under way there end when it is closed.
      await within(timers, REST_WITHIN_MS, rest())
    },
  }
}

/** Documents about types, kinds and workers, and the audit log. */
function records(engine: Engine, clock: Clock, caps: Caps) {
  const types = new JobTypes(engine, TYPES_FRESH_MS)
  const workers = new Workers(engine)
  return {
    types,
    census: new Census(engine, clock, caps),
    workers,
    workerCount: new Headcount(clock, caps.workersPerTenant, (name, most) => workers.count(name, most)),
    typeCount: new Headcount(clock, caps.typesPerTenant, (name, most) => types.count(name, most)),
    audit: new AuditLog(engine),
  }
}

/** Allowances that all requests share. */
const bounds = (caps: Caps) => ({
  reads: new Turns({ caps, capacity: 'reads', line: 'readsPerToken' }),
  writes: new Turns({ caps, capacity: 'writes', line: 'waitingPerToken' }),
  asks: new Turns({ caps, capacity: 'lanesAsked', line: 'waitingPerToken' }),
  streams: new Allowance(caps, 'streamsPerToken', 'streams'),
  told: new Allowance(caps, 'toldPerToken', 'told'),
  polls: new Allowance(caps, 'pollsPerToken', 'polls'),
  lanes: new Allowance(caps, 'lanesPerToken', 'lanes'),
})

/** How long rounds of background services may take to end. */
const REST_WITHIN_MS = 1_000

const anonymousAdmin = (tenant: string): Token => ({
  id: 'anonymous',
  name: 'anonymous',
  scope: 'admin',
  tenant,
  queues: undefined,
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
})
