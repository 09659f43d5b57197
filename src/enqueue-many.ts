/**
 * Many jobs of one type. Inputs are validated before the first is sent; then each is enqueued or refused by itself, or, where
 * they are to come together, all of them or none. Either way there is an answer for every item.
 */
import type { Kind } from './core/job.ts'
import type { Violation } from './core/refusal.ts'
import { refuse } from './core/refuse.ts'
import type { Engine, EnqueueAnswer, EnqueueRequest } from './engine/engine.ts'
import type { EnqueueOptions } from './enqueue-options.ts'
import { Invalid, Refused } from './errors.ts'
import { inputText } from './input-text.ts'
import { type Produced, type Producer, type Producible, produced, schemaOf } from './producer.ts'
import type { Transaction } from './store/store.ts'
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

export type EnqueueOutcome<Done> =
  | { readonly ok: true; readonly index: number; readonly job: Done }
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

export class Many<P> {
  readonly #producer: Producer
  readonly #engine: Engine
  readonly #job: Producible | string
  readonly #inputs: readonly P[]
  readonly #options: EnqueueManyOptions<P>
  readonly #tx: Transaction | undefined
  readonly #outcomes: EnqueueOutcome<Produced>[]
  readonly #texts: (string | undefined)[]
  /** Of those that say nothing else. */
  #kind: Kind | undefined

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
    this.#tx = recognised(options.tx)
    this.#outcomes = new Array(inputs.length)
    this.#texts = new Array(inputs.length)
    if (options.atomic === true && inputs.length > TOGETHER_MAX) {
      throw new Invalid('enqueueMany', [{ field: 'inputs', rule: `at most ${TOGETHER_MAX} come together` }])
    }
  }

  /** Those that cannot be kept, by their places. What all of them share is looked at here too. */
  async violations(): Promise<readonly Violation[]> {
    const kind = await this.#producer.kind(this.#job, this.#options)
    this.#kind = kind
    this.#producer.request('', kind, undefined, undefined, this.#options)
    const found: Violation[] = []
    const schema = schemaOf(this.#job)
    for (let i = 0; i < this.#inputs.length; i += 1) {
      try {
        const text = inputText(kind.type, schema, this.#inputs[i])
        this.#texts[i] = text instanceof Promise ? await text : text
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        this.#outcomes[i] = { ok: false, index: i, error }
        found.push(
          ...error.violations.map(({ field, rule }) => ({ field: field.replace('input', `inputs.${i}`), rule })),
        )
      }
    }
    return found
  }

  /** What became of each, in order. Nothing is thrown that concerns some of them only. */
  async send(): Promise<readonly EnqueueOutcome<Produced>[]> {
    if (this.#options.atomic === true) await this.#sendTogether()
    else await this.#sendEach()
    return this.#outcomes
  }

  async #sendTogether(): Promise<void> {
    const requests: EnqueueRequest[] = []
    for (let i = 0; i < this.#inputs.length; i += 1) {
      const request = await this.#request(i)
      if (request !== undefined) requests.push(request)
    }
    const complete = requests.length === this.#inputs.length
    const answers = complete ? await this.#engine.enqueue(requests, this.#tx, true) : []
    for (let i = 0; i < this.#inputs.length; i += 1) this.#outcomes[i] ??= outcome(i, answers[i] ?? OTHERS_REFUSED)
  }

  /** Requests are made as they are sent, while those before them are on their way. */
  async #sendEach(): Promise<void> {
    const underWay: Promise<void>[] = []
    for (let from = 0; from < this.#inputs.length; from += MANY) {
      const places: number[] = []
      const requests: EnqueueRequest[] = []
      for (let i = from; i < Math.min(from + MANY, this.#inputs.length); i += 1) {
        const made = this.#request(i)
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
      for (const [n, i] of places.entries()) this.#outcomes[i] = outcome(i, answers[n] as EnqueueAnswer)
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      for (const i of places) this.#outcomes[i] = { ok: false, index: i, error }
    }
  }

  /** Undefined where it was refused before, or cannot be made. */
  #request(i: number): EnqueueRequest | undefined | Promise<EnqueueRequest | undefined> {
    if (this.#outcomes[i] !== undefined) return undefined
    try {
      const input = this.#inputs[i] as P
      const { each } = this.#options
      const item = each === undefined ? NOTHING : own(each(input, i))
      const options = item === NOTHING ? this.#options : { ...this.#options, ...item }
      const kind = isAlike(item) && this.#kind !== undefined ? this.#kind : this.#producer.kind(this.#job, options)
      const make = (known: Kind) => this.#producer.request(this.#job, known, input, this.#texts[i], options)
      if (!(kind instanceof Promise)) return make(kind)
      return kind.then(make).catch((error: unknown) => this.#refused(i, error))
    } catch (error) {
      return this.#refused(i, error)
    }
  }

  #refused(i: number, thrown: unknown): undefined {
    this.#outcomes[i] = { ok: false, index: i, error: thrown instanceof Error ? thrown : new Error(String(thrown)) }
  }
}

/** A transaction is everybody's: one that only some of them were given would be lost on the others. */
function own(options: ItemOptions): ItemOptions {
  const shared = (['tx', 'timeout', 'signal'] as const).filter((name) => name in options)
  if (shared.length === 0) return options
  throw new Invalid(
    'enqueueMany',
    shared.map((field) => ({ field, rule: 'is given for all of them, beside `each`' })),
  )
}

const NOTHING: ItemOptions = {}

const isAlike = ({ tenant, queue, policy }: ItemOptions): boolean =>
  tenant === undefined && queue === undefined && policy === undefined

const OTHERS_REFUSED: EnqueueAnswer = { ok: false, refusal: refuse('OTHERS_REFUSED', { command: 'enqueue' }) }

const outcome = (index: number, answer: EnqueueAnswer): EnqueueOutcome<Produced> =>
  answer.ok ? { ok: true, index, job: produced(answer) } : { ok: false, index, error: new Refused(answer.refusal) }
