/**
 * The store in Redis: each call of the port is a script, which runs alone, so that it is a transaction. This side turns the port's
 * words into texts and back; everything that is written together is written by one script, and what a script looks at is what it
 * compares.
 */
import { realClock } from '../../system/clock.ts'
import type { Durability } from '../../system/durability.ts'
import { type Log, silentLog } from '../../system/log.ts'
import { type LedgerDesk, type Meter, noMeter } from '../../system/meter.ts'
import { realRandom } from '../../system/random.ts'
import { realTimers } from '../../system/timers.ts'
import { within } from '../../system/within.ts'
import type { Agenda } from '../agenda.ts'
import type { Ledger } from '../ledger/ledger-port.ts'
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
  Inserted,
  JobPage,
  JobQuery,
  LoadAnswer,
  Loaded,
  LoadItem,
  NewJob,
  SettingAnswer,
  SettingOperation,
  Store,
  Transaction,
  Verdict,
} from '../store.ts'
import { ClaimDesk } from '../waiting/claim-desk.ts'
import { claim } from './claim/claim.ts'
import type { Ack } from './connection/address.ts'
import { Calls } from './connection/calls.ts'
import { demandDurable, demandKept, durabilityOf, settingsOf, withLedger } from './connection/durability.ts'
import { infoOf } from './connection/info.ts'
import { type Address, type Link, openLink } from './connection/link.ts'
import { word } from './connection/reply.ts'
import { closed, RedisStoreError, unavailable } from './connection/trouble.ts'
import { insert } from './enqueue/insert.ts'
import { Rounds } from './flow/rounds.ts'
import { withLobbies } from './flow/views.ts'
import { Kinds } from './job/kinds.ts'
import { settings } from './keep/settings.ts'
import { due, type LastDue, lastDue, unjudged } from './lease/due.ts'
import { heartbeat } from './lease/heartbeat.ts'
import { Evicting } from './ledger/evicting.ts'
import { LedgerBacking } from './ledger/ledger-backing.ts'
import { events } from './read/events.ts'
import { find } from './read/find.ts'
import { load } from './read/load.ts'
import { Gathered } from './script/gathered.ts'
import { ledgeredTexts, type ScriptName } from './script/scripts.ts'
import { commit } from './settle/commit.ts'
import { Hints } from './waiting/hints.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const MINUTE_MS = 60_000
export const ANSWER_WITHIN_MS = 5_000
/** How long letting in and evicting may take when the store is closed: a server that does not answer is not waited for. */
const CLOSE_WITHIN_MS = 1_000
const MAJOR_LEAST = 7

export interface RedisOptions {
  /** `redis://` or `rediss://`, with user, password and database. */
  readonly url: string
  /** What the names of all keys begin with: another prefix is another installation. `pawl` unless given. */
  readonly prefix?: string | undefined
  /** A server that keeps nothing, or throws keys away, will do. */
  readonly mayBeLost?: boolean | undefined
  /** How long a call is repeated while the server is away. 30 s unless given. */
  readonly retryForMs?: number | undefined
  /** How long the server may be silent before the connection is replaced. 5 s unless given. */
  readonly answerWithinMs?: number | undefined
  /** How long the feed, and reading events by type, reach back. 3 days unless given. */
  readonly feedMs?: number | undefined
  readonly log?: Log | undefined
  /** Counts what becomes of scripts and of a ledger. Nobody does unless given. */
  readonly meter?: Meter | undefined
  /** For tests: by how much the server's clock is taken to be set. */
  readonly clockSetByMs?: (() => number) | undefined
  /** For tests: the scripts. */
  readonly scripts?: Readonly<Record<ScriptName, string>> | undefined
  /** What keeps the log of this server. The store closes it. */
  readonly ledger?: Ledger | undefined
  /** With a ledger: whom an answer waits for. The ledger unless given. */
  readonly ack?: Ack | undefined
  /** With a ledger: how long a job stays in Redis after it has ended; the ledger has it then. A minute unless given. */
  readonly evictAfterMs?: number | undefined
}

/** A store, and what its server promises. */
export interface RedisStore extends Store {
  readonly durability: Durability
  lastDue(): Promise<LastDue>
  /** With a ledger: what can be asked of both. */
  readonly ledger: LedgerDesk | undefined
}

export async function openRedisStore(options: RedisOptions): Promise<RedisStore> {
  try {
    return await opened(options)
  } catch (error) {
    await options.ledger?.[Symbol.asyncDispose]()
    throw error
  }
}

