/** The producing half of the library: from a job type and inputs to jobs in the store. */
import { assert } from './core/assert.ts'
import type { JobId, Kind } from './core/job.ts'
import { defineSpec, type JobSpec } from './define-job.ts'
import type { Engine, EnqueueAnswer, EnqueueRequest } from './engine/engine.ts'
import { JobTypes } from './engine/job-types.ts'
import { type EnqueueOptions, enqueueRequest } from './enqueue-options.ts'
import { Invalid, Refused } from './errors.ts'
import { inputText } from './input-text.ts'
import type { Transaction } from './store/store.ts'

/** What became of one of them. */
export interface Produced {
  readonly id: JobId
  readonly deduped: boolean
  readonly replayed: boolean
}

/**
 * Items of `enqueueMany` per call; the store cuts them into commits. 1,000 a call, four under way: a tenth slower. Fewer in
 * the first and the last calls, so that the store begins sooner and ends on both connections at once: 200,000 to 211,000
 * jobs/s instead of 218,000.
 */
const MANY = 2_000
/** Calls under way while the next is made. 2 leave a connection waiting for it: a seventh slower; 4 gain nothing. */
const UNDER_WAY = 3

export class Producer {
  readonly types: JobTypes
  readonly #engine: Engine
  readonly #tenant: string
  /** Kinds as stores recognise them: one object per spec and tenant. */
  readonly #kinds = new WeakMap<JobSpec, Map<string, Kind>>()

  constructor(engine: Engine, tenant: string) {
    this.#engine = engine
    this.#tenant = tenant
    this.types = new JobTypes(engine)
  }

  async enqueue(job: JobSpec | string, input: unknown, options: EnqueueOptions): Promise<Produced> {
    const known = this.#kind(job, options)
    const kind = known instanceof Promise ? await known : known
    const text = inputText(kind.type, schemaOf(job), input)
    const request = enqueueRequest(kind, text instanceof Promise ? await text : text, dedupeKeyOf(job, input), options)
    const [answer] = await this.#engine.enqueue([request], options.tx)
    assert(answer !== undefined, 'every request is answered')
    if (!answer.ok) throw new Refused(answer.refusal)
    return produced(answer)
  }

  /** All inputs are validated before the first is sent; then each is enqueued or refused by itself. */
  async enqueueMany<P>(
    job: JobSpec | string,
    inputs: readonly P[],
    options: EnqueueOptions | ((input: P, index: number) => EnqueueOptions),
  ): Promise<readonly Produced[]> {
    const of = typeof options === 'function' ? options : () => options
    const shared = typeof options === 'function' ? {} : options
    const kind = await this.#kind(job, shared)
    const texts: (string | undefined)[] = new Array(inputs.length)
    for (let i = 0; i < inputs.length; i += 1) {
      const text = inputText(kind.type, schemaOf(job), inputs[i])
      texts[i] = text instanceof Promise ? await text : text
    }
    const request = (i: number): EnqueueRequest => {
      const input = inputs[i] as P
      return enqueueRequest(kind, texts[i], dedupeKeyOf(job, input), of(input, i))
    }
    return this.#sendMany(inputs.length, request, shared.tx)
  }

  /** Requests are made as they are sent, while those before them are on their way. */
  async #sendMany(
    count: number,
    request: (i: number) => EnqueueRequest,
    tx: Transaction | undefined,
  ): Promise<readonly Produced[]> {
    const all: Produced[] = []
    const refused: Refused[] = []
    const take = (answers: readonly EnqueueAnswer[]) => {
      for (const answer of answers) {
        if (answer.ok) all.push(produced(answer))
        else refused.push(new Refused(answer.refusal))
      }
    }
    const underWay: Promise<readonly EnqueueAnswer[]>[] = []
    for (let from = 0; from < count; from += MANY) {
      const requests = Array.from({ length: Math.min(MANY, count - from) }, (_, i) => request(from + i))
      const sent = this.#engine.enqueue(requests, tx)
      // Should one before it have failed, that is what the caller hears.
      sent.catch(() => {})
      underWay.push(sent)
      // A transaction is one connection: its statements follow each other.
      if (underWay.length === (tx === undefined ? UNDER_WAY : 1)) take((await underWay.shift()) ?? [])
    }
    for (const sent of underWay) take(await sent)
    if (refused.length === 1) throw refused[0]
    if (refused.length > 1) throw new AggregateError(refused, `${refused.length} of ${count} were refused.`)
    return all
  }

  #kind(job: JobSpec | string, { tenant, queue, policy }: EnqueueOptions): Kind | Promise<Kind> {
    if (typeof job === 'string') {
      const whose = tenant ?? this.#tenant
      if (queue === undefined) return this.#announced(whose, job)
      return defineSpec({ ...policy, type: job, queue, tenant: whose })
    }
    const whose = tenant ?? job.tenant
    const kinds = this.#kinds.get(job) ?? new Map<string, Kind>()
    this.#kinds.set(job, kinds)
    const known = kinds.get(whose)
    if (known !== undefined) return known
    const kind: Kind = { tenant: whose, queue: job.queue, type: job.type, policy: job.policy }
    kinds.set(whose, kind)
    return kind
  }

  async #announced(tenant: string, type: string): Promise<Kind> {
    const kind = await this.types.kind(tenant, type)
    if (kind !== undefined) return kind
    const rule = `no worker has announced ${type} yet; enqueue by its spec, or name its queue`
    throw new Invalid('enqueue', [{ field: 'type', rule }])
  }
}

const schemaOf = (job: JobSpec | string) => (typeof job === 'string' ? undefined : job.input)

const dedupeKeyOf = (job: JobSpec | string, input: unknown): string | undefined =>
  typeof job === 'string' ? undefined : job.dedupe?.(input)

const produced = ({ job, deduped, replayed }: Extract<EnqueueAnswer, { ok: true }>): Produced => ({
  id: job.id,
  deduped,
  replayed,
})
