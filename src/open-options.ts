/** What `open` may be told: once for whatever is opened, and once for what a URL leads to. */
import type { Duration } from './core/duration.ts'
import type { BodyCodec } from './engine/body-codec.ts'
import type { Metrics } from './engine/metrics.ts'
import type { Tracing } from './engine/observer.ts'
import type { RetentionOptions } from './engine/retention-options.ts'
import type { TickerOptions } from './engine/ticker.ts'
import type { Hooks } from './library/hooks.ts'
import type { Telemetry } from './library/telemetry.ts'
import type { Clock } from './system/clock.ts'
import type { Log } from './system/log.ts'
import type { Random } from './system/random.ts'
import type { Timers } from './system/timers.ts'

/** What holds wherever the jobs are. */
export interface OpenOnOptions extends Hooks {
  /**
   * Postgres: connections at most, those that listen and keep leases included; not less than 8. Transactions of handlers (`ctx.tx`)
   * come besides.
   * @default 8
   */
  readonly connections?: number | undefined
  /**
   * Postgres: connections that stay open although nobody has used them for some seconds. A worker that waits for work uses 3.
   * @default 3
   */
  readonly idleConnections?: number | undefined
  /**
   * Whose jobs these are: new ones belong to it, and no call sees any other. Over HTTP the token says so.
   * @default `default` for new jobs; every tenant's are seen
   */
  readonly tenant?: string | undefined
  /**
   * Who enqueues and gives commands, unless a call says otherwise. Over HTTP the token says so.
   * @default `producer` for new jobs, `operator` for commands
   */
  readonly actor?: string | undefined
  /**
   * Where people see these jobs: `https://ops.example/jobs`. What hooks are told, and the warning of an attempt that failed, then
   * have a `link` to the job.
   * @default no links
   */
  readonly dashboardUrl?: string | undefined
  /**
   * Where lines go: warnings, errors, and one line per transition where the store is at hand; or `silent`.
   * @default warnings and errors on standard error, as JSON lines
   */
  readonly log?: Log | 'silent' | undefined
  /**
   * Numbers for whoever collects them. Over HTTP the gateway's process has them.
   * @default nobody counts
   */
  readonly metrics?: Metrics | undefined
  /**
   * Told of every transition that this process makes. Over HTTP the gateway's process makes them.
   * @default nobody is told
   */
  readonly tracing?: Tracing | undefined
  /**
   * What becomes of bodies on their way to the store and back: `aesGcm` encrypts them.
   * @default they are kept as they are
   */
  readonly codec?: BodyCodec | undefined
  /**
   * Spans and measures; `pawl/otel` has those of OpenTelemetry.
   * @default none
   */
  readonly telemetry?: Telemetry | undefined
  /**
   * Notices expired leases, passed deadlines and schedules that are due; `false` where another process does. Over HTTP the
   * gateway's process does.
   * @default runs in this process, looking once a second unless another does
   */
  readonly ticker?: TickerOptions | false | undefined
  /**
   * Removes what ended long ago; `false` where another process does, or nobody should. Over HTTP the gateway's process does.
   * @default runs in this process: succeeded jobs are kept for 7 days, others for 30
   */
  readonly retention?: RetentionOptions | false | undefined
  /**
   * What time it is; tests bring their own.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Unguessable bits; tests bring their own.
   * @default the machine's generator
   */
  readonly random?: Random | undefined
  /**
   * Waiting; tests bring their own.
   * @default the machine's timers
   */
  readonly timers?: Timers | undefined
}

export interface OpenOptions extends OpenOnOptions {
  /**
   * How long opening may take, with everything that is waited for: a server that starts, another process that migrates. Then it rejects
   * with `CallTimedOut`.
   * @default no limit; a server that cannot be reached is an error within 10 s, a migration under way takes as long as it takes
   */
  readonly timeout?: Duration | undefined
  /**
   * Calls opening off: it rejects with the signal's reason. What was opened by then is closed.
   * @default nobody calls it off
   */
  readonly signal?: AbortSignal | undefined
  /**
   * Postgres, also as a ledger: bring pawl's schema up to date first. Otherwise an outdated one is refused, with the command to run.
   * @default false
   */
  readonly migrate?: boolean | undefined
  /**
   * Postgres, also as a ledger: pawl's own schema.
   * @default 'pawl'
   */
  readonly schema?: string | undefined
  /**
   * Postgres: a way to the server itself, for hints and for `ctx.tx`, where the URL leads through a transaction pooler.
   * @default the URL
   */
  readonly directUrl?: string | undefined
  /**
   * Redis: what the names of all keys begin with; another prefix is another installation. Also `?prefix=…` in the URL.
   * @default 'pawl'
   */
  readonly prefix?: string | undefined
  /**
   * Redis: `none` says that jobs may be lost. Otherwise a server that keeps nothing on disk, or evicts keys, is refused. Also
   * `?durability=none` in the URL.
   * @default what the server's own settings promise, which is said in the log, by `pawl doctor` and by `/readyz`
   */
  readonly durability?: 'none' | undefined
  /**
   * Redis: a ledger, `postgres://…`: all that Redis does is written through to it (docs/redis.md). Also `?ledger=…` in the URL.
   * @default none: what was answered is where Redis' own settings keep it
   */
  readonly ledger?: string | undefined
  /**
   * Redis with a ledger: whom an answer waits for. `redis`: the ledger follows (docs/redis.md). Also `?ack=…` in the URL.
   * @default 'ledger'
   */
  readonly ack?: 'ledger' | 'redis' | undefined
  /**
   * Postgres, Redis: how long a call is repeated while the server is away, before it fails as UNAVAILABLE.
   * @default '30s'
   */
  readonly retryFor?: Duration | undefined
  /**
   * Postgres: how long a statement may go unanswered before it is asked after, and its connections replaced where the
   * server is not at it. Redis: how long the server may be silent before the connection is replaced. Less than half of your
   * shortest lease.
   * @default '5s'
   */
  readonly answerWithin?: Duration | undefined
  /**
   * The folder of a policy (docs/policy.md): this process judges jobs that wait to be admitted, by it and by what their tenants have set
   * besides. One that is broken is refused. `settings:`: by what tenants have set alone. Over HTTP the gateway's process judges.
   * @default nobody judges here
   */
  readonly policy?: string | undefined
  /**
   * Beside a policy: the URL of a safety kernel (docs/policy.md), which is asked about every job that the rules would let in, and may
   * forbid it.
   * @default nobody else is asked
   */
  readonly kernel?: string | undefined
  /**
   * HTTP: the gateway's token.
   * @default none
   */
  readonly token?: string | undefined
}
