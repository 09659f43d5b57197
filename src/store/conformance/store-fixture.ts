/**
 * What a check works with: a store, a tenant and ids nobody else uses, and the few moves every check is made of. It is
 * the engine's loop at its smallest: load, let core decide, commit.
 */
import type { Command } from '../../core/command.ts'
import { stillHere } from '../../core/decide/heartbeat.ts'
import { type Decision, decide } from '../../core/decide.ts'
import { type Event, TRANSITION_TYPES } from '../../core/event.ts'
import { derive } from '../../core/evolve.ts'
import { gateOf } from '../../core/flow/gate.ts'
import { atRest, type Limit } from '../../core/flow/key.ts'
import { idText } from '../../core/id.ts'
import { EVERY_PRIORITY, type Job, type JobId, type Kind, type Priority, type Time } from '../../core/job.ts'
import type { Policy } from '../../core/policy.ts'
import { isStripping } from '../../core/stripped.ts'
import type {
  Beat,
  Body,
  Change,
  ClaimAnswer,
  EventPage,
  FeedItem,
  Grant,
  Key,
  Loaded,
  MoveChange,
  NewJob,
  Store,
  Verdict,
} from '../store.ts'
import type { OpenTransaction, Setup } from './conformance.ts'
import { holds, same } from './holds.ts'
import { policyOf } from './policy.ts'
import type { Resources } from './resources.ts'

/** A command without its envelope: the fixture says who asks, and under which request. */
export type Saying = {
  [C in Command as C['type']]: Omit<C, 'actor' | 'requestId'> & Partial<Pick<C, 'actor' | 'requestId'>>
}[Exclude<Command['type'], 'enqueue'>]

export interface JobOptions {
  readonly queue?: string
  readonly type?: string
  readonly tenant?: string
  readonly policy?: Partial<Policy>
  readonly priority?: Priority
  /** When it was enqueued. The fixture's beginning, unless given. */
  readonly at?: Time
  readonly runAt?: Time
  readonly alias?: string
  readonly input?: string
  readonly keys?: readonly Key[]
  readonly labels?: Readonly<Record<string, string>>
  readonly correlationId?: string
  readonly parentId?: JobId
  readonly workflowId?: string
  readonly dedupeKey?: string
  /** With what each key is limited at first. */
  readonly flow?: { readonly keys?: Readonly<Record<string, Limit>>; readonly fair?: string }
}

export async function openStoreFixture(setup: Setup, baseline: Resources): Promise<StoreFixture> {
  const first = await reserve(setup.store)
  const { now } = await setup.store.load([])
  return new StoreFixture(setup, baseline, first, now)
}

/** More ids than any check uses: beyond them are those of others. */
const BLOCK = 65_536

/** As engines do it: a block of ids, by compare-and-swap. */
async function reserve(store: Store): Promise<number> {
  for (;;) {
    const [there] = await store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
    const setting = there?.settings[0]
    const next = setting === undefined ? 1 : Number((JSON.parse(setting.text) as { next: number }).next)
    const text = JSON.stringify({ next: next + BLOCK })
    const put = { op: 'put', collection: 'ids', key: 'next', text, rev: setting?.rev ?? 0 } as const
    const [written] = await store.settings([put])
    if (written?.status === 'ok') return next
  }
}

export class StoreFixture {
  readonly setup: Setup
  /** What kept the process alive before the store was opened. */
  readonly baseline: Resources
  readonly store: Store
  readonly tenant: string
  /** The store's clock when the check began. */
  readonly begin: Time
  readonly #firstId: number
  #nextId: number
  #requests = 0

  constructor(setup: Setup, baseline: Resources, firstId: number, begin: Time) {
    this.setup = setup
    this.baseline = baseline
    this.store = setup.store
    this.tenant = `tenant-${firstId}`
    this.begin = begin
    this.#firstId = firstId
    this.#nextId = firstId
  }

