/**
 * A ledger in Postgres. Every question is one statement and every statement a transaction of its own: a process that is stopped or dies
 * between two of them holds no lock, and one that was stopped before its statement was sent finds that the account has moved on.
 */
import { assert } from '../../../core/assert.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Account, Append } from '../../ledger/account.ts'
import { entriesAfter, type Head, isSameHead } from '../../ledger/entry.ts'
import type { Awaited, LedgerView } from '../../ledger/fate.ts'
import type {
  EndedJob,
  FoldStep,
  ImagePage,
  Ledger,
  LogPage,
  Moved,
  PiecesRead,
  ReportedRow,
  UnfoldedPage,
  WrittenEntry,
} from '../../ledger/ledger-port.ts'
import { EVICTED_KEY, OWN_KEYS } from '../../ledger/own-keys.ts'
import type { Row } from '../connection/client.ts'
import { Connection } from '../connection/connection.ts'
import { Places } from '../connection/places.ts'
import type { Route } from '../connection/route.ts'
import { type SystemOptions, systemOf } from '../connection/system.ts'
import type { Address } from '../connection/target.ts'
import { waysOf } from '../connection/ways.ts'
import { prepareSchema } from '../schema/prepare.ts'
import { LEDGER } from './blueprint.ts'
import { digestOf, FIRST, foldWords, pieceOf } from './fold-rows.ts'
import { type LedgerStatements, ledgerStatementsIn } from './statements.ts'

export interface LedgerOptions extends SystemOptions {
  readonly url: Address
  /** The ledger's own; `pawl` unless given. */
  readonly schema?: string | undefined
  /** Bring the schema up to date first. Otherwise an outdated one is refused, with the command to run. */
  readonly migrate?: boolean | undefined
  /** Which part of the installation it accounts for; 0, the only one of a single server, unless given. */
  readonly partition?: number | undefined
}

/** What ships is never behind what reads, and neither behind what folds. */
const CONNECTIONS = 3
const IDLE_MS = 5_000
const WORK_MS = 60_000
/** Rows of the log in one answer: each is what one append has brought. */
const PAGE_ROWS = 32
/** Rows of the log that are folded at once. */
const FOLDED_ROWS = 256
/** Pieces of the image in one answer. */
const PAGE_PIECES = 2_000
/** Of what is read in one answer, as it is kept; about. */
const PAGE_BYTES = 4 << 20
/** How long the log is kept after it was folded: a server that comes back within that is caught up, and need not be loaded. */
const KEEP_MS = 60 * 60 * 1_000

export async function openPostgresLedger(options: LedgerOptions): Promise<Ledger> {
  const { schema = 'pawl', migrate = false, partition = 0 } = options
  const system = systemOf(options)
  const { route } = waysOf(options, system)
  try {
    await prepareSchema({ ...system, blueprint: LEDGER, route, signal: options.signal }, schema, migrate)
  } catch (error) {
    await route.close()
    throw error
  }
  return new PostgresLedger({ ...system, route, schema, partition })
}

interface LedgerParts {
  readonly route: Route
  readonly clock: Clock
  readonly timers: Timers
  readonly schema: string
  readonly partition: number
}

class PostgresLedger implements Ledger {
  readonly #route: Route
  readonly #places: Places
  readonly #ships: Connection
  readonly #reads: Connection
  readonly #folds: Connection
  readonly #statements: LedgerStatements
  readonly #partition: number

  constructor({ route, clock, timers, schema, partition }: LedgerParts) {
    const places = new Places({ clock, timers, most: CONNECTIONS, idle: CONNECTIONS, idleMs: IDLE_MS })
    const connection = (name: string) =>
      new Connection({ route, role: { name, pipeline: true, workMs: WORK_MS }, places, clock, timers })
    this.#route = route
    this.#places = places
    this.#ships = connection('ledger ships')
    this.#reads = connection('ledger reads')
    this.#folds = connection('ledger folds')
    this.#statements = ledgerStatementsIn(schema)
    this.#partition = partition
  }

  async account(): Promise<Account> {
    const [row] = await this.#reads.run(this.#statements.account, () => [this.#partition])
    return accountOf(row)
  }

