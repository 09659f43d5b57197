import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type DuplicatesInput, FORMER } from '../core/duplicates.ts'
import type { LimitInput } from '../core/flow/limit-input.ts'
import { DEFAULT_TENANT, type JobFlow, type Kind } from '../core/job.ts'
import type { Violation } from '../core/refusal.ts'
import { isReserved, RESERVED_RULE } from '../core/reserved.ts'
import { POLICY_WORDS, type PolicyInput, resolvePolicy } from '../core/resolve.ts'
import { unknownWords, wordsOf } from '../core/unknown-words.ts'
import { kindViolations } from '../core/validate.ts'
import type { Context } from '../worker/context.ts'
import { Invalid } from './errors.ts'

/**
 * A job type as producers know it: everything but the handler. `I` is what the handler gets, `O` what it answers, `P`
 * what producers hand in. A type-only import of one is enough: `pawl.enqueue<typeof crawlPage>('crawl.page', input)`.
 */
export interface JobSpec<Type extends string = string, I = unknown, O = unknown, P = I> extends Omit<Kind, 'tenant'> {
  readonly type: Type
  /** Undefined: that of whoever enqueues and works. */
  readonly tenant: string | undefined
  readonly input: StandardSchemaV1<P, I> | undefined
  readonly output: StandardSchemaV1<unknown, O> | undefined
  /** The piece of business a job stands for. A method, so that specs of different types fit one list. */
  readonly dedupe: Dedupe<P>['dedupe'] | undefined
  /** What lets a job in. */
  readonly flow: Flows<P>['flow'] | undefined
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
/** What the handler of a job type answers; `result()` gives back what JSON keeps of it (`Jsonify`). */
export type OutputOf<J> = J extends { readonly '~types'?: { readonly answered: infer O } } ? O : never

/** A name that jobs share, such as a domain, and what is limited under it. */
export interface LimitOptions<P> extends LimitInput {
  /** The name, or how it follows from the input. Jobs of other types that say the same share the limit. */
  readonly key: string | Naming<P>['key']
}

/** Methods, so that specs of different types fit one list. */
interface Naming<P> {
  key(input: P): string
}

export interface FlowOptions<P> {
  /**
   * What its jobs share that is limited: one key, or up to four, of each of which a job needs a slot before it runs. The numbers
   * hold until others are set by hand (`pawl.limits.set`).
   * @default nothing is limited
   */
  readonly limit?: LimitOptions<P> | readonly LimitOptions<P>[] | undefined
  /**
   * On whose account a job takes turns: whoever has a million jobs does not make the others of its queue wait. `weight` of
   * that name's limit is its share.
   * @default first in, first out
   */
  readonly fair?: Fair<P>['fair'] | undefined
}

interface Fair<P> {
  fair(input: P): string | undefined
}

interface Flows<P> {
  flow(input: P): JobFlow | undefined
}

/** The piece of business, and what becomes of duplicates. */
export interface DedupeOptions<P> extends DuplicatesInput {
  /** The piece of business a job with this input stands for; undefined where it is its own. */
  key(input: P): string | undefined
}

export interface SpecOptions<Type extends string, I, O, P> extends Omit<PolicyInput, 'dedupe'>, FlowOptions<P> {
  /** The name of the type, unique among its tenant's: `mail.send`. */
  readonly type: Type
  /**
   * Where its jobs wait.
   * @default 'default'
   */
  readonly queue?: string | undefined
  /**
   * Whose jobs they are.
   * @default that of `open`, else `default`
   */
  readonly tenant?: string | undefined
  /**
   * What may be handed in: any Standard Schema. Asked at enqueue, about what JSON keeps of it, and once more at the worker.
   * @default anything that JSON can keep; a `Date` becomes text
   */
  readonly input?: StandardSchemaV1<P, I> | undefined
  /**
   * What the handler must answer: any Standard Schema.
   * @default anything that JSON can keep; a `Date` becomes text
   */
  readonly output?: StandardSchemaV1<unknown, O> | undefined
  /**
   * The piece of business a job stands for: at most one live job of the type has the same.
   * @default none: every job is its own
   */
  readonly dedupe?: Dedupe<P>['dedupe'] | DedupeOptions<P> | undefined
}

/** Where the handler runs. */
export interface HandlerOptions {
  /**
   * The module that exports this job: `import.meta.url`. A worker needs it to run a job in a process of its own, which it does
   * with every job whose last attempt ended without a word (its worker died, or lost its lease): should the job have been the
   * cause, it crashes by itself this time, and that is its own failure, `E_CRASH`. Without a module such a job runs alone in
   * its worker instead, which finishes everything else first. Importing the module must start nothing: no server, no worker.
   * @default none; `pawl work <module>` names the module by itself
   */
  readonly module?: string | URL | undefined
  /**
   * `'process'`: every run has a process of its own, with the `module` it needs. A crash, in native code too, or memory that
   * runs out costs that one job; a hard cancel and a time limit end a handler that does not listen. `ctx.tx` is refused
   * there. `pawl/testing` runs all handlers in the test's process.
   * @default handlers run in the worker's own process, where a cancel is a request
   */
  readonly isolate?: 'process' | undefined
  /**
   * With `isolate`: megabytes of V8's heap for the process.
   * @default as much as Node thinks fit
   */
  readonly memoryMb?: number | undefined
}

export interface DefineOptions<Type extends string, I, O, P, R> extends SpecOptions<Type, I, O, P>, HandlerOptions {
  /** The handler. Returning ends the job; throwing fails the attempt, and says by the error what that means. */
  run(input: I, ctx: Context): Promise<R> | R
}

const HANDLER_WORDS = wordsOf<HandlerOptions>({ module: true, isolate: true, memoryMb: true })

const SPEC_WORDS: readonly string[] = [
  ...wordsOf<Omit<SpecOptions<string, unknown, unknown, unknown>, keyof PolicyInput>>({
    type: true,
    queue: true,
    tenant: true,
    input: true,
    output: true,
    limit: true,
    fair: true,
  }),
  ...POLICY_WORDS.filter((word) => word !== 'limits'),
]

/** `R` is what the handler is seen to answer: where `output` says what it must be, a difference is reported at `run`. */
export function defineJob<const Type extends string, I = unknown, O = unknown, P = I, R extends O = O>(
  options: DefineOptions<Type, I, O, P, R>,
): DefinedJob<Type, I, Answered<O, R>, P> {
  const { run, module, isolate, memoryMb, ...words } = options
  const spec: JobSpec<Type, I, O, P> = specOf<Type, I, O, P>(words, [...SPEC_WORDS, ...HANDLER_WORDS, 'run'])
  return implementJob(spec, run, { module, isolate, memoryMb }) as never
}

type Answered<O, R> = unknown extends O ? R : O

/** A job type without its handler, for producers that must not load it. */
export function defineSpec<const Type extends string, I = unknown, O = unknown, P = I>(
  options: SpecOptions<Type, I, O, P>,
): JobSpec<Type, I, O, P> {
  return specOf(options, SPEC_WORDS)
}

function specOf<const Type extends string, I, O, P>(
  options: SpecOptions<Type, I, O, P>,
  known: readonly string[],
): JobSpec<Type, I, O, P> {
  const unknown = unknownWords(options, known).filter(({ field }) => field !== FORMER)
  if (unknown.length > 0) throw new Invalid(`job type ${String(options.type)}`, unknown)
  const { type, queue = DEFAULT_QUEUE, tenant, input, output, dedupe: asked, limit: _, fair: __, ...policy } = options
  const duplicates = typeof asked === 'function' ? undefined : asked
  const dedupe = typeof asked === 'function' ? asked : asked && ((handed: P) => asked.key(handed))
  const resolved = resolvePolicy({ ...policy, limits: limitsOf(options), dedupe: duplicates })
  const names = namesOf(type, queue, tenant)
  const violations = resolved.ok ? names : [...names, ...resolved.violations]
  if (!resolved.ok || violations.length > 0) throw new Invalid(`job type ${String(type)}`, violations)
  const flow = flowsOf(type, options)
  return Object.freeze({ tenant, queue, type, policy: resolved.policy, input, output, dedupe, flow })
}

/** The handler of a spec, where the two live in different modules. */
export function implementJob<Type extends string, I, O, P>(
  spec: JobSpec<Type, I, O, P>,
  run: (input: I, ctx: Context) => Promise<O> | O,
  options: HandlerOptions = {},
): DefinedJob<Type, I, O, P> {
  const unknown = unknownWords(options, HANDLER_WORDS)
  if (unknown.length > 0) throw new Invalid(`job type ${spec.type}`, unknown)
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

/** Said when it is defined, not when the first job of it is enqueued. */
function namesOf(type: string, queue: string, tenant: string | undefined): readonly Violation[] {
  const found = kindViolations({ tenant: tenant ?? DEFAULT_TENANT, queue, type, policy: {} })
  return isReserved(String(queue)) ? [...found, { field: 'queue', rule: RESERVED_RULE }] : found
}

export const DEFAULT_QUEUE = 'default'

/** The numbers, which go into the policy. */
function limitsOf<P>({ limit }: FlowOptions<P>): readonly LimitInput[] | undefined {
  if (limit === undefined) return undefined
  return listed(limit).map(({ key: _, ...numbers }) => numbers)
}

/** The names of a job with this input; undefined where its type has nothing of the kind. */
function flowsOf<P>(type: string, { limit, fair }: FlowOptions<P>): Flows<P>['flow'] | undefined {
  if (limit === undefined && fair === undefined) return undefined
  const limits = limit === undefined ? [] : listed(limit)
  const violations = limits.flatMap(({ key }, i): Violation[] =>
    typeof key === 'string' || typeof key === 'function'
      ? []
      : [{ field: `limit.${i}.key`, rule: 'must be text, or a function of the input that gives it' }],
  )
  if (violations.length > 0) throw new Invalid(`job type ${type}`, violations)
  return (input) => {
    const keys = limits.map(({ key }) => (typeof key === 'string' ? key : key(input)))
    const whose = fair?.(input)
    return keys.length === 0 && whose === undefined ? undefined : { keys, fair: whose }
  }
}

const listed = <T>(one: T | readonly T[]): readonly T[] => (Array.isArray(one) ? one : [one as T])
