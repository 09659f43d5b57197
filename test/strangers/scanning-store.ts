/**
 * A store as a stranger would write one: the port and the heart out of `pawl/engine`, and nothing else of pawl. It keeps
 * everything in one map and looks through all of it for every question, so it is right before it is fast. Each call does
 * all of its work before it returns, so that calls never interleave.
 */
import {
  type Agenda,
  type Annotation,
  askedOf,
  type Backlog,
  type Beat,
  type BeatAnswer,
  type Beaten,
  type Change,
  type ClaimAnswer,
  type ClaimedJob,
  type CommitAnswer,
  type DueAnswer,
  decide,
  type Event,
  type EventPage,
  type EventQuery,
  type FeedItem,
  type Grant,
  type Hint,
  hasLongLog,
  type InsertAnswer,
  type Inserted,
  idNumber,
  isId,
  isMereRenewal,
  type Job,
  type JobId,
  type JobPage,
  type JobQuery,
  judgeAt,
  type Key,
  type Lane,
  type LoadAnswer,
  type Loaded,
  type LoadItem,
  matches,
  type NewJob,
  queueKey,
  type Setting,
  type SettingAnswer,
  type SettingOperation,
  type Store,
  servedBy,
  stillHere,
  type Tally,
  type Time,
  type Verdict,
} from '../../src/engine.ts'

interface Row {
  job: Job
  events: Event[]
  readonly bodies: Map<string, string>
  readonly annotations: Annotation[]
  /** When it is to be handed to a ticker: its own time, or five seconds after it was handed to one. */
  /** When it is to be handed out. */
  times: Partial<Record<Agenda, Time | undefined>>
  /** The answer that gave the present lease. */
  claim: { readonly requestId: string; readonly fence: string; readonly answer: ClaimedJob } | undefined
}

const HANDED_OUT_MS = 5_000

export class ScanningStore implements Store {
  readonly #rows = new Map<JobId, Row>()
  /** By tenant, purpose and key. */
  readonly #keys = new Map<string, { readonly holder: JobId; readonly until: Time | undefined }>()
  readonly #settings = new Map<string, Setting>()
  readonly #feed: FeedItem[] = []
  readonly #listeners = new Set<{ readonly wake: (hint: Hint) => void }>()
  readonly #read: () => Time
  #latest = 0
  #purged = 0
  #closed = false

  constructor(now: () => Time) {
    this.#read = now
  }