  /** The same, on the store once it has been closed and opened again. */
  async reopened(): Promise<StoreFixture> {
    const store = await this.setup.reopen?.()
    holds(store !== undefined, 'the setup reopens the store')
    const again = new StoreFixture({ ...this.setup, store }, this.baseline, this.#firstId, this.begin)
    again.#nextId = this.#nextId
    again.#requests = this.#requests
    return again
  }

  id(): JobId {
    holds(this.#nextId < this.#firstId + BLOCK, `a check uses at most ${BLOCK} ids`)
    this.#nextId += 1
    return idText(this.#nextId - 1)
  }

  requestId(): string {
    this.#requests += 1
    return `${this.tenant}/${this.#requests}`
  }

  async now(): Promise<Time> {
    return (await this.store.load([])).now
  }

  async another(): Promise<Store> {
    return (await this.setup.another?.()) ?? this.store
  }

  async transaction(): Promise<OpenTransaction> {
    holds(this.setup.transaction !== undefined, 'the setup offers a transaction')
    return this.setup.transaction()
  }

  kind(options: JobOptions = {}): Kind {
    const { tenant = this.tenant, queue = 'main', type = 'suite.job', policy = {} } = options
    return { tenant, queue, type, policy: policyOf(policy) }
  }

  /** A job at its first event, as the engine would hand it to a store. */
  draft(options: JobOptions = {}, id: JobId = this.id()): NewJob {
    const { input, keys = [], priority = 5, at = this.begin } = options
    const { runAt, alias, labels, correlationId, parentId, workflowId, dedupeKey } = options
    const limits = Object.entries(options.flow?.keys ?? {})
    const flow = options.flow && { keys: limits.map(([key]) => key), fair: options.flow.fair }
    const ref = input === undefined ? undefined : { name: 'input', size: Buffer.byteLength(input), digest: undefined }
    const asked = { actor: 'producer:suite', requestId: this.requestId(), correlationId }
    const wish = {
      id,
      kind: this.kind(options),
      priority,
      runAt,
      alias,
      input: ref,
      labels,
      parentId,
      workflowId,
      dedupeKey,
      flow,
    }
    const decision = accepted(decide(undefined, { ...asked, ...wish, type: 'enqueue' }, at), 'enqueue')
    const births = limits.map(([key, limit]) => ({ key, gate: gateOf(atRest(key), limit), text: `limits of ${key}` }))
    return { job: decision.job, event: decision.events[0] as Event, input, keys, flow: flow && births }
  }

  async insert(...all: readonly JobOptions[]): Promise<readonly Job[]> {
    const drafts = all.map((options) => this.draft(options))
    const { items } = await this.store.insert(drafts)
    for (const item of items) same(item, { status: 'inserted' }, 'a new job is inserted')
    return drafts.map(({ job }) => job)
  }

  async insertOne(options: JobOptions = {}): Promise<Job> {
    return (await this.insert(options))[0] as Job
  }

  /** What core makes of a command; `at` is the present unless given. */
  decide(job: Job, saying: Saying, at: Time): Extract<Decision, { kind: 'accepted' }> {
    const command = { actor: 'suite', requestId: this.requestId(), ...saying } as Command
    return accepted(decide(job, command, at), saying.type)
  }

  /** The change that a command amounts to. */
  change(
    job: Job,
    saying: Saying,
    at: Time,
    rest: Partial<MoveChange> & { bodies?: readonly Body[] } = {},
  ): MoveChange {
    const { job: after, events, bodies } = this.decide(job, saying, at)
    const all = [...bodies, ...(rest.bodies ?? [])]
    const strips = isStripping(job, after) ? true : undefined
    const nothing = { strips, notAfter: undefined, give: [], take: [], spawn: undefined } as const
    return { kind: 'move', before: job, after, events, ...nothing, ...rest, bodies: all }
  }

  async commit(...changes: readonly Change[]): Promise<readonly Verdict[]> {
    return (await this.store.commit(changes)).verdicts
  }

  /** Commits what must be applied, and gives back the record it leads to. */
  async apply(change: MoveChange): Promise<Job> {
    same(await this.commit(change), [{ status: 'applied' }], `${change.events.at(-1)?.type} is applied`)
    return change.after
  }

  async say(job: Job, saying: Saying, at: Time = this.begin): Promise<Job> {
    return this.apply(this.change(job, saying, at))
  }

  async loaded(id: JobId, bodies: readonly string[] = []): Promise<Loaded | undefined> {
    return (await this.store.load([{ id, bodies }])).items[0]
  }

  async record(id: JobId): Promise<Job> {
    const loaded = await this.loaded(id)
    holds(loaded !== undefined, `job ${id} is there`)
    return loaded.job
  }

  async expectRecord(expected: Job, what: string): Promise<void> {
    same(await this.record(expected.id), expected, what)
  }

  async expectGone(id: JobId, what: string): Promise<void> {
    same(await this.loaded(id), undefined, what)
  }

  grant(options: Partial<Grant> & { readonly queue?: string } = {}): Grant {
    const { queue = 'main', ...rest } = options
    const lanes = EVERY_PRIORITY.map((priority) => ({ tenant: this.tenant, queue, priority }))
    const requestId = this.requestId()
    const nonce = (this.#requests * 65_537).toString(16).padStart(16, '0')
    const worker = { requestId, workerId: 'w1', actor: 'worker:w1', nonce }
    return { ...worker, lanes, limit: 100, maxInputBytes: 8 << 20, ...rest }
  }

  async claim(options: Partial<Grant> & { readonly queue?: string } = {}): Promise<ClaimAnswer> {
    return this.store.claim(this.grant(options))
  }

  /** A new job in the hands of worker w1, by the store's own claim. */
  async claimed(options: JobOptions = {}): Promise<Job> {
    const job = await this.insertOne(options)
    const answer = await this.claim({ queue: options.queue ?? 'main', limit: 1 })
    same(answer.jobs[0]?.before.id, job.id, 'the new job is claimed')
    return this.record(job.id)
  }

  /** Leases are renewed as an engine does it: what the store leaves to core is decided and committed. */
  async beat(beats: readonly Beat[]): Promise<void> {
    const { items, now } = await this.store.heartbeat(beats)
    for (const [i, { id, fence, requestId }] of beats.entries()) {
      if (items[i]?.status !== 'careful') same(items[i]?.status, 'renewed', 'the lease is renewed')
      else {
        const job = await this.record(id)
        await this.say(job, stillHere(job, fence, requestId), now)
      }
    }
  }

  /** The whole log; `limit` at a time. */
  async events(id: JobId, limit = 1_000): Promise<readonly Event[]> {
    const all: Event[] = []
    for (let afterRev = 0; ; ) {
      const { events, cursor } = await this.store.events({ by: 'job', id, afterRev, limit })
      holds(events.length <= limit, 'no page is longer than asked for')
      all.push(...events)
      if (cursor === undefined) return all
      holds(Number(cursor) > afterRev, 'a page that goes on has moved on')
      afterRev = Number(cursor)
    }
  }

  /** I3: one transition per state change, numbered without gaps, and the fold is the record. */
  async expectFolds(id: JobId): Promise<void> {
    const events = await this.events(id)
    const record = await this.record(id)
    const transitions = events.filter(({ type }) => TRANSITIONS.has(type)).filter(({ seq }) => seq !== undefined)
    same(
      transitions.map(({ seq }) => seq),
      transitions.map((_, i) => i + 1),
      'seq has no gaps',
    )
    holds(
      events.every((event, i) => i === 0 || event.rev > (events[i - 1] as Event).rev),
      'rev ascends',
    )
    same(derive(events), record, 'the fold of the events is the record')
  }

  /** All of the feed that is about this check's tenant, from `after` on. */
  async feed(after = '', store = this.store): Promise<{ readonly items: readonly FeedItem[]; readonly end: string }> {
    const items: FeedItem[] = []
    let end = after
    for (;;) {
      const page: EventPage = await store.events({ by: 'feed', after: end, limit: 500 })
      if (page.feed.length === 0) return { items, end }
      items.push(...page.feed.filter(({ tenant }) => tenant === this.tenant))
      holds(page.cursor !== undefined && page.cursor !== end, 'a page of the feed that shows something moves on')
      end = page.cursor
    }
  }

  /** Asks until the answer is right, for a bounded time by the store's own clock. */
  async eventually(what: string, probe: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
    for (let passedMs = 0; passedMs <= withinMs; passedMs += 20) {
      if (await probe()) return
      await this.setup.advance(20)
    }
    holds(false, `within ${withinMs} ms: ${what}`)
  }
}

const TRANSITIONS: ReadonlySet<string> = new Set(TRANSITION_TYPES)

function accepted(decision: Decision, what: string): Extract<Decision, { kind: 'accepted' }> {
  const why = decision.kind === 'refused' ? decision.refusal.message : decision.kind
  holds(decision.kind === 'accepted', `the suite's own ${what} is accepted by core: ${why}`)
  return decision
}
