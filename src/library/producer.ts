/** The producing half of the library: from a job type and an input to a job in the store. */
import { assert } from '../core/assert.ts'
import { DEFAULT_TENANT, type JobId, type Kind } from '../core/job.ts'
import type { Effect } from '../core/newer.ts'
import { isReserved, RESERVED_RULE } from '../core/reserved.ts'
import { resolvePolicy } from '../core/resolve.ts'
import type { Engine, EnqueueAnswer, EnqueueRequest } from '../engine/engine.ts'
import { JobTypes, withDuplicates } from '../engine/job-types.ts'
import type { Spawnable } from '../worker/spawn.ts'
import { demandKnown, type EnqueueOptions, enqueueRequest, PRODUCER } from './enqueue-options.ts'
import { Invalid, Refused } from './errors.ts'
import { inputText } from './input-text.ts'
import { recognised } from './transaction-shape.ts'

/** What it must know of a job type. */
export type Producible = Spawnable<unknown>

/** What became of it. */
export interface Produced {
  readonly id: JobId
  readonly deduped: boolean
  readonly replayed: boolean
  readonly effect?: Effect | undefined
}

export interface ProducerOptions {
  readonly tenant?: string | undefined
  readonly actor?: string | undefined
}

export class Producer {
  readonly types: JobTypes
  readonly #tenant: string
  readonly #actor: string
  /** Kinds as stores recognise them: one object per spec, tenant and queue. */
  readonly #kinds = new WeakMap<Producible, Map<string, Kind>>()

  constructor(
    engine: Pick<Engine, 'settings' | 'now'>,
    { tenant = DEFAULT_TENANT, actor = PRODUCER }: ProducerOptions = {},
  ) {
    this.#tenant = tenant
    this.#actor = actor
    this.types = new JobTypes(engine)
  }

  async enqueue(
    engine: Pick<Engine, 'enqueue'>,
    job: Producible | string,
    input: unknown,
    options: EnqueueOptions,
  ): Promise<Produced> {
    demandKnown(`enqueue of ${typeof job === 'string' ? job : job.type}`, options)
    const tx = recognised(options.tx)
    const known = this.kind(job, options)
    const kind = known instanceof Promise ? await known : known
    const text = inputText(kind.type, schemaOf(job), input)
    const request = this.request(job, kind, input, text instanceof Promise ? await text : text, options)
    const [answer] = await engine.enqueue([request], tx)
    assert(answer !== undefined, 'every request is answered')
    if (!answer.ok) throw new Refused(answer.refusal)
    return produced(answer)
  }

  /** `text` is what is kept of the input. */
  request(
    job: Producible | string,
    kind: Kind,
    input: unknown,
    text: string | undefined,
    options: EnqueueOptions,
  ): EnqueueRequest {
    if (typeof job === 'string') return enqueueRequest(kind, text, NOTHING_SAID, this.#actor, options)
    const said = { dedupeKey: job.dedupe?.(input), flow: job.flow?.(input) }
    return enqueueRequest(kind, text, said, this.#actor, options)
  }

  /** Synchronous where nothing has to be read. */
  kind(job: Producible | string, { tenant, queue, policy, dedupe }: EnqueueOptions): Kind | Promise<Kind> {
    if (typeof job === 'string') return this.#named(tenant ?? this.#tenant, job, { queue, policy, dedupe })
    const kind = this.#kindOf(job, { tenant, queue, policy })
    if (dedupe === undefined) return kind
    const said = withDuplicates(kind, dedupe)
    if (!said.ok) throw new Invalid(`enqueue of ${job.type}`, said.violations)
    return said.kind
  }

  #kindOf(job: Producible, { tenant, queue, policy }: Pick<EnqueueOptions, 'tenant' | 'queue' | 'policy'>): Kind {
    const whose = tenant ?? job.tenant ?? this.#tenant
    if (policy !== undefined) {
      return { tenant: whose, queue: ours(queue ?? job.queue), type: job.type, policy: policyFrom(policy) }
    }
    let kinds = this.#kinds.get(job)
    if (kinds === undefined) {
      kinds = new Map()
      this.#kinds.set(job, kinds)
    }
    // No tenant has a line break in its name.
    const name = queue === undefined ? whose : `${whose}\n${queue}`
    const known = kinds.get(name)
    if (known !== undefined) return known
    const kind: Kind = { tenant: whose, queue: ours(queue ?? job.queue), type: job.type, policy: job.policy }
    kinds.set(name, kind)
    return kind
  }

  async #named(
    tenant: string,
    type: string,
    { queue, policy, dedupe }: Pick<EnqueueOptions, 'queue' | 'policy' | 'dedupe'>,
  ): Promise<Kind> {
    const named = await this.types.named({ tenant, type, queue: queue && ours(queue), policy, dedupe })
    if (named?.ok === true) return named.kind
    const rule = `no worker has announced ${type} yet; enqueue by its spec, or name its queue`
    throw new Invalid('enqueue', named?.violations ?? [{ field: 'type', rule }])
  }
}

const NOTHING_SAID = { dedupeKey: undefined, flow: undefined }
/** A queue that jobs of users may be in. */
function ours(queue: string): string {
  if (isReserved(queue)) throw new Invalid('enqueue', [{ field: 'queue', rule: RESERVED_RULE }])
  return queue
}

function policyFrom(asked: NonNullable<EnqueueOptions['policy']>): Kind['policy'] {
  const resolved = resolvePolicy(asked)
  if (!resolved.ok) throw new Invalid('policy', resolved.violations)
  return resolved.policy
}

export const schemaOf = (job: Producible | string): Producible['input'] =>
  typeof job === 'string' ? undefined : job.input

export const produced = ({ job, deduped, replayed, effect }: Extract<EnqueueAnswer, { ok: true }>): Produced => ({
  id: job.id,
  deduped,
  replayed,
  effect,
})
