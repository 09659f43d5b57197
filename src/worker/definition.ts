/** A job type: what `defineJob` makes, what producers are typed by and what a worker runs. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Policy } from '../core/policy.ts'
import type { Context } from './context.ts'

/**
 * `I` is what the handler gets (the schema's output), `O` what it answers, `P` what producers hand in (the schema's
 * input). Methods rather than properties, so that definitions of different types fit one list.
 */
export interface JobDefinition<I = unknown, O = unknown, P = I> {
  readonly type: string
  /** The tenant of its jobs; undefined: the worker's own. */
  readonly tenant: string | undefined
  readonly queue: string
  readonly policy: Policy
  readonly input?: StandardSchemaV1<P, I> | undefined
  readonly output?: StandardSchemaV1<unknown, O> | undefined
  run(input: I, ctx: Context): Promise<O> | O
  /** URL of the module that exports this definition, so that another process can import it. */
  readonly module?: string | undefined
  /** Given: every run has a process of its own. */
  readonly isolate?: 'process' | undefined
  /** Megabytes of V8's heap for that process; as much as Node thinks fit unless given. */
  readonly memoryMb?: number | undefined
}