  async insert(items: readonly NewJob[], tx?: object, together = false): Promise<InsertAnswer> {
    if (tx !== undefined) throw new Error('this store has no transactions')
    const now = this.#now()
    // What is inserted together is tried, and taken back where one of them meets somebody.
    const answers = items.map((item) => this.#insert(item, now))
    if (together && answers.some(({ status }) => status !== 'inserted')) {
      for (const [i, { job }] of items.entries()) if (answers[i]?.status === 'inserted') this.#remove(job.id)
      this.#feed.splice(this.#feed.length - answers.filter(({ status }) => status === 'inserted').length)
    } else {
      for (const [i, { job }] of items.entries()) if (answers[i]?.status === 'inserted') this.#tell(job)
    }
    return { now, items: answers }
  }

  #insert({ job, event, input, keys, flow }: NewJob, now: Time): Inserted {
    if (flow !== undefined) return NO_LIMITS
    const { alias, kind } = job.spec
    const wanted = keys.map((key) => ({ by: key.purpose, name: keyName(job, key), until: key.until }))
    const names = [
      ...(alias === undefined ? [] : [{ by: 'alias', name: aliasName(kind.tenant, alias) } as const]),
      ...wanted,
    ]
    const met = [
      { by: 'id', holder: job.id } as const,
      ...names.map(({ by, name }) => ({ by, holder: this.#holder(name, now) })),
    ]
    for (const { by, holder } of met) {
      const row = this.#rows.get(holder ?? '')
      if (row !== undefined) return { status: 'exists', by, job: row.job, sameInput: row.bodies.get('input') === input }
    }
    const bodies = new Map(input === undefined ? [] : [['input', input]])
    this.#rows.set(job.id, { job, events: [], bodies, annotations: [], times: {}, claim: undefined })
    this.#place(job, [event])
    for (const each of names)
      this.#keys.set(each.name, { holder: job.id, until: 'until' in each ? each.until : undefined })
    return { status: 'inserted' }
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    return { now: this.#now(), items: items.map((item) => this.#load(item)) }
  }

  #load({ id, key, tenant, bodies: names = [], requestId, log = 0 }: LoadItem): Loaded | undefined {
    const direct = key === undefined && isId(id)
    const name = JSON.stringify([tenant, key ?? 'alias', id])
    const row = this.#rows.get(direct ? id : (this.#keys.get(name)?.holder ?? ''))
    if (row === undefined || (tenant !== undefined && row.job.spec.kind.tenant !== tenant)) return undefined
    const wanted = (body: string) =>
      names.some((each) => each === body || (each.endsWith('/') && body.startsWith(each)))
    return {
      job: row.job,
      bodies: Object.fromEntries([...row.bodies].filter(([body]) => wanted(body))),
      caused: requestId === undefined ? [] : row.events.filter((event) => event.requestId === requestId),
      log: row.events.length <= log ? [...row.events] : undefined,
    }
  }

  /** Whoever waits scans again and again. */
  async claim({ waitMs = 0, signal, ...grant }: Grant): Promise<ClaimAnswer> {
    const until = this.#now() + waitMs
    for (;;) {
      const answer = this.#claim(signal?.aborted === true ? { ...grant, lanes: [] } : grant)
      if (answer.jobs.length > 0 || signal?.aborted === true || this.#now() >= until) return answer
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  #claim(grant: Grant): ClaimAnswer {
    const now = this.#now()
    const again = [...this.#rows.values()].flatMap(({ job, claim }) =>
      claim?.requestId === grant.requestId && (job.lease?.expiresAt ?? 0) > now ? [claim.answer] : [],
    )
    const jobs = again.length > 0 ? again : this.#ready(grant, now).map((row) => this.#take(row, grant, now))
    let left = grant.maxInputBytes
    const withInput = (claimed: ClaimedJob): ClaimedJob => {
      const input = this.#rows.get(claimed.before.id)?.bodies.get('input')
      const bytes = Buffer.byteLength(input ?? '')
      if (input === undefined || bytes > left) return claimed
      left -= bytes
      return { ...claimed, input }
    }
    return { now, replayed: again.length > 0, jobs: jobs.map(withInput) }
  }

  #ready(grant: Grant, now: Time): readonly Row[] {
    const found = grant.lanes.flatMap((lane) => {
      const document = this.#settings.get(settingName('queue', queueKey(lane.tenant, lane.queue)))
      const paused = document !== undefined && (JSON.parse(document.text) as { paused?: boolean }).paused === true
      const waiting = paused ? [] : [...this.#rows.values()].filter(({ job }) => isReady(job, lane, now))
      waiting.sort((a, b) => (a.job.readyAt ?? 0) - (b.job.readyAt ?? 0) || numberOf(a.job) - numberOf(b.job))
      return [...served(waiting, grant), ...waiting.filter(({ job }) => job.needs === undefined)]
    })
    return [...new Set(found)].slice(0, grant.limit)
  }

  #take(row: Row, { requestId, actor, workerId, nonce }: Grant, now: Time): ClaimedJob {
    const before = row.job
    const decision = decide(before, { type: 'claim', actor, requestId, workerId, nonce }, now)
    if (decision.kind !== 'accepted') throw new Error(`${before.id} was ready and could not be claimed`)
    const { rev, attempt, lease } = decision.job
    if (lease === undefined) throw new Error(`${before.id} was claimed and has no lease`)
    this.#place(decision.job, decision.events)
    const { tenant, queue } = before.spec.kind
    this.#hint({ about: 'job', id: before.id, tenant, queue })
    const answer = { before, rev, attempt, leaseExpiresAt: lease.expiresAt, at: now, input: undefined }
    row.claim = { requestId, fence: lease.fence, answer }
    return answer
  }

  async commit(changes: readonly Change[]): Promise<CommitAnswer> {
    const now = this.#now()
    return { now, verdicts: changes.map((change) => this.#commit(change, now)) }
  }

  #commit(change: Change, now: Time): Verdict {
    if (change.kind === 'key' || change.kind === 'mend') return NO_LIMITS
    const row = this.#rows.get(change.kind === 'annotate' ? change.annotation.jobId : change.before.id)
    if (row === undefined) return CONFLICT
    if (change.kind !== 'annotate' && row.job.rev !== change.before.rev) return CONFLICT
    switch (change.kind) {
      case 'move':
        return this.#move(row, change, now)
      case 'compact':
        row.events = [...row.events.filter(({ rev }) => !change.replaces.includes(rev)), change.event]
        row.events.sort((a, b) => a.rev - b.rev)
        return APPLIED
      case 'annotate': {
        const { generation, attempt, command } = change.annotation
        const isSame = (each: Annotation) =>
          each.generation === generation && each.attempt === attempt && each.command === command
        if (!row.annotations.some(isSame)) row.annotations.push(change.annotation)
        return APPLIED
      }
      case 'purge':
        this.#remove(row.job.id)
        this.#purged += 1
        return APPLIED
    }
  }

  #move(row: Row, change: Extract<Change, { kind: 'move' }>, now: Time): Verdict {
    const { before, after, events, bodies, notAfter, give, take, spawn } = change
    if (change.births !== undefined) return NO_LIMITS
    if (notAfter !== undefined && now >= notAfter) return { status: 'late' }
    const given = new Set(give.map((key) => keyName(before, key)))
    const wanted = [
      ...take.map((key) => [before, key] as const),
      ...(spawn?.keys ?? []).map((key) => [spawn?.job ?? before, key] as const),
    ]
    for (const [job, key] of wanted) {
      const holder = this.#holder(keyName(job, key), now)
      const free = holder === undefined || holder === job.id || (holder === before.id && given.has(keyName(job, key)))
      if (!free) return { status: 'taken', key, holder }
    }
    const alias = spawn?.job.spec.alias
    const second = alias !== undefined && this.#holder(aliasName(before.spec.kind.tenant, alias), now) !== undefined
    if (spawn !== undefined && (this.#rows.has(spawn.job.id) || second)) return CONFLICT
    this.#place(after, events)
    for (const { name, text } of bodies) row.bodies.set(name, text)
    if (change.strips === true) row.bodies.clear()
    for (const name of given) if (this.#keys.get(name)?.holder === before.id) this.#keys.delete(name)
    for (const key of take) this.#keys.set(keyName(before, key), { holder: before.id, until: key.until })
    this.#tell(after)
    if (spawn !== undefined) {
      this.#insert(spawn, now)
      this.#tell(spawn.job)
    }
    return APPLIED
  }

  async heartbeat(beats: readonly Beat[]): Promise<BeatAnswer> {
    const now = this.#now()
    return { now, items: beats.map((beat) => this.#beat(beat, now)) }
  }

  #beat({ id, fence, requestId }: Beat, now: Time): Beaten {
    const job = this.#rows.get(id)?.job
    if (job?.owner === undefined || job.lease.fence !== fence) return { status: 'lost' }
    const decision = decide(job, stillHere(job, fence, requestId), now)
    if (decision.kind === 'refused') return { status: 'lost' }
    if (!isMereRenewal(job)) return { status: 'careful' }
    if (decision.kind === 'accepted') this.#place(decision.job, decision.events)
    const { lease, rev } = decision.kind === 'accepted' ? decision.job : job
    if (lease === undefined) return { status: 'lost' }
    const replayed = decision.kind === 'replayed'
    return { status: 'renewed', rev, beats: lease.beats, leaseExpiresAt: lease.expiresAt, replayed }
  }

  async due(limit: number, agenda: Agenda = 'ticks'): Promise<DueAnswer> {
    const now = this.#now()
    const rows = [...this.#rows.values()]
      .filter(({ times }) => (times[agenda] ?? now + 1) <= now)
      .sort((a, b) => (a.times[agenda] ?? 0) - (b.times[agenda] ?? 0))
      .slice(0, limit)
    for (const { times } of rows) times[agenda] = now + HANDED_OUT_MS
    return { now, jobs: rows.map(({ job }) => job) }
  }

  async find(query: JobQuery): Promise<JobPage> {
    const { order, limit, cursor, longEnded } = query
    const now = this.#now()
    const isLong = (job: Job, { from, to }: { readonly from: Time; readonly to: Time }) =>
      hasLongLog(job) && (job.endedAt ?? 0) >= from && (job.endedAt ?? 0) < to
    const found = [...this.#rows.values()]
      .map(({ job }) => job)
      .filter((job) => (longEnded === undefined ? matches(job, query) : isLong(job, longEnded)))
    const key = (job: Job) => (longEnded === undefined ? [numberOf(job)] : [job.endedAt ?? 0, numberOf(job)])
    const descends = order === 'newest' && longEnded === undefined
    const { page, next } = paged(found, key, { limit, cursor, descends })
    return { now, jobs: page, cursor: next }
  }

  async events(query: EventQuery): Promise<EventPage> {
    const nothing = { events: [], annotations: [], feed: [], tally: [], backlog: [], cursor: undefined }
    const common = { now: this.#now(), purged: this.#purged, ...nothing }
    const end = String(this.#feed.at(-1)?.position ?? 0)
    switch (query.by) {
      case 'job': {
        const later = (this.#rows.get(query.id)?.events ?? []).filter(({ rev }) => rev > query.afterRev)
        const page = later.slice(0, query.limit)
        return { ...common, events: page, cursor: later.length > page.length ? String(page.at(-1)?.rev) : undefined }
      }
      case 'annotation':
        return { ...common, annotations: [...(this.#rows.get(query.id)?.annotations ?? [])] }
      case 'type': {
        const { types, from, to } = query
        const isMeant = ({ type, at }: Event) => types.includes(type) && at >= from && at < to
        const all = this.#eventsOf(query.tenant).filter(isMeant)
        const { page, next } = paged(all, (event) => [event.at, ...inLog(event)], query)
        return { ...common, events: page, cursor: next }
      }
      case 'correlation': {
        const all = this.#eventsOf(query.tenant).filter(({ correlationId }) => correlationId === query.correlationId)
        const { page, next } = paged(all, inLog, query)
        return { ...common, events: page, cursor: next }
      }
      case 'feed': {
        if (query.after === undefined) return { ...common, cursor: end }
        const feed = this.#feed.filter(({ position }) => Number(position) > Number(query.after)).slice(0, query.limit)
        return { ...common, feed, cursor: feed.at(-1)?.position ?? query.after }
      }
      case 'tally':
        return { ...common, tally: this.#tally(query), cursor: end }
      case 'backlog':
        return { ...common, backlog: this.#backlog(common.now) }
      case 'keys':
        return common
    }
  }

  #eventsOf(tenant: string | undefined): Event[] {
    const rows = [...this.#rows.values()].filter(({ job }) => tenant === undefined || job.spec.kind.tenant === tenant)
    return rows.flatMap(({ events }) => events)
  }

  #tally(wanted: { readonly tenant?: string | undefined; readonly queue?: string | undefined }): readonly Tally[] {
    const counts = new Map<string, Tally>()
    for (const { job } of this.#rows.values()) {
      const { tenant, queue, type: jobType } = askedOf(job).kind
      const { state } = job
      const name = JSON.stringify([tenant, queue, jobType, state])
      if (wanted.tenant !== undefined && tenant !== wanted.tenant) continue
      if (wanted.queue !== undefined && queue !== wanted.queue) continue
      counts.set(name, { tenant, queue, jobType, state, count: (counts.get(name)?.count ?? 0) + 1 })
    }
    return [...counts.values()]
  }

  #backlog(now: Time): readonly Backlog[] {
    const found = new Map<string, Backlog>()
    for (const { job } of this.#rows.values()) {
      const { tenant, queue } = job.spec.kind
      if (job.readyAt === undefined || job.readyAt > now) continue
      const since = Math.min(job.readyAt, found.get(queueKey(tenant, queue))?.since ?? now)
      found.set(queueKey(tenant, queue), { tenant, queue, since })
    }
    return [...found.values()]
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    const now = this.#now()
    return operations.map((operation) => this.#setting(operation, now))
  }

  #setting(operation: SettingOperation, now: Time): SettingAnswer {
    const { collection } = operation
    if (operation.op === 'list') {
      const all = [...this.#settings].filter(([name]) => name.startsWith(settingName(collection, '')))
      const later = all.map(([, setting]) => setting).filter(({ key }) => key > operation.after)
      later.sort((a, b) => (a.key < b.key ? -1 : 1))
      return { now, status: 'ok', settings: later.slice(0, operation.limit) }
    }
    const { key } = operation
    const name = settingName(collection, key)
    const there = this.#settings.get(name)
    const settings = there === undefined ? [] : [there]
    if (operation.op === 'get') return { now, status: 'ok', settings }
    if (operation.rev !== undefined && operation.rev !== (there?.rev ?? 0)) return { now, status: 'conflict', settings }
    if (collection === 'queue') this.#hint({ about: 'anything' })
    if (operation.op === 'remove') {
      this.#settings.delete(name)
      return { now, status: 'ok', settings: [] }
    }
    const written = { key, text: operation.text, rev: (there?.rev ?? 0) + 1, updatedAt: now }
    this.#settings.set(name, written)
    return { now, status: 'ok', settings: [written] }
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    const listener = { wake }
    this.#listeners.add(listener)
    return { [Symbol.asyncDispose]: async () => void this.#listeners.delete(listener) }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listeners.clear()
  }

  /** The store's clock, which every call reads once. It never runs backwards. */
  #now(): Time {
    if (this.#closed) throw new Error('the store has been closed')
    this.#latest = Math.max(this.#latest, this.#read())
    return this.#latest
  }

  /** The next revision of a record, and what led to it. */
  #place(job: Job, events: readonly Event[]): void {
    const row = this.#rows.get(job.id)
    if (row === undefined) throw new Error(`there is no ${job.id}`)
    row.job = structuredClone(job)
    row.events.push(...structuredClone(events))
    row.times = { ticks: job.nextTickAt, judgements: judgeAt(job) }
    if (row.claim?.fence !== job.lease?.fence) row.claim = undefined
    const { tenant, queue, type: jobType } = askedOf(job).kind
    for (const { rev, type } of events) {
      const position = String(Number(this.#feed.at(-1)?.position ?? 0) + 1)
      this.#feed.push({ position, jobId: job.id, rev, type, tenant, queue, jobType })
    }
  }

  #remove(id: JobId): void {
    this.#rows.delete(id)
    for (const [name, { holder }] of this.#keys) if (holder === id) this.#keys.delete(name)
  }

  #holder(name: string, now: Time): JobId | undefined {
    const held = this.#keys.get(name)
    return held === undefined || (held.until !== undefined && held.until <= now) ? undefined : held.holder
  }

  #tell({ id, readyAt, spec }: Job): void {
    const { tenant, queue } = spec.kind
    this.#hint({ about: 'job', id, tenant, queue })
    if (readyAt !== undefined) this.#hint({ about: 'queue', tenant, queue })
  }

  /** Once whoever asked has been answered. */
  #hint(hint: Hint): void {
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener.wake(hint)
      })
    }
  }
}

const APPLIED: Verdict = { status: 'applied' }
const CONFLICT: Verdict = { status: 'conflict' }

const numberOf = ({ id }: { readonly id: JobId }): number => idNumber(id) ?? 0
const inLog = ({ jobId, rev }: Event): readonly number[] => [numberOf({ id: jobId }), rev]
const keyName = (job: Job, { purpose, key }: Key): string => JSON.stringify([job.spec.kind.tenant, purpose, key])
const aliasName = (tenant: string, alias: string): string => JSON.stringify([tenant, 'alias', alias])
const settingName = (collection: string, key: string): string => `${collection}:${key}`

const isReady = ({ readyAt, nextTickAt, priority, spec }: Job, lane: Lane, now: Time): boolean =>
  readyAt !== undefined &&
  readyAt <= now &&
  (nextTickAt === undefined || nextTickAt > now) &&
  priority === lane.priority &&
  spec.kind.tenant === lane.tenant &&
  spec.kind.queue === lane.queue

interface Page {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly descends?: boolean
}

/** In the order of their keys, from behind the cursor, which is the last key shown: what is gone meanwhile moves nothing. */
function paged<T>(all: readonly T[], key: (item: T) => readonly number[], { limit, cursor, descends = false }: Page) {
  const turned = descends ? -1 : 1
  const after = (item: T) => cursor === undefined || turned * compare(key(item), cursor.split('.').map(Number)) > 0
  const later = all.filter(after).sort((a, b) => turned * compare(key(a), key(b)))
  const page = later.slice(0, limit)
  const last = page.at(-1)
  return { page, next: last !== undefined && later.length > limit ? key(last).join('.') : undefined }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, each] of a.entries()) if (each !== b[i]) return each - (b[i] ?? 0)
  return 0
}

/** Those that need what the claimer serves, need by need; a claim with another nonce begins with another need. */
function served(waiting: readonly Row[], { serves, nonce }: Grant): readonly Row[] {
  const isServed = servedBy(serves)
  const needs = [...new Set(waiting.map(({ job }) => job.needs))].filter((need) => need !== undefined && isServed(need))
  const first = Number.parseInt(nonce.slice(-8), 16) % (needs.length || 1)
  const inTurn = [...needs.slice(first), ...needs.slice(0, first)]
  return inTurn.flatMap((need) => waiting.filter(({ job }) => job.needs === need))
}

const NO_LIMITS = { status: 'rejected', field: 'flow', rule: 'this store has no limits' } as const
