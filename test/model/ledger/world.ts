/** Two servers, two processes, a ledger, and what is on its way between them. All of it data: a step makes another world of it. */
import type { Account, Append } from '../../../src/store/ledger/account.ts'
import { BEGINNING, type Head } from '../../../src/store/ledger/entry.ts'
import type { LedgerView } from '../../../src/store/ledger/fate.ts'
import type { Join } from '../../../src/store/ledger/join.ts'
import type { Joined, Meta } from '../../../src/store/ledger/meta.ts'
import type { LogView } from '../../../src/store/ledger/shipment.ts'
import { type Deed, type Jobs, NO_JOBS, type Rec, type Said, type Written } from './jobs.ts'
import type { Protocol } from './protocol.ts'

export interface Ledger extends Account {
  readonly log: readonly Written[]
  readonly fold: Jobs
}

export interface Db {
  readonly meta: Meta
  readonly log: readonly Written[]
  readonly hot: Jobs
  /** Of the load under way. */
  readonly pages: number
}

/** What is not a master follows the other, at a distance: its data also are the file that is restarted from. */
export interface Server {
  readonly master: boolean
  readonly life: string
  readonly db: Db | undefined
}

/** What was asked, and not answered yet: a change by its name, or a look by the head that it saw. */
export interface Call {
  readonly epoch: number
  readonly name: string
  readonly seq: number | undefined
  readonly deed: Deed | 'read'
  readonly job: number
  /** The ledger's head when it began. */
  readonly looked: Head
  /** Of a look. */
  readonly saw: Jobs
}

export interface Restore {
  readonly job: number
  readonly folded: number
  readonly rec: Rec
}

export interface Process {
  readonly server: 0 | 1
  /** As it was when this process connected. */
  readonly incarnation: string
  /** The epoch that it believes in. */
  readonly joined: number | undefined
  readonly join: Join<Written> | undefined
  readonly call: Call | undefined
  /** The claim that it was told of. */
  readonly owns: { readonly job: number; readonly name: string } | undefined
  readonly restore: Restore | undefined
}

/** A call that is late: its process may have given it up long ago. */
export interface Flight extends Joined, Said {
  readonly server: 0 | 1
  /** Where the fold had come to when `read` was read. */
  readonly folded: number
}

export interface World {
  readonly ledger: Ledger
  readonly servers: readonly [Server, Server]
  readonly processes: readonly [Process, Process]
  readonly flight: Flight | undefined
  /** Of a shipper who takes its time. */
  readonly append: Append<Written> | undefined
  /** Of somebody who folds and takes its time. */
  readonly folding: { readonly from: number; readonly entries: readonly Written[] } | undefined
  /** Names whose callers were told that nothing was done. */
  readonly refused: readonly string[]
  readonly names: number
  readonly lives: number
  readonly faults: number
}

/** The clock of the second server is behind. */
export const CLOCKS = [2, 1] as const

/** Both processes have joined the first server, which the second follows. */
export function atFirst(): World {
  const meta: Meta = { epoch: 1, head: BEGINNING, at: 0, incarnation: 'L1', copy: 1, joining: 1, evicted: 0 }
  const db: Db = { meta, log: [], hot: NO_JOBS, pages: 0 }
  const process: Process = { ...stranger({ master: true, life: 'L1', db }, 0), joined: 1 }
  return {
    ledger: { epoch: 1, head: BEGINNING, at: 0, folded: 0, keptFrom: 1, log: [], fold: NO_JOBS },
    servers: [
      { master: true, life: 'L1', db },
      { master: false, life: 'L2', db },
    ],
    processes: [process, process],
    flight: undefined,
    append: undefined,
    folding: undefined,
    refused: [],
    names: 0,
    lives: 2,
    faults: 0,
  }
}

/** A process that has just connected to a server. */
export const stranger = ({ life }: Server, server: 0 | 1): Process => ({
  server,
  incarnation: life,
  joined: undefined,
  join: undefined,
  call: undefined,
  owns: undefined,
  restore: undefined,
})

export const accountOf = ({ epoch, head, at, folded, keptFrom }: Ledger): Account => ({
  epoch,
  head,
  at,
  folded,
  keptFrom,
})

export const ledgerView = (ledger: Ledger): LedgerView => ({
  account: ledger,
  nameAt: (seq) => nameAt(ledger, seq),
  has: (name) => ledger.log.some((entry) => entry.seq >= ledger.keptFrom && entry.name === name),
})

/** As far as the log reaches back; the first entry that it has also tells the name of the one before. */
export const nameAt = ({ log, keptFrom }: Ledger, seq: number): string | undefined =>
  seq < keptFrom - 1 ? undefined : seq === 0 ? BEGINNING.name : log[seq - 1]?.name

/** The epoch of a call that only a later one decides; 0: there is none. */
export const lostIn = (protocol: Protocol, { ledger, servers }: World, { call, server }: Process): number => {
  if (call === undefined || protocol.fateOf(call, ledgerView(ledger)) !== 'open') return 0
  return protocol.isLost(call, logView(servers[server], ledger.head.seq)) ? call.epoch : 0
}

export const logView = ({ db }: Server, after: number): LogView<Written> => ({
  meta: db?.meta,
  entries: db?.log.filter(({ seq }) => seq > after) ?? [],
})

export const withServer = (world: World, at: 0 | 1, change: Partial<Server>): World => {
  const [a, b] = world.servers
  return { ...world, servers: at === 0 ? [{ ...a, ...change }, b] : [a, { ...b, ...change }] }
}

export const withDb = (world: World, at: 0 | 1, change: Partial<Db>): World =>
  withServer(world, at, { db: { ...(world.servers[at].db ?? EMPTY), ...change } })

export const withProcess = (world: World, at: 0 | 1, change: Partial<Process>): World => {
  const [a, b] = world.processes
  return { ...world, processes: at === 0 ? [{ ...a, ...change }, b] : [a, { ...b, ...change }] }
}

export const other = (at: 0 | 1): 0 | 1 => (at === 0 ? 1 : 0)

const EMPTY: Omit<Db, 'meta'> & { readonly meta: Meta } = {
  meta: { epoch: 0, head: BEGINNING, at: 0, incarnation: '', copy: 0, joining: 0, evicted: 0 },
  log: [],
  hot: NO_JOBS,
  pages: 0,
}
