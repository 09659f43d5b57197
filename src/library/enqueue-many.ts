/**
 * Many jobs of one type. Inputs are validated before the first is sent; then each is enqueued or refused by itself, or, where
 * they are to come together, all of them or none. Either way there is an answer for every item.
 */
import { isNativeError } from 'node:util/types'
import type { Kind } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Violation } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { wordsOf } from '../core/unknown-words.ts'
import type { Engine, EnqueueAnswer, EnqueueRequest } from '../engine/engine.ts'
import type { Transaction } from '../store/store.ts'
import { demandKnown, ENQUEUE_WORDS, type EnqueueOptions } from './enqueue-options.ts'
import { Invalid, Refused, type RefusedItem, SomeRefused } from './errors.ts'
import { inputText } from './input-text.ts'
import { type Produced, type Producer, type Producible, produced, schemaOf } from './producer.ts'
import { recognised } from './transaction-shape.ts'

/** What may differ from item to item. */
export type ItemOptions = Omit<EnqueueOptions, 'tx' | 'timeout' | 'signal'>

export interface EnqueueManyOptions<P = unknown> extends EnqueueOptions {
  /**
   * All of them or none: where one is refused, nothing is enqueued. At most 10,000 at a time, over HTTP 1,000.
   * @default false: each by itself
   */
  readonly atomic?: boolean | undefined
  /**
   * What is said about one of them besides: its own `id`, `priority` or `delay`.
   * @default nothing: they differ by their inputs only
   */
  readonly each?: ((input: P, index: number) => ItemOptions) | undefined
}

const MANY_WORDS: readonly string[] = [
  ...ENQUEUE_WORDS,
  ...wordsOf<Omit<EnqueueManyOptions, keyof EnqueueOptions>>({ atomic: true, each: true }),
]

export type EnqueueOutcome<Handle> =
  | { readonly ok: true; readonly index: number; readonly job: Handle }
  | { readonly ok: false; readonly index: number; readonly error: Error }

/**
 * Items of one call; the store cuts them into commits. 1,000 a call, four under way: a tenth slower. Fewer in the first and the
 * last calls, so that the store begins sooner and ends on both connections at once: 200,000 to 211,000 jobs/s instead of
 * 218,000.
 */
const MANY = 2_000
/** Calls under way while the next is made. 2 leave a connection waiting for it: a seventh slower; 4 gain nothing. */
const UNDER_WAY = 3
/** In one commit of the store. */
const TOGETHER_MAX = 10_000

/** What became of one: a job, or why there is none. */
export type Done = Produced | Error

export class Many<P> {
  readonly #producer: Producer
  readonly #engine: Engine
  readonly #job: Producible | string
  readonly #inputs: readonly P[]
  readonly #options: EnqueueManyOptions<P>
  readonly #tx: Transaction | undefined
  readonly #done: (Done | undefined)[]
  readonly #texts: (string | undefined)[]

  constructor(
    producer: Producer,
    engine: Engine,
    job: Producible | string,
    inputs: readonly P[],
    options: EnqueueManyOptions<P>,
  ) {
    this.#producer = producer
    this.#engine = engine
    this.#job = job
    this.#inputs = inputs
    this.#options = options
    demandKnown('enqueueMany', options, MANY_WORDS)
    this.#tx = recognised(options.tx)
    this.#done = new Array(inputs.length)
    this.#texts = new Array(inputs.length)
    if (options.atomic === true && inputs.length > TOGETHER_MAX) {
      throw new Invalid('enqueueMany', [{ field: 'inputs', rule: `at most ${TOGETHER_MAX} come together` }])
    }
  }

