/**
 * The embedded store: one SQLite file, which several processes may share. This side turns the port's words into rows and
 * back; the file is in the hands of two threads, one that writes, and looks up by key what writing needs, and one that
 * reads (`reader.ts`). A call that has been answered is on the disk.
 */
import { resolve } from 'node:path'
import { assert } from '../../core/assert.ts'
import type { Event } from '../../core/event.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Job, Time } from '../../core/job.ts'
import { realClock } from '../../system/clock.ts'
import { realTimers } from '../../system/timers.ts'
import type { Agenda } from '../agenda.ts'
import { encodeRecord } from '../codec/record.ts'
import { original, storable } from '../codec/text.ts'
import type {
  Beat,
  BeatAnswer,
  Beaten,
  Change,
  ClaimAnswer,
  CommitAnswer,
  DueAnswer,
  EventPage,
  EventQuery,
  Grant,
  Hint,
  InsertAnswer,
  JobPage,
  JobQuery,
  LoadAnswer,
  Loaded,
  LoadItem,
  MoveChange,
  NewJob,
  SettingAnswer,
  SettingOperation,
  Store,
  Transaction,
  Verdict,
} from '../store.ts'
import { ClaimDesk } from '../waiting/claim-desk.ts'
import { bearable, lettersOfChange } from './burden.ts'
import { ChangeRows, type PlacedRow } from './change-rows.ts'
import { Channel, SqliteStoreError } from './channel.ts'
import { claimedJobs, eventsOf, jobOf } from './decode.ts'
import { changeRow, numberOf, type Reference } from './encode.ts'
import { events, eventsAfter } from './events.ts'
import { find } from './find.ts'
import { Hints } from './hints.ts'
import { type InsertParts, insert } from './insert.ts'
import { type JobRow, jobIn, type LogRow } from './job-row.ts'
import { lobbyOf } from './key-views.ts'
import { Kinds } from './kinds.ts'
import type { SettingRow } from './protocol.ts'
import { Reader } from './reader.ts'
import { rejected } from './rejected.ts'
import type { BeatenRow, ChangeRow, KindRow, LoadedRow, LoadRow, VerdictRow } from './rows.ts'
import { startThread } from './thread.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

export interface SqliteOptions {
  /** The file; it is made where it is missing, for its owner alone (0600), and so is its folder (0700). `.pawl/jobs.db` unless given. */
  readonly path?: string | undefined
  /** How long a call may wait while other processes keep the file locked. */
  readonly busyMs?: number | undefined
  /** How often commits of other processes are looked for, while this one has listeners. */
  readonly pollMs?: number | undefined
  /** How long the feed, and reading events by type, reach back. */
  readonly feedMs?: number | undefined
  /** For tests: milliseconds, in memory shared with the threads, by which the machine's clock is taken to be set. */
  readonly clockSetBy?: BigInt64Array | undefined
}

export async function openSqliteStore(options: SqliteOptions = {}): Promise<Store> {
  const path = options.path ?? '.pawl/jobs.db'
  const kinds = new Kinds()
  const hints = new Hints()
  const file = {
    path: resolve(path),
    busyMs: options.busyMs ?? 30_000,
    pollMs: options.pollMs ?? 20,
    feedMs: options.feedMs ?? 30 * DAY_MS,
    latest: new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)),
    setBy: options.clockSetBy,
  }
  const start = (body: 'writer' | 'reader') =>
    Channel.open(startThread(body, file), realTimers, (report) => {
      kinds.learn(report.kinds)
      if (report.changed) hints.tell({ about: 'anything' })
      for (const [tenant, queue, needs] of report.letIn) hints.aboutQueue(tenant, queue, needs)
    })
  const writer = await start('writer')
  return new SqliteStore(writer, new Reader(() => start('reader')), kinds, hints)
}

