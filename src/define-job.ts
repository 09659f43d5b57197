import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Kind } from './core/job.ts'
import { type PolicyInput, resolvePolicy } from './core/resolve.ts'
import { Invalid } from './errors.ts'
import type { Context } from './worker/context.ts'

/**
 * A job type as producers know it: everything but the handler. `I` is what the handler gets, `O` what it answers, `P`
 * what producers hand in. A type-only import of one is enough: `pawl.enqueue<typeof crawlPage>('crawl.page', input)`.
 */
export interface JobSpec<Type extends string = string, I = unknown, O = unknown, P = I> extends Kind {
  readonly type: Type
  readonly input: StandardSchemaV1<P, I> | undefined
  readonly output: StandardSchemaV1<unknown, O> | undefined
  /** The piece of business a job stands for. A method, so that specs of different types fit one list. */
  readonly dedupe: Dedupe<P>['dedupe'] | undefined
  /** Nothing is ever here: it carries the types. */
  readonly '~types'?: { readonly handed: P; readonly handled: I; readonly answered: O }
}

interface Dedupe<P> {
  dedupe(input: P): string | undefined
}

/** With its handler: what a worker runs. */
export interface DefinedJob<Type extends string = string, I = unknown, O = unknown, P = I>
  extends JobSpec<Type, I, O, P> {
  run(input: I, ctx: Context): Promise<O> | O
  /** The same without the handler, for producers. */
  readonly spec: JobSpec<Type, I, O, P>
}

/** What producers of a job type hand in. */
export type InputOf<J> = J extends { readonly '~types'?: { readonly handed: infer P } } ? P : never
/** What `result()` gives back. */
export type OutputOf<J> = J extends { readonly '~types'?: { readonly answered: infer O } } ? O : never

export interface SpecOptions<Type extends string, I, O, P> extends PolicyInput {
  readonly type: Type
  readonly queue?: string | undefined
  readonly tenant?: string | undefined
  readonly input?: StandardSchemaV1<P, I> | undefined
  readonly output?: StandardSchemaV1<unknown, O> | undefined
  readonly dedupe?: Dedupe<P>['dedupe'] | undefined
}

export interface DefineOptions<Type extends string, I, O, P> extends SpecOptions<Type, I, O, P> {
  run(input: I, ctx: Context): Promise<O> | O
}

export function defineJob<const Type extends string, I = unknown, O = unknown, P = I>(
  options: DefineOptions<Type, I, O, P>,
): DefinedJob<Type, I, O, P> {
  const spec = defineSpec<Type, I, O, P>(options)
  return Object.freeze({ ...spec, spec, run: options.run })
}

/** A job type without its handler, for producers that must not load it. */
export function defineSpec<const Type extends string, I = unknown, O = unknown, P = I>(
  options: SpecOptions<Type, I, O, P>,
): JobSpec<Type, I, O, P> {
  const { type, queue = DEFAULT_QUEUE, tenant = DEFAULT_TENANT, input, output, dedupe } = options
  const resolved = resolvePolicy(options)
  if (!resolved.ok) throw new Invalid(`job type ${type}`, resolved.violations)
  return Object.freeze({ tenant, queue, type, policy: resolved.policy, input, output, dedupe })
}

/** The handler of a spec, where the two live in different modules. */
export function implementJob<Type extends string, I, O, P>(
  spec: JobSpec<Type, I, O, P>,
  run: (input: I, ctx: Context) => Promise<O> | O,
): DefinedJob<Type, I, O, P> {
  return Object.freeze({ ...spec, spec, run })
}

export const DEFAULT_TENANT = 'default'
export const DEFAULT_QUEUE = 'default'
