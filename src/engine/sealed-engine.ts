/**
 * An engine whose users' words are sealed before they reach it, and opened on their way back: it stands in front of the
 * local engine and of the HTTP client alike, so that store, gateway and everything else below keep what they cannot read.
 *
 * A text is bound to its job, so the job must have a name before it is sent: where the producer chose none, it is an id that
 * the engine reserves, or, where that cannot be had (over HTTP), one that is made here and becomes the job's own.
 */
import type { Event } from '../core/event.ts'
import type { Holding } from '../core/flow/explain.ts'
import type { CancelRequest, Job, JobId } from '../core/job.ts'
import { inputOf } from '../core/newer.ts'
import type { RefusalCode } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { validate } from '../core/validate.ts'
import type { CommandType } from '../core/verb.ts'
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
  SignalName,
  Transaction,
} from '../store/store.ts'
import type { Random } from '../system/random.ts'
import { type BodyCodec, Unencodable } from './body-codec.ts'
import type {
  Answer,
  Assignment,
  ClaimRequest,
  Engine,
  EnqueueAnswer,
  EnqueueRequest,
  HeartbeatAnswer,
  HeartbeatRequest,
  KeyWord,
  LimitPage,
  LimitQuery,
  LimitStatus,
  Word,
} from './engine.ts'
import { refusedWith } from './enqueue-together.ts'
import { type Called, calledAs, JobNames, whoseIs } from './job-names.ts'
import { withProseBy } from './prose.ts'
import { isSealed, needsSealing, readerWith, sealedWord } from './sealed-words.ts'
import { isSignal, seal, unsealBody, type Whose } from './sealing.ts'

export class SealedEngine implements Engine {
  readonly #engine: Engine
  readonly #codec: BodyCodec
  readonly #random: Random
  readonly #names: JobNames

  constructor(engine: Engine, codec: BodyCodec, random: Random, names = new JobNames(engine)) {
    this.#engine = engine
    this.#codec = codec
    this.#random = random
    this.#names = names
  }