class SqliteStore implements Store {
  readonly #writer: Channel
  readonly #reader: Reader
  readonly #kinds: Kinds
  readonly #hints: Hints
  readonly #insertParts: InsertParts
  readonly #desk = new ClaimDesk({
    clock: realClock,
    timers: realTimers,
    look: (grant, lanes) => this.#claim({ ...grant, lanes }),
    subscribe: (wake) => this.subscribe(wake),
  })

  constructor(writer: Channel, reader: Reader, kinds: Kinds, hints: Hints) {
    this.#writer = writer
    this.#reader = reader
    this.#kinds = kinds
    this.#hints = hints
    const load = async (items: readonly LoadItem[]) => (await this.#load(reader, items)).items
    this.#insertParts = { writer, kinds, hints, load }
  }

  async insert(items: readonly NewJob[], tx?: Transaction, together = false): Promise<InsertAnswer> {
    refuseTransaction(tx)
    return insert(this.#insertParts, items, together)
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    // Bodies may be big and many, and logs long; a record is one look-up.
    const wantsMuch = items.some(
      ({ bodies, log, check }) => (bodies?.length ?? 0) > 0 || log !== undefined || check === true,
    )
    const answer = await this.#load(wantsMuch ? this.#reader : this.#writer, items)
    if (!items.some(({ flow }) => flow === true)) return answer
    const withFlow = answer.items.map(async (loaded, i) =>
      loaded === undefined || items[i]?.flow !== true
        ? loaded
        : { ...loaded, flow: await lobbyOf(this.#reader, loaded.job) },
    )
    return { ...answer, items: await Promise.all(withFlow) }
  }

  /** Loads in parts, each as much as one turn of the thread can bear. */
  async #load(thread: Pick<Channel, 'call'> | Reader, items: readonly LoadItem[]): Promise<LoadAnswer> {
    const rows = items.map(loadRow)
    const logs = new Map<string, readonly Event[]>()
    const loaded: (Loaded | undefined)[] = []
    for (;;) {
      const { now, answered } = await thread.call('load', loaded.length === 0 ? rows : rows.slice(loaded.length))
      for (const row of answered) {
        const item = items[loaded.length] as LoadItem
        loaded.push(row === null ? undefined : this.#loaded(item, row, logs))
      }
      if (loaded.length >= items.length) return { now, items: loaded }
    }
  }

  claim(grant: Grant): Promise<ClaimAnswer> {
    return (grant.waitMs ?? 0) > 0 ? this.#desk.claim(grant) : this.#claim(grant)
  }

  async #claim(grant: Grant): Promise<ClaimAnswer> {
    const { now, answered } = await this.#writer.call('claim', {
      request: storable(grant.requestId),
      worker: storable(grant.workerId),
      actor: storable(grant.actor),
      nonce: grant.nonce,
      lanes: grant.lanes.map(({ tenant, queue, priority }) => [storable(tenant), storable(queue), priority]),
      serves: grant.serves?.map(storable),
      limit: grant.limit,
      limited: grant.limited ?? grant.limit,
      maxInputBytes: grant.maxInputBytes,
    })
    const jobs = claimedJobs(answered, this.#kinds)
    if (!answered.replayed) for (const { before } of jobs) this.#hints.aboutJob(before)
    return { now, replayed: answered.replayed, jobs }
  }

  async commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer> {
    refuseTransaction(tx)
    const unknown: KindRow[] = []
    const reference: Reference = (kind) => this.#kinds.reference(kind, unknown)
    const verdicts: Verdict[] = new Array(changes.length)
    const rows = new ChangeRows(reference)
    for (let i = 0; i < changes.length; i += 1) {
      const change = changes[i] as Change
      try {
        if (change.kind !== 'compact') rows.add(change, i)
        else {
          const row = await this.#compacted(change)
          if ('status' in row) verdicts[i] = row
          else rows.put(row, i)
        }
      } catch (error) {
        verdicts[i] = rejected(error)
      }
    }
    rows.close()
    const now = await this.#commitRows(changes, unknown, rows.placed, verdicts)
    const apart = rows.placed.flatMap(({ places }) => places).filter((i) => verdicts[i] === APART)
    if (apart.length === 0) return { now, verdicts }
    const inFull = apart.map((i) => ({ row: changeRow(changes[i] as MoveChange, reference, true), places: [i] }))
    return { now: await this.#commitRows(changes, unknown, inFull, verdicts), verdicts }
  }

  async #commitRows(
    changes: readonly Change[],
    kinds: readonly KindRow[],
    placed: readonly PlacedRow[],
    verdicts: Verdict[],
  ): Promise<Time> {
    let now = 0
    for (const part of bearable(placed, ({ row }) => lettersOfChange(row))) {
      const reply = await this.#writer.call('commit', { kinds, rows: part.map(({ row }) => row) })
      now = reply.now
      for (const [n, { places }] of part.entries()) {
        const answer = reply.answered[n]
        assert(answer !== undefined, 'every change is answered')
        for (const i of places) verdicts[i] = this.#verdict(changes[i] as Change, answer)
      }
    }
    return now
  }

  async heartbeat(beats: readonly Beat[]): Promise<BeatAnswer> {
    const rows = beats.map(({ id, fence, requestId }) => [idNumber(id) ?? 0, fence, storable(requestId)] as const)
    const { now, answered } = await this.#writer.call('heartbeat', rows)
    return { now, items: answered.map(beaten) }
  }

  /** A tick may be earlier than the record's: one that a heartbeat has made so is put right and handed to nobody. */
  async due(limit: number, agenda: Agenda = 'ticks'): Promise<DueAnswer> {
    const due: Job[] = []
    const early: Job[] = []
    let setBackMs = 0
    let more = false
    for (;;) {
      const { now, answered } = await this.#writer.call('due', { limit: limit - due.length - early.length, agenda })
      setBackMs += answered.setBackMs
      more ||= answered.heldMore
      for (const row of answered.jobs) {
        const job = jobOf(row, this.#kinds)
        const isEarly = agenda === 'ticks' && job.nextTickAt !== undefined && job.nextTickAt > now
        if (isEarly) early.push(job)
        else due.push(job)
      }
      if (answered.more) continue
      const ticks = early.map(({ id, rev, nextTickAt }) => [numberOf(id, 'id'), rev, nextTickAt as number] as const)
      if (ticks.length > 0) await this.#writer.call('retick', ticks)
      return { now, jobs: due, more, setBackMs }
    }
  }

  async find(query: JobQuery): Promise<JobPage> {
    return find(this.#reader, this.#kinds, query)
  }

  async events(query: EventQuery): Promise<EventPage> {
    return events(this.#reader, this.#kinds, query)
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    const lists = operations.length > 0 && operations.every(({ op }) => op === 'list')
    const { now, answered } = await (lists ? this.#reader : this.#writer).call('settings', operations.map(settingRow))
    const written = operations.some(({ op, collection }) => collection === 'queue' && (op === 'put' || op === 'remove'))
    if (written) this.#hints.tell({ about: 'anything' })
    return answered.map(([ok, rows]) => ({
      now,
      status: ok ? 'ok' : 'conflict',
      settings: rows.map(([key, rev, updatedAt, text]) => ({
        key: original(key),
        text: original(text),
        rev,
        updatedAt,
      })),
    }))
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    const subscription = this.#hints.subscribe(wake)
    if (this.#hints.listeners === 1) await this.#writer.call('listen', true)
    return {
      [Symbol.asyncDispose]: async () => {
        if (!subscription() || this.#hints.listeners > 0) return
        // A closed store listens to nothing anyway.
        await this.#writer.call('listen', false).catch(() => {})
      },
    }
  }

  async close(): Promise<void> {
    const left = this.#desk.close()
    this.#hints.close()
    // The writer last: it leaves one file behind, which a reader that is still there would not let it.
    await this.#writer.close(this.#reader.close())
    await left
  }

  /** `logs`: what has been read of them in this call; many words about one job look at the same stretches. */
  #loaded(
    { tenant, requestId, log: longest = 0 }: LoadItem,
    [row, bodies, asked, whole, altered]: LoadedRow,
    logs: Map<string, readonly Event[]>,
  ): Loaded | undefined {
    const job = jobOf(row, this.#kinds)
    if (tenant !== undefined && job.spec.kind.tenant !== tenant) return undefined
    const caused = requestId === undefined ? [] : this.#caused(row, asked, requestId, logs)
    const texts = bodies.map(([name, text]) => [original(name), original(text)] as const)
    const log = whole?.complete === true ? eventsAfter(whole, 0, this.#kinds) : undefined
    return {
      job,
      bodies: Object.fromEntries(texts),
      caused,
      log: log !== undefined && log.length <= longest ? log : undefined,
      altered: altered ? ['input'] : undefined,
    }
  }

  #caused(
    row: JobRow,
    log: readonly LogRow[],
    requestId: string,
    logs: Map<string, readonly Event[]>,
  ): readonly Event[] {
    const name = `${jobIn(row).id} ${log.map(([rev]) => rev).join()}`
    const events = logs.get(name) ?? eventsOf(row, log, this.#kinds)
    logs.set(name, events)
    return events.filter((event) => event.requestId === requestId)
  }

  /** The log of an ended job, with one event in the place of those it stands for. */
  async #compacted({ before, event, replaces }: Compact): Promise<ChangeRow | Verdict> {
    const id = numberOf(before.id, 'before.id')
    const { answered } = await this.#reader.call('compacted', { id, event, replaces })
    if (answered === null) return { status: 'conflict' }
    return ['compact', id, before.rev, answered.was, answered.log, encodeRecord(before)]
  }

  #verdict(change: Change, row: VerdictRow): Verdict {
    if (typeof row !== 'string') {
      if (row[0] === 'rejected') {
        const [, rule] = row
        return { status: 'rejected', field: 'change', rule }
      }
      const [, purpose, key, until, holder] = row
      const wanted = { purpose, key: original(key), until: until ?? undefined }
      return { status: 'taken', key: wanted as Extract<Verdict, { status: 'taken' }>['key'], holder: idText(holder) }
    }
    if (row !== 'applied') return row === 'apart' ? APART : { status: row }
    if (change.kind === 'move') {
      this.#hints.about(change.after)
      if (change.spawn !== undefined) this.#hints.about(change.spawn.job)
    }
    return APPLIED
  }
}

type Compact = Extract<Change, { kind: 'compact' }>

const APPLIED: Verdict = { status: 'applied' }
/** Marks a change that the thread wants by itself: it is sent again in full before anybody is answered. */
const APART: Verdict = { status: 'conflict' }

function refuseTransaction(tx: Transaction | undefined): void {
  if (tx === undefined) return
  throw new SqliteStoreError(
    'NO_TRANSACTION',
    'pawl: the SQLite store cannot take part in a transaction of yours: its file is its own. Use a Postgres store for that.',
  )
}

function beaten(row: BeatenRow): Beaten {
  if (row === 'lost' || row === 'careful') return { status: row }
  const [rev, beats, leaseExpiresAt, replayed] = row
  return { status: 'renewed', rev, beats, leaseExpiresAt, replayed: replayed === 1 }
}

function loadRow({ id, key: purpose, tenant, bodies, requestId, log, check }: LoadItem): LoadRow {
  const number = purpose === undefined ? idNumber(id) : undefined
  const key = number === undefined && tenant !== undefined ? storable(id) : null
  const scope = tenant === undefined ? null : storable(tenant)
  const names = (bodies ?? []).map(storable)
  return [number ?? null, key, purpose ?? 'alias', scope, names, requestId ?? null, log ?? null, check ?? false]
}

function settingRow(operation: SettingOperation): SettingRow {
  const { op, collection } = operation
  switch (op) {
    case 'get':
      return ['get', collection, storable(operation.key)]
    case 'list':
      return ['list', collection, storable(operation.after), operation.limit]
    case 'put':
      return ['put', collection, storable(operation.key), operation.rev ?? null, storable(operation.text)]
    case 'remove':
      return ['remove', collection, storable(operation.key), operation.rev ?? null]
  }
}
