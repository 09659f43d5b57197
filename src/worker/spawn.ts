/** A child of a job, as its handler asks for one. What becomes of the wish is the producer's business: spawning is enqueueing. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../core/duration.ts'
import type { Job, JobFlow, JobId, Kind, Priority, PriorityName } from '../core/job.ts'
import type { PolicyInput } from '../core/resolve.ts'

/** A job type as a producer knows it. */
export interface Spawnable<P> extends Omit<Kind, 'tenant'> {
  readonly tenant: string | undefined
  readonly input?: StandardSchemaV1<P, unknown> | undefined
  readonly dedupe?: Dedupes<P>['dedupe'] | undefined
  readonly flow?: Dedupes<P>['flow'] | undefined
  /** Nothing is ever here: it carries the type of what producers hand in. */
  readonly '~types'?: { readonly handed: P }
}

/** Methods, so that types of different inputs fit one list. */
interface Dedupes<P> {
  dedupe(input: P): string | undefined
  flow(input: P): JobFlow | undefined
}

/** What may be said about a new job besides its type and its input. */
export interface SpawnOptions {
  /**
   * Your own id: works wherever an id does. The same id and input again is the same job, another input is refused.
   * @default the store's, `pj_…`
   */
  readonly id?: string | undefined
  /**
   * This piece of business: at most one live job of the type has it.
   * @default what the type's `dedupe` says, else none
   */
  readonly dedupeKey?: string | undefined
  /**
   * What lets it in, where it is enqueued by the name of its type: the names of its limit keys, in the order in which the type
   * declares them, and on whose account it takes turns.
   * @default what the type's `limit` and `fair` make of the input, else nothing
   */
  readonly flow?: { readonly keys?: readonly string[]; readonly fair?: string | undefined } | undefined
  /**
   * Run this much later.
   * @default 0
   */
  readonly delay?: Duration | undefined
  /**
   * Run then: a `Date`, or milliseconds since 1970. Not together with `delay`.
   * @default now
   */
  readonly runAt?: Date | number | undefined
  /**
   * `critical` (1), `interactive` (3), `normal` (5), `batch` (7), or a number from 0, the most urgent, to 9.
   * @default 'normal'
   */
  readonly priority?: PriorityName | Priority | undefined
  /**
   * The queue it waits in.
   * @default the type's own
   */
  readonly queue?: string | undefined
  /**
   * How it is leased, retried and ended. Given, it is the whole policy: what it leaves out has its default, not the type's.
   * @default the type's own
   */
  readonly policy?: PolicyInput | undefined
  /**
   * Whose job it is.
   * @default the type's, else that of `open`, else `default`
   */
  readonly tenant?: string | undefined
  /**
   * Up to 8 words to find it by: `pawl.find({ labels })`.
   * @default none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /**
   * What belongs together: on every event of the job, and of its children.
   * @default the parent's, else the request id
   */
  readonly correlationId?: string | undefined
  /**
   * The workflow it is part of.
   * @default the parent's, else none
   */
  readonly workflowId?: string | undefined
  /**
   * Its place in the workflow.
   * @default none
   */
  readonly stepIndex?: number | undefined
  /**
   * W3C trace context.
   * @default the active span's where `telemetry` is given, else the parent's
   */
  readonly traceparent?: string | undefined
  /**
   * A subject by which others may route it; kept, not interpreted.
   * @default none
   */
  readonly topic?: string | undefined
  /**
   * Where its context is kept, if not in the input; opaque, never fetched.
   * @default none
   */
  readonly contextPtr?: string | undefined
  /**
   * Which adapter is to run it; kept, not interpreted.
   * @default none
   */
  readonly adapterId?: string | undefined
  /**
   * Up to 64 words for whoever runs it; kept, not interpreted.
   * @default none
   */
  readonly env?: Readonly<Record<string, string>> | undefined
}

export interface SpawnWish {
  readonly parent: Job
  readonly definition: Spawnable<unknown> | string
  readonly input: unknown
  readonly options: SpawnOptions
  /** The same for the same child, however often the handler runs. */
  readonly key: string
  readonly actor: string
}

export type Spawn = (wish: SpawnWish) => Promise<JobId>
