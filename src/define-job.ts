import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Kind } from './core/job.ts'
import type { Violation } from './core/refusal.ts'
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
  readonly module: string | undefined
  readonly isolate: 'process' | undefined
  readonly memoryMb: number | undefined
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

/** Where the handler runs. */
export interface HandlerOptions {
  /**
   * The module that exports this job: `import.meta.url`. None unless given. A worker needs it to run a job in a process of
   * its own, which it does with every job whose last attempt ended without a word (its worker died, or lost its lease):
   * should the job have been the cause, it crashes by itself this time, and that is its own failure, `E_CRASH`. Without a
   * module such a job runs alone in its worker instead, which finishes everything else first.
   *
   * Importing the module must start nothing: no server, no worker. `pawl work <module>` names the module by itself.
   */
  readonly module?: string | URL | undefined
  /**
   * `'process'`: every run has a process of its own, with the `module` it needs. A crash, in native code too, or memory that
   * runs out costs that one job; a hard cancel and a time limit end a handler that does not listen. `ctx.tx` is refused
   * there. Not given: handlers run in the worker's own process, where a cancel is a request. `pawl/testing` runs all
   * handlers in the test's process.
   */
  readonly isolate?: 'process' | undefined
  /** With `isolate`: megabytes of V8's heap for the process; as much as Node thinks fit unless given. */
  readonly memoryMb?: number | undefined
}

export interface DefineOptions<Type extends string, I, O, P> extends SpecOptions<Type, I, O, P>, HandlerOptions {
  run(input: I, ctx: Context): Promise<O> | O
}

export function defineJob<const Type extends string, I = unknown, O = unknown, P = I>(
  options: DefineOptions<Type, I, O, P>,
): DefinedJob<Type, I, O, P> {
  const spec = defineSpec<Type, I, O, P>(options)
  return implementJob(spec, options.run, options)
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
  options: HandlerOptions = {},
): DefinedJob<Type, I, O, P> {
  return Object.freeze({ ...spec, spec, run, ...placeOf(spec.type, options) })
}

const MEMORY_MB = { min: 16, max: 1_048_576 }

function placeOf(type: string, options: HandlerOptions): Pick<DefinedJob, 'module' | 'isolate' | 'memoryMb'> {
  const { module, isolate, memoryMb } = options
  const v: Violation[] = []
  if (module !== undefined && !URL.canParse(String(module)))
    v.push({ field: 'module', rule: 'must be a URL: import.meta.url' })
  if (isolate !== undefined && isolate !== 'process') v.push({ field: 'isolate', rule: "must be 'process'" })
  if (isolate !== undefined && module === undefined) {
    v.push({ field: 'module', rule: 'must be given with isolate: the process imports the handler from it' })
  }
  if (memoryMb !== undefined && isolate === undefined) v.push({ field: 'memoryMb', rule: 'is for isolate alone' })
  if (
    memoryMb !== undefined &&
    !(Number.isInteger(memoryMb) && memoryMb >= MEMORY_MB.min && memoryMb <= MEMORY_MB.max)
  ) {
    v.push({ field: 'memoryMb', rule: `must be a whole number from ${MEMORY_MB.min} to ${MEMORY_MB.max}` })
  }
  if (v.length > 0) throw new Invalid(`job type ${type}`, v)
  return { module: module === undefined ? undefined : String(module), isolate, memoryMb }
}

export const DEFAULT_TENANT = 'default'
export const DEFAULT_QUEUE = 'default'