  /** What became of each, in order. Nothing is thrown that concerns some of them only, but for `strict` inputs. */
  async send(strict: boolean): Promise<readonly Done[]> {
    // What all of them share is looked at before the first is sent.
    const kind = await this.#producer.kind(this.#job, this.#options)
    this.#producer.request('', kind, undefined, undefined, this.#options)
    const violations = await this.#write(kind.type)
    if (strict && violations.length > 0) throw new Invalid(`validation_failed: inputs of ${kind.type}`, violations)
    if (this.#options.atomic === true) await this.#sendTogether(kind)
    else await this.#sendEach(kind)
    return this.#done as readonly Done[]
  }

  /** Those that cannot be kept, by their places. */
  async #write(type: string): Promise<readonly Violation[]> {
    const found: Violation[] = []
    const schema = schemaOf(this.#job)
    for (let i = 0; i < this.#inputs.length; i += 1) {
      try {
        const text = inputText(type, schema, this.#inputs[i])
        this.#texts[i] = text instanceof Promise ? await text : text
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        this.#done[i] = error
        found.push(
          ...error.violations.map(({ field, rule }) => ({ field: field.replace('input', `inputs.${i}`), rule })),
        )
      }
    }
    return found
  }

  async #sendTogether(kind: Kind): Promise<void> {
    const requests: EnqueueRequest[] = []
    for (let i = 0; i < this.#inputs.length; i += 1) {
      const request = await this.#request(i, kind)
      if (request !== undefined) requests.push(request)
    }
    const complete = requests.length === this.#inputs.length
    const answers = complete ? await this.#engine.enqueue(requests, this.#tx, true) : []
    for (let i = 0; i < this.#inputs.length; i += 1) this.#done[i] ??= doneBy(answers[i] ?? OTHERS_REFUSED)
  }

  /** Requests are made as they are sent, while those before them are on their way. */
  async #sendEach(kind: Kind): Promise<void> {
    const underWay: Promise<void>[] = []
    for (let from = 0; from < this.#inputs.length; from += MANY) {
      const places: number[] = []
      const requests: EnqueueRequest[] = []
      for (let i = from; i < Math.min(from + MANY, this.#inputs.length); i += 1) {
        const made = this.#request(i, kind)
        const request = made instanceof Promise ? await made : made
        if (request === undefined) continue
        places.push(i)
        requests.push(request)
      }
      underWay.push(this.#sent(places, requests))
      // A transaction is one connection: its statements follow each other.
      if (underWay.length === (this.#tx === undefined ? UNDER_WAY : 1)) await underWay.shift()
    }
    await Promise.all(underWay)
  }

  /** A call that fails concerns those in it. */
  async #sent(places: readonly number[], requests: readonly EnqueueRequest[]): Promise<void> {
    try {
      const answers = await this.#engine.enqueue(requests, this.#tx)
      for (let n = 0; n < places.length; n += 1) this.#done[places[n] as number] = doneBy(answers[n] as EnqueueAnswer)
    } catch (thrown) {
      const error = errorOf(thrown)
      for (const i of places) this.#done[i] = error
    }
  }

  /** Undefined where it was refused before, or cannot be made. */
  #request(i: number, kind: Kind): EnqueueRequest | undefined | Promise<EnqueueRequest | undefined> {
    if (this.#done[i] !== undefined) return undefined
    const input = this.#inputs[i] as P
    const { each } = this.#options
    try {
      if (each === undefined) return this.#made(i, kind, input, this.#options)
      const item = own(each(input, i))
      const options = { ...this.#options, ...item }
      const known = isAlike(item) ? kind : this.#producer.kind(this.#job, options)
      if (!(known instanceof Promise)) return this.#made(i, known, input, options)
      return known
        .then((late) => this.#made(i, late, input, options))
        .catch((error: unknown) => this.#refused(i, error))
    } catch (error) {
      return this.#refused(i, error)
    }
  }

  /** Once for each: from now on its text is the request's, and lives no longer than that. */
  #made(i: number, kind: Kind, input: P, options: EnqueueOptions): EnqueueRequest {
    const text = this.#texts[i]
    this.#texts[i] = undefined
    return this.#producer.request(this.#job, kind, input, text, options)
  }

  #refused(i: number, thrown: unknown): undefined {
    this.#done[i] = errorOf(thrown)
  }
}

/** With its place, for whoever wants to hear of each. */
export const outcomesOf = <Handle>(
  done: readonly Done[],
  handle: (produced: Produced) => Handle,
): readonly EnqueueOutcome<Handle>[] =>
  done.map((each, index) =>
    each instanceof Error ? { ok: false, index, error: each } : { ok: true, index, job: handle(each) },
  )

/** All of them as handles, or an error that tells of those that are none. */
export function handlesOf<Handle>(done: readonly Done[], handle: (produced: Produced) => Handle): readonly Handle[] {
  const handles: Handle[] = []
  const refused: RefusedItem[] = []
  for (let i = 0; i < done.length; i += 1) {
    const each = done[i] as Done
    if (each instanceof Error) refused.push({ index: i, error: each })
    else handles.push(handle(each))
  }
  const [first] = refused
  if (first === undefined) return handles
  // The store did not answer, and nothing more particular can be said of any of them.
  if (handles.length === 0 && refused.every(({ error }) => error === first.error)) throw first.error
  const culprits = refused.filter(({ error }) => !(error instanceof Refused && error.code === 'OTHERS_REFUSED'))
  throw new SomeRefused(done.length, culprits, handles)
}

/** A transaction is everybody's: one that only some of them were given would be lost on the others. */
function own(options: ItemOptions): ItemOptions {
  demandKnown('enqueueMany', options)
  const shared = (['tx', 'timeout', 'signal'] as const).filter((name) => name in options)
  if (shared.length === 0) return options
  throw new Invalid(
    'enqueueMany',
    shared.map((field) => ({ field, rule: 'is given for all of them, beside `each`' })),
  )
}

const isAlike = ({ tenant, queue, policy }: ItemOptions): boolean =>
  tenant === undefined && queue === undefined && policy === undefined

const OTHERS_REFUSED: EnqueueAnswer = { ok: false, refusal: refuse('OTHERS_REFUSED', { command: 'enqueue' }) }

const doneBy = (answer: EnqueueAnswer): Done => (answer.ok ? produced(answer) : new Refused(answer.refusal))

/** A schema or a `dedupe` may throw anything. */
const errorOf = (thrown: unknown): Error =>
  isNativeError(thrown) && thrown instanceof Error ? thrown : new Error(reasonOf(thrown), { cause: thrown })