  async append({ epoch, after, entries }: Append<WrittenEntry>): Promise<Moved> {
    assert(entries.length > 0, 'what is appended is something')
    assert(entriesAfter(after, entries)?.length === entries.length, 'entries are appended that follow each other')
    const columns = [entries.map(({ name }) => name), entries.map(({ at }) => at), entries.map(({ text }) => text)]
    const values = [this.#partition, epoch, after.seq, after.name, ...columns]
    return movedOf(await this.#ships.run(this.#statements.append, () => values))
  }

  async fence(epoch: number): Promise<Moved> {
    return movedOf(await this.#ships.run(this.#statements.fence, () => [this.#partition, epoch]))
  }

  async after(head: Head): Promise<LogPage> {
    const rows = await this.#reads.run(this.#statements.logAfter, () => [
      this.#partition,
      head.seq,
      PAGE_ROWS,
      PAGE_BYTES,
    ])
    const account = accountOf(rows[0])
    const stretch = rows.flatMap((row) => entriesOf(row.slice(ACCOUNT_COLUMNS)))
    if (stretch.length === 0) return { account, entries: isSameHead(account.head, head) ? [] : undefined }
    return { account, entries: entriesAfter(head, stretch) }
  }

  async look(calls: readonly Awaited[]): Promise<LedgerView> {
    assert(calls.length > 0, 'somebody waits for what is looked for')
    // What a call waits for may be before what was known when it began: then it is looked for there, and found to be old.
    const from = Math.min(...calls.map(({ seq, looked }) => Math.min(looked.seq, (seq ?? looked.seq + 1) - 1)))
    const names = [...new Set(calls.map(({ name }) => name))]
    const values = [this.#partition, from, names]
    const rows = await this.#reads.run(this.#statements.namedAfter, () => values)
    const account = accountOf(rows[0])
    const nameBySeq = new Map([[account.head.seq, account.head.name]])
    for (const [seq, name] of rows.map((row) => row.slice(ACCOUNT_COLUMNS)))
      if (seq !== null) nameBySeq.set(Number(seq), String(name))
    const known = new Set(nameBySeq.values())
    return { account, nameAt: (seq) => nameBySeq.get(seq), has: (name) => known.has(name) }
  }

  async unfolded(): Promise<UnfoldedPage> {
    const rows = await this.#folds.run(this.#statements.unfolded, () => [this.#partition, FOLDED_ROWS, PAGE_BYTES])
    return { account: accountOf(rows[0]), entries: rows.flatMap((row) => entriesOf(row.slice(ACCOUNT_COLUMNS))) }
  }

  async fold({ from, to, at, image, report }: FoldStep): Promise<Moved> {
    const values = [this.#partition, from, to, at, KEEP_MS, foldWords({ image, report })]
    return movedOf(await this.#folds.run(this.#statements.fold, () => values))
  }

  async pieces(keys: readonly string[]): Promise<PiecesRead> {
    const values = [this.#partition, keys.map(digestOf)]
    const rows = await this.#folds.run(this.#statements.imageOf, () => values)
    const found = rows.map((row) => row.slice(ACCOUNT_COLUMNS)).filter(([kind]) => kind !== null)
    return { account: accountOf(rows[0]), pieces: found.map(pieceOf) }
  }

  async ended(before: number, most: number): Promise<readonly EndedJob[]> {
    const rows = await this.#folds.run(this.#statements.ended, () => [this.#partition, before, most])
    return rows.map(([id, rev]) => ({ id: Number(id), rev: Number(rev) }))
  }

  async log(after: number): Promise<readonly WrittenEntry[]> {
    const values = [this.#partition, after, PAGE_ROWS, PAGE_BYTES]
    const rows = await this.#reads.run(this.#statements.entriesAfter, () => values)
    return rows.flatMap(entriesOf).filter(({ seq }) => seq > after)
  }

  async sizes(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const names = new Map(keys.map((key) => [digestOf(key), key]))
    const rows = await this.#reads.run(this.#statements.sizes, () => [this.#partition, [...names.keys()]])
    return new Map(rows.map(([key, count]) => [names.get(String(key)) ?? '', Number(count)]))
  }

  async rows(after: number, most: number): Promise<readonly ReportedRow[]> {
    const rows = await this.#reads.run(this.#statements.rows, () => [this.#partition, after, most])
    return rows.map(rowOf)
  }

  async imageAfter(cursor: string | undefined): Promise<ImagePage> {
    const after = cursor?.split(' ') ?? [FIRST, FIRST]
    const values = [this.#partition, ...after, PAGE_PIECES, PAGE_BYTES, digestOf(EVICTED_KEY), OWN_KEYS]
    const rows = await this.#reads.run(this.#statements.imageAfter, () => values)
    const account = accountOf(rows[0])
    const found = rows.map((row) => row.slice(ACCOUNT_COLUMNS)).filter(([key]) => key !== null)
    const last = found.at(-1)
    const pieces = found.map((row) => pieceOf(row.slice(2)))
    return { account, pieces, cursor: last === undefined ? undefined : `${last[0]} ${last[1]}` }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#places.close()
    await Promise.all([this.#ships.close(), this.#reads.close(), this.#folds.close()])
    await this.#route.close()
  }
}

const ACCOUNT_COLUMNS = 6

function accountOf(row: Row | undefined): Account {
  assert(row !== undefined, 'every partition has an account')
  const [epoch, seq, name, at, folded, keptFrom] = row
  return {
    epoch: Number(epoch),
    head: { seq: Number(seq), name: String(name) },
    at: Number(at),
    folded: Number(folded),
    keptFrom: Number(keptFrom),
  }
}

function movedOf([row]: readonly Row[]): Moved {
  assert(row !== undefined, 'a call that would move an account is answered')
  return { done: row[0] === true, account: accountOf(row.slice(1)) }
}

function rowOf([id, tenant, queue, type, state, generation, attempt, rev, priority, endedAt]: Row): ReportedRow {
  return {
    id: Number(id),
    tenant: String(tenant),
    queue: String(queue),
    type: String(type),
    state: String(state),
    generation: Number(generation),
    attempt: Number(attempt),
    rev: Number(rev),
    priority: Number(priority),
    endedAt: endedAt === null ? undefined : Number(endedAt),
  }
}

/** A row of the log, entry by entry; none where there is no row. */
function entriesOf([first, prev, names, ats, texts]: Row): readonly WrittenEntry[] {
  if (first === null) return []
  const [named, at, text]: [string[], number[], string[]] = [listOf(names), listOf(ats), listOf(texts)]
  return named.map((name, i) => ({
    seq: Number(first) + i,
    name,
    prev: named[i - 1] ?? String(prev),
    at: at[i] ?? 0,
    text: text[i] ?? '',
  }))
}

const listOf = <T>(json: Row[number] | undefined): T[] => JSON.parse(String(json))