async function opened(options: RedisOptions): Promise<RedisStore> {
  const { url, prefix = 'pawl', log, ledger, ack = 'ledger', meter = noMeter } = options
  const address: Address = { url, answerWithinMs: options.answerWithinMs ?? ANSWER_WITHIN_MS }
  const link = await connected(address)
  let begun: { close(): Promise<void> } = link
  try {
    const durability = await examined(link, options.mayBeLost === true, ledger && ack)
    if (log !== undefined) tell(log, link.where, durability)
    const system = { clock: realClock, timers: realTimers, random: realRandom }
    const retryForMs = options.retryForMs ?? 30_000
    const calls = new Calls({
      ...system,
      link,
      prefix,
      meter,
      retryForMs,
      clockSetByMs: options.clockSetByMs ?? (() => 0),
      scripts: options.scripts ?? (ledger && ledgeredTexts()),
      backing:
        ledger &&
        ((server) => new LedgerBacking({ ...system, ledger, ack, retryForMs, meter, lines: log ?? silentLog }, server)),
    })
    const store = new ScriptedStore(link, calls, options, () => openLink(address), durability)
    begun = store
    await store.load([])
    return store
  } catch (error) {
    await begun.close()
    throw error
  }
}

/** What follows from the server's settings: aloud where it is less than most would expect. */
function tell(log: Log, where: string, { level, promise }: Durability): void {
  const fields = { where, durability: level, promise }
  if (level === 'kept' || level === 'seconds') log.info('what this Redis promises', fields)
  else log.warn('what this Redis promises', fields)
}

async function connected(address: Address): Promise<Link> {
  try {
    return await openLink(address)
  } catch (error) {
    throw unavailable(new URL(address.url).host, error)
  }
}

/** `ack`: of a Redis with a ledger. */
async function examined(link: Link, mayBeLost: boolean, ack: Ack | undefined): Promise<Durability> {
  const version = infoOf(word(await link.send(['INFO', 'server'])))['redis_version'] ?? '0'
  if (Number.parseInt(version, 10) < MAJOR_LEAST)
    throw new RedisStoreError('TOO_OLD', `pawl: this is Redis ${version}; ${MAJOR_LEAST}.0 or later is needed.`)
  const asked = await settingsOf(link)
  const durability = await durabilityOf(link, asked)
  if (ack !== undefined) {
    demandKept(asked)
    return withLedger(durability, ack)
  }
  if (!mayBeLost) demandDurable(durability, asked)
  return durability
}