  async enqueue(
    requests: readonly EnqueueRequest[],
    tx?: Transaction,
    together = false,
  ): Promise<readonly EnqueueAnswer[]> {
    const ids = (await this.#engine.reserveIds?.(requests.map(({ kind }) => kind.tenant))) ?? []
    const { answers, places, ready } = sifted<EnqueueRequest, EnqueueAnswer>(
      requests,
      (request, i) =>
        unreplaceable(request) ?? unlessUnencodable('enqueue', undefined, () => this.#sealedRequest(request, ids[i])),
    )
    if (together && ready.length < requests.length) return requests.map((_, i) => refusedWith(answers[i]))
    const asked = places.map((i) => requests[i] as EnqueueRequest)
    const sealed = await this.#enqueueSealed(asked, ready, tx, together)
    for (const [n, i] of places.entries()) answers[i] = sealed[n] as EnqueueAnswer
    return answers
  }

  whatHolds(jobs: readonly Job[]): Promise<ReadonlyMap<JobId, Holding>> {
    return this.#engine.whatHolds(jobs)
  }

  limits(query: LimitQuery): Promise<LimitPage> {
    return this.#engine.limits(query)
  }

  sayToLimits(words: readonly KeyWord[]): Promise<readonly (LimitStatus | undefined)[]> {
    return this.#engine.sayToLimits(words)
  }

  async claim(request: ClaimRequest): Promise<readonly Assignment[]> {
    const assignments = await this.#engine.claim(request)
    return Promise.all(assignments.map((assignment) => this.#assigned(assignment)))
  }

  async settle(words: readonly Word[]): Promise<readonly Answer[]> {
    const known = await this.#names.of(words.filter(needsSealing))
    const { answers, places, ready } = sifted<Word, Answer>(words, (word) =>
      needsSealing(word) ? this.#sealedWord(word, known.get(calledAs(word))) : word,
    )
    const heard = await this.#engine.settle(ready)
    for (const [n, i] of places.entries()) {
      const word = words[i] as Word
      const answer = await this.#recognised(word, heard[n] as Answer, known.get(calledAs(word)))
      answers[i] = await this.#heard(word, answer)
    }
    return answers
  }

  async heartbeat(beats: readonly HeartbeatRequest[]): Promise<readonly HeartbeatAnswer[]> {
    const answers = await this.#engine.heartbeat(beats)
    return Promise.all(answers.map((answer, i) => this.#heard(beats[i] as HeartbeatRequest, answer)))
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const answer = await this.#engine.load(items)
    return { ...answer, items: await Promise.all(answer.items.map((found) => found && this.#opened(found))) }
  }

  async find(query: JobQuery): Promise<JobPage> {
    const page = await this.#engine.find(query)
    return { ...page, jobs: page.jobs.map((job) => this.#readable(job)) }
  }

  async events(query: EventQuery): Promise<EventPage> {
    const page = await this.#engine.events(query)
    const sealed = page.events.filter((event) => isSealed(event) || isSealed(event.payload))
    const known = await this.#names.of(sealed.map(({ jobId }) => ({ id: jobId })))
    return { ...page, events: page.events.map((event) => this.#readableEvent(event, known.get(event.jobId))) }
  }

  settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    return this.#engine.settings(operations)
  }

  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    return this.#engine.subscribe(wake)
  }

  until(signal: AbortSignal): Engine {
    return new SealedEngine(this.#engine.until(signal), this.#codec, this.#random, this.#names)
  }

  now(): number {
    return this.#engine.now()
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#engine[Symbol.asyncDispose]()
  }

  /** A record as an observer was given it, with its prose opened. */
  openedJob(job: Job): Job {
    return this.#readable(job)
  }

  /** A cancel request as its owner was given it, with its prose opened. */
  openedCancel(job: Job, cancel: CancelRequest): CancelRequest {
    return withProseBy({ cancel }, readerWith(this.#codec, whoseIs(job))).cancel
  }

  async #enqueueSealed(
    requests: readonly EnqueueRequest[],
    ready: readonly EnqueueRequest[],
    tx: Transaction | undefined,
    together: boolean,
  ): Promise<readonly EnqueueAnswer[]> {
    const sealed = [...ready]
    const answers = [...(await this.#engine.enqueue(sealed, tx, together))]
    for (let round = 0; round < requests.length; round += 1) {
      const again = await this.#sealedAsThen(requests, sealed, answers)
      if (again.length === 0) break
      for (const { i, request } of again) sealed[i] = request
      const asked = together ? sealed : again.map(({ request }) => request)
      const found = await this.#engine.enqueue(asked, tx, together)
      for (const [n, answer] of found.entries()) answers[together ? n : (again[n]?.i ?? n)] = answer
    }
    return answers.map((answer) => (answer.ok ? { ...answer, job: this.#readable(answer.job) } : answer))
  }

  #sealedRequest(request: EnqueueRequest, reservedId: JobId | undefined): EnqueueRequest {
    const { input, kind } = request
    const id = request.id ?? (reservedId === undefined ? this.#random.uuid() : undefined)
    if (input === undefined) return { ...request, reservedId }
    const about = { tenant: kind.tenant, job: id ?? reservedId ?? '', body: 'input' }
    return {
      ...request,
      id,
      reservedId,
      input: seal(this.#codec, input, about, { generation: 0, word: this.#random.hex64() }),
    }
  }

  /**
   * Another job holds its key or its id. Whether with the same words is judged below, as ever, but by texts that only
   * this side can read, and no two sealed inputs look alike: where they are equal, the same is said again exactly as it was
   * sealed then, under the name it had. Each is said again once.
   */
  async #sealedAsThen(
    requests: readonly EnqueueRequest[],
    sealed: readonly EnqueueRequest[],
    answers: readonly EnqueueAnswer[],
  ): Promise<readonly { readonly i: number; readonly request: EnqueueRequest }[]> {
    const again: { readonly i: number; readonly request: EnqueueRequest }[] = []
    for (const [i, answer] of answers.entries()) {
      const asked = requests[i] as EnqueueRequest
      if (answer.ok || !MET.has(answer.refusal.code) || asked.input === undefined) continue
      const request = await this.#asThen(asked, answer.refusal.holder)
      if (request !== undefined && request.input !== sealed[i]?.input) again.push({ i, request })
    }
    return again
  }

  /** The request with the holder's own sealed input, where that opens to the same text; undefined where it does not. */
  async #asThen(request: EnqueueRequest, holder: JobId | undefined): Promise<EnqueueRequest | undefined> {
    if (holder === undefined) return undefined
    const [found] = (await this.#engine.load([{ id: holder, bodies: ['input'] }])).items
    const input = found?.bodies['input']
    if (found === undefined || input === undefined) return undefined
    const was = await this.#opened(found)
    if (textOf(was.bodies, 'input') !== request.input) return undefined
    return { ...request, id: request.id ?? found.job.spec.alias, input }
  }

  async #assigned(assignment: Assignment): Promise<Assignment> {
    const { job, input: sealed } = assignment
    this.#names.remember(job.id, job)
    const inputs = sealed === undefined ? {} : await this.#bodies(job, { input: sealed })
    // Unreadable: it must not take its neighbours along. Who loads it is told why.
    const input = textOf(inputs, 'input')
    return {
      ...assignment,
      job: this.#readable(job),
      input,
      inputLater: input === undefined && inputOf(job) !== undefined,
    }
  }

  /** Or why not: what makes no sense is refused here, in core's words, while it can still be read. */
  #sealedWord(word: Word, whose: Whose | undefined): Word | RefusedHere {
    const { id, command } = word
    if (whose === undefined) {
      const message = `There is no job ${id}.`
      return { ok: false, refusal: refuse('NOT_FOUND', { command: command.type, jobId: id, message }) }
    }
    const violations = validate(command, this.now())
    if (violations.length === 0) return unlessUnencodable(command.type, id, () => sealedWord(this.#codec, word, whose))
    const message = violations.map(({ field, rule }) => `${field}: ${rule}`).join('; ')
    return { ok: false, refusal: refuse('INVALID', { command: command.type, jobId: id, violations, message }) }
  }

  /** The request id is taken: perhaps by this very word, sealed with another key. Then nothing can come of it but a replay. */
  async #recognised(word: Word, answer: Answer, whose: Whose | undefined): Promise<Answer> {
    if (answer.ok || answer.refusal.code !== 'REQUEST_ID_REUSED' || whose === undefined) return answer
    for (const encoder of this.#codec.formerly ?? []) {
      const sealed = unlessUnencodable(word.command.type, word.id, () => sealedWord(encoder, word, whose))
      if ('ok' in sealed) continue
      const [again] = await this.#engine.settle([sealed])
      if (again?.ok === true) return again
    }
    return answer
  }

  async #heard<A extends Answer | HeartbeatAnswer>(about: Called, answer: A): Promise<A> {
    if (!answer.ok || !isSealed(answer)) return answer
    const whose = (await this.#names.of([about])).get(calledAs(about))
    return whose === undefined ? answer : withProseBy(answer, readerWith(this.#codec, whose))
  }

  async #opened(found: Loaded): Promise<Loaded> {
    const { job, caused } = found
    this.#names.remember(job.id, job)
    return {
      job: this.#readable(job),
      bodies: await this.#bodies(job, found.bodies),
      caused: caused.map((event) => this.#readableEvent(event, whoseIs(job))),
      signals: this.#signals(job, found.bodies),
    }
  }

  /** Opens each body when it is read: one that cannot be opened is an error for the caller who reads that one. */
  async #bodies(job: Job, bodies: Loaded['bodies']): Promise<Loaded['bodies']> {
    const own = whoseIs(job)
    const { input } = bodies
    const ofInput = input === undefined ? own : ((await this.#inputWhose(job, input)) ?? own)
    return lazily(Object.keys(bodies), (name) => {
      const text = bodies[name] as string
      return unsealBody(this.#codec, { name, text }, name === 'input' ? ofInput : own, job.generation).text
    })
  }

  #signals(job: Job, bodies: Loaded['bodies']): Readonly<Record<string, SignalName | undefined>> {
    return lazily(Object.keys(bodies).filter(isSignal), (name) => {
      const text = bodies[name] as string
      return unsealBody(this.#codec, { name, text }, whoseIs(job), job.generation).heading?.signal
    })
  }

  /**
   * A retry that is a new job has the very text of the job before it, which is bound to that one's name. Of the same type:
   * a producer that says that a job has a parent must not thereby get its input read by another handler. Undefined where it cannot be
   * read as anybody's.
   */
  async #inputWhose(job: Job, text: string): Promise<Whose | undefined> {
    const { alias, parentId, kind } = job.spec
    const own = whoseIs(job)
    if (alias !== undefined || parentId === undefined || this.#isReadable(text, own)) return own
    const [parent] = (await this.#engine.load([{ id: parentId, tenant: kind.tenant }])).items
    return parent?.job.spec.kind.type === kind.type ? this.#inputWhose(parent.job, text) : undefined
  }

  #isReadable(text: string, whose: Whose): boolean {
    try {
      unsealBody(this.#codec, { name: 'input', text }, whose, 0)
      return true
    } catch {
      return false
    }
  }

  #readable(job: Job): Job {
    return isSealed(job) ? withProseBy(job, readerWith(this.#codec, whoseIs(job))) : job
  }

  #readableEvent(event: Event, whose: Whose | undefined): Event {
    if (whose === undefined) return event
    const reader = readerWith(this.#codec, whose)
    return { ...withProseBy(event, reader), payload: withProseBy(event.payload, reader) } as Event
  }
}

/** Refusals of a job that met a holder: its words differ, or look different because they were sealed anew. */
const MET: ReadonlySet<RefusalCode> = new Set(['ID_TAKEN', 'KEY_REUSED', 'REQUEST_ID_REUSED'])

type RefusedHere = Extract<Answer, { readonly ok: false }>

/** Seals items one by one: those that can be sent, with their places; one that cannot be sealed is answered here and fails no other. */
function sifted<Item extends object, Given>(
  items: readonly Item[],
  sealed: (item: Item, place: number) => Item | RefusedHere,
) {
  const answers: (Given | RefusedHere)[] = new Array(items.length)
  const places: number[] = []
  const ready: Item[] = []
  for (const [i, item] of items.entries()) {
    const made = sealed(item, i)
    if ('ok' in made) answers[i] = made
    else {
      places.push(i)
      ready.push(made)
    }
  }
  return { answers, places, ready }
}

function unlessUnencodable<T>(command: CommandType, jobId: JobId | undefined, make: () => T): T | RefusedHere {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof Unencodable)) throw error
    const { violation, message } = error
    return { ok: false, refusal: refuse('INVALID', { command, jobId, violations: [violation], message }) }
  }
}

/** The text of a body; undefined where it cannot be opened. */
function textOf(bodies: Loaded['bodies'], name: string): string | undefined {
  try {
    return bodies[name]
  } catch {
    return undefined
  }
}

/** Found when it is looked at. */
function lazily<T>(names: readonly string[], find: (name: string) => T): Readonly<Record<string, T>> {
  const found: Record<string, T> = {}
  for (const name of names) Object.defineProperty(found, name, { enumerable: true, get: () => find(name) })
  return found
}

/** A sealed text is bound to its job: one that was sealed for a duplicate could not be opened as another job's. */
function unreplaceable({ kind, dedupeKey, input }: EnqueueRequest): RefusedHere | undefined {
  if (kind.policy.onDuplicate === undefined || dedupeKey === undefined || input === undefined) return undefined
  const rule = 'must be keep where bodies are encrypted: an input is bound to its job, and cannot become another’s'
  return {
    ok: false,
    refusal: refuse('INVALID', { command: 'enqueue', violations: [{ field: 'dedupe.onDuplicate', rule }] }),
  }
}
