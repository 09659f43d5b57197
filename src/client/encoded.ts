/**
 * An engine whose bodies are encoded before they leave this process: over HTTP the gateway keeps what it cannot read.
 * A body is bound to its job, so the job must have a name before it is sent: where the producer chose none, one is made.
 */
import { createHash } from 'node:crypto'
import type { Job } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { CommandType } from '../core/verb.ts'
import {
  aboutJob,
  type BodyAbout,
  type BodyCodec,
  encodeBodies,
  encoded,
  readable,
  sealed,
  Unencodable,
} from '../engine/body-codec.ts'
import type {
  Answer,
  Assignment,
  ClaimRequest,
  Engine,
  EnqueueAnswer,
  EnqueueRequest,
  HeartbeatAnswer,
  HeartbeatRequest,
  Word,
} from '../engine/engine.ts'
import type {
  EventPage,
  EventQuery,
  Hint,
  JobPage,
  JobQuery,
  LoadAnswer,
  Loaded,
  LoadItem,
  SettingAnswer,
  SettingOperation,
  Transaction,
} from '../store/store.ts'
import type { Random } from '../system/random.ts'

/** Jobs whose names are remembered; others are looked up when somebody speaks about them. */
const REMEMBERED = 50_000

/** How a wait ended is written by the core behind the gateway, which has no key; it says which signal, not what it said. */
const MEMO = /^\{"(?:signal":\d+|timedOut":true)\}$/

export class EncodedEngine implements Engine {
  readonly #engine: Engine
  readonly #codec: BodyCodec
  readonly #random: Random
  readonly #known = new Map<string, BodyAbout>()

  constructor(engine: Engine, codec: BodyCodec, random: Random) {
    this.#engine = engine
    this.#codec = codec
    this.#random = random
  }

  get claimsStand(): boolean {
    return this.#engine.claimsStand
  }

  enqueue(requests: readonly EnqueueRequest[], tx?: Transaction): Promise<readonly EnqueueAnswer[]> {
    return sent(
      requests,
      (request) => this.#named(request),
      () => 'enqueue',
      (named) => this.#engine.enqueue(named, tx),
    )
  }

  async claim(request: ClaimRequest): Promise<readonly Assignment[]> {
    const assignments = await this.#engine.claim(request)
    return assignments.map((assignment) => {
      const about = this.#remember(assignment.job)
      const input = readable(this.#codec, assignment.input, about)
      return { ...assignment, input, inputLater: input === undefined && assignment.job.spec.input !== undefined }
    })
  }

  async settle(words: readonly Word[]): Promise<readonly Answer[]> {
    const sealedWords = words.map((word) => sealed(this.#codec, word))
    await this.#learn(sealedWords.filter(({ bodies }) => bodies !== undefined && bodies.length > 0))
    return sent(
      sealedWords,
      (word) => this.#encoded(word),
      ({ command }) => command.type,
      (encodable) => this.#engine.settle(encodable),
    )
  }

  heartbeat(beats: readonly HeartbeatRequest[]): Promise<readonly HeartbeatAnswer[]> {
    return this.#engine.heartbeat(beats)
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const answer = await this.#engine.load(items)
    return { ...answer, items: answer.items.map((found) => found && { ...found, bodies: this.#decoded(found) }) }
  }

  find(query: JobQuery): Promise<JobPage> {
    return this.#engine.find(query)
  }

  events(query: EventQuery): Promise<EventPage> {
    return this.#engine.events(query)
  }

  settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    return this.#engine.settings(operations)
  }

  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    return this.#engine.subscribe(wake)
  }

  now(): number {
    return this.#engine.now()
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#engine[Symbol.asyncDispose]()
  }

  /** A repeated idempotency key must give the same words, hence the same name; anything else gets a new one. */
  #named(request: EnqueueRequest): EnqueueRequest {
    if (request.input === undefined) return request
    const { kind, idempotencyKey, input } = request
    const again = () =>
      createHash('sha256')
        .update(JSON.stringify([kind.tenant, idempotencyKey, input]))
        .digest('base64url')
    const id = request.id ?? (idempotencyKey === undefined ? this.#random.uuid() : `key-${again()}`)
    const text = encoded(this.#codec, { name: 'input', text: input }, { tenant: kind.tenant, job: id })
    if (text instanceof Unencodable) throw text
    return { ...request, id, input: text }
  }

  #decoded({ job, bodies }: Loaded): Readonly<Record<string, string>> {
    const about = aboutJob(job)
    const entries = Object.entries(bodies).map(([name, text]) => [
      name,
      MEMO.test(text) ? text : this.#codec.decode(text, about),
    ])
    return Object.fromEntries(entries)
  }

  #encoded(word: Word): Word {
    const about = this.#known.get(word.id)
    if (word.bodies === undefined || word.bodies.length === 0) return word
    // Nobody knows the job: the gateway will say so, and what was meant for it stays here.
    if (about === undefined) return { ...word, bodies: [] }
    return { ...word, bodies: encodeBodies(this.#codec, word.bodies, about) }
  }

  async #learn(words: readonly Word[]): Promise<void> {
    const unknown = [...new Set(words.map(({ id }) => id))].filter((id) => !this.#known.has(id))
    if (unknown.length === 0) return
    const { items } = await this.#engine.load(unknown.map((id) => ({ id })))
    for (const [i, found] of items.entries())
      if (found !== undefined) this.#known.set(unknown[i] as string, this.#remember(found.job))
  }

  #remember(job: Job): BodyAbout {
    const about = aboutJob(job)
    if (this.#known.size >= REMEMBERED) this.#known.delete(this.#known.keys().next().value as string)
    this.#known.set(job.id, about)
    return about
  }
}

/** One answer each: what cannot be encoded is refused here, and the others go their way without it. */
async function sent<Item, Answer>(
  items: readonly Item[],
  encode: (item: Item) => Item,
  commandOf: (item: Item) => CommandType,
  send: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly (Answer | { readonly ok: false; readonly refusal: Refusal })[]> {
  const encodable: Item[] = []
  const refusals = items.map((item) => {
    try {
      encodable.push(encode(item))
      return undefined
    } catch (error) {
      if (!(error instanceof Unencodable)) throw error
      return refuse('INVALID', { command: commandOf(item), violations: [error.violation] })
    }
  })
  const answers = encodable.length === 0 ? [] : await send(encodable)
  let at = 0
  return refusals.map((refusal) => (refusal === undefined ? (answers[at++] as Answer) : { ok: false, refusal }))
}