class ScriptedStore implements RedisStore {
  readonly durability: Durability
  readonly #link: Link
  readonly #calls: Calls
  readonly #kinds: Kinds
  readonly #hints: Hints
  readonly #feedMs: number
  readonly #inserts: Gathered<NewJob, Inserted>
  readonly #loads: Gathered<LoadItem, Loaded | undefined>
  readonly #commits: Gathered<Change, Verdict>
  readonly #beats: Gathered<Beat, Beaten>
  readonly #rounds: Rounds
  readonly #evicting: Evicting | undefined
  readonly #desk = new ClaimDesk({
    clock: realClock,
    timers: realTimers,
    look: (grant, lanes) => this.#claim({ ...grant, lanes }),
    subscribe: (wake) => this.subscribe(wake),
  })
  #isClosed = false

  constructor(
    link: Link,
    calls: Calls,
    { feedMs = 3 * DAY_MS, log, ledger, evictAfterMs = MINUTE_MS }: RedisOptions,
    connect: () => Promise<Link>,
    durability: Durability,
  ) {
    this.durability = durability
    this.#link = link
    this.#calls = calls
    this.#feedMs = feedMs
    this.#kinds = new Kinds(calls)
    this.#hints = new Hints({ connect, channel: calls.channel })
    this.#rounds = new Rounds({ calls, random: realRandom, log })
    this.#evicting =
      ledger && new Evicting({ calls, link, timers: realTimers, lines: log ?? silentLog, afterMs: evictAfterMs })
    calls.onRejoin(() => this.#kinds.forget())
    this.#inserts = new Gathered(async (items) => {
      const answer = await this.#insert(items, false)
      return { now: answer.now, each: answer.items }
    })
    this.#loads = new Gathered(async (items) => {
      const answer = await load({ calls, kinds: this.#kinds }, items)
      return { now: answer.now, each: await withLobbies(calls, items, answer.items) }
    })
    this.#commits = new Gathered(async (changes) => {
      const answer = await commit({ calls, kinds: this.#kinds }, changes)
      if (changes.some(mayFlow)) await this.#rounds.look()
      return { now: answer.now, each: answer.verdicts }
    })
    this.#beats = new Gathered(async (beats) => {
      const answer = await heartbeat(calls, beats)
      return { now: answer.now, each: answer.items }
    })
  }

  async insert(items: readonly NewJob[], tx?: Transaction, together = false): Promise<InsertAnswer> {
    this.#enter(tx)
    if (together) return this.#insert(items, true)
    const { now, each } = await this.#inserts.ask(items)
    return { now, items: each }
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    this.#enter()
    const { now, each } = await this.#loads.ask(items)
    return { now, items: each }
  }

  async claim(grant: Grant): Promise<ClaimAnswer> {
    this.#enter()
    return (grant.waitMs ?? 0) > 0 ? this.#desk.claim(grant) : this.#claim(grant)
  }

  async commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer> {
    this.#enter(tx)
    const { now, each } = await this.#commits.ask(changes)
    return { now, verdicts: each }
  }

  async heartbeat(beats: readonly Beat[]): Promise<BeatAnswer> {
    this.#enter()
    const { now, each } = await this.#beats.ask(beats)
    return { now, items: each }
  }

  async due(limit: number, agenda: Agenda = 'ticks'): Promise<DueAnswer> {
    this.#enter()
    const parts = { calls: this.#calls, kinds: this.#kinds, feedMs: this.#feedMs }
    if (agenda === 'judgements') return await unjudged(parts, limit)
    const answer = await due(parts, limit)
    return { ...answer, more: await this.#rounds.tick() }
  }

  async lastDue(): Promise<LastDue> {
    this.#enter()
    return lastDue(this.#calls)
  }

  get ledger(): LedgerDesk | undefined {
    const { standing } = this.#calls
    return standing && { standing, compared: (told) => this.#calls.compared(told) }
  }

  async find(query: JobQuery): Promise<JobPage> {
    this.#enter()
    return find({ calls: this.#calls, kinds: this.#kinds }, query)
  }

  async events(query: EventQuery): Promise<EventPage> {
    this.#enter()
    return events({ calls: this.#calls, kinds: this.#kinds }, query)
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    this.#enter()
    const answers = await settings(this.#calls, operations)
    if (operations.some(({ op, collection }) => collection === 'queue' && (op === 'put' || op === 'remove')))
      await this.#rounds.look()
    return answers
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    this.#enter()
    return this.#hints.subscribe(wake)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    await this.#desk.close()
    this.#isClosed = true
    const ended = Promise.all([this.#rounds.close(), this.#evicting?.close()])
    await within(realTimers, CLOSE_WITHIN_MS, ended)
    await this.#calls.close()
    await this.#hints.close()
    await this.#link.close()
  }

  async #insert(items: readonly NewJob[], together: boolean): Promise<InsertAnswer> {
    const known = async (wanted: readonly LoadItem[]) =>
      (await load({ calls: this.#calls, kinds: this.#kinds }, wanted)).items
    const answer = await insert({ calls: this.#calls, kinds: this.#kinds, load: known }, items, together)
    if (items.some(({ flow }) => flow !== undefined)) await this.#rounds.look()
    return answer
  }

  /** Nobody waits until the lanes that it has made room in are filled again; what that does not get to is the ticker's. */
  async #claim(grant: Grant): Promise<ClaimAnswer> {
    const answer = await claim({ calls: this.#calls, kinds: this.#kinds }, grant)
    if (answer.jobs.some(({ before }) => before.spec.flow !== undefined)) void this.#rounds.look()
    return answer
  }

  #enter(tx?: Transaction): void {
    if (this.#isClosed) throw closed()
    if (tx !== undefined) throw new RedisStoreError('NO_TRANSACTION', NO_TRANSACTION)
  }
}

/** Nearly no change does: then nobody looks. */
const mayFlow = (change: Change): boolean =>
  change.kind === 'key' ||
  change.kind === 'mend' ||
  (change.kind === 'move' && (change.after.spec.flow !== undefined || change.spawn?.flow !== undefined))

const NO_TRANSACTION =
  'pawl: Redis cannot take part in a transaction of yours: it is another server. Use a Postgres store for that.'
