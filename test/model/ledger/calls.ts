/** What processes do while all is well: scripts on the server they believe in, shipping, and giving answers. */
import type { Meta } from '../../../src/store/ledger/meta.ts'
import { judgeChange, judgeLook } from './checks.ts'
import { applied, type Deed, done, NO_JOBS, type Written } from './jobs.ts'
import type { Protocol } from './protocol.ts'
import {
  accountOf,
  type Call,
  CLOCKS,
  type Db,
  type Flight,
  type Ledger,
  ledgerView,
  logView,
  type World,
  withDb,
  withProcess,
} from './world.ts'

const DEEDS: readonly Deed[] = ['insert', 'claim', 'stall', 'end', 'reopen', 'evict', 'restore']

/** How likely a random walk is to choose one of these; others are chosen more often. */
const OFTEN: Partial<Readonly<Record<Deed, number>>> = { evict: 5, restore: 5 }

/** Something that may happen now. `often`: how likely a random walk is to choose it. */
export type Reach = (label: string, often: number, next: () => World) => void

export class Calls {
  readonly #protocol: Protocol
  readonly #namesMax: number

  constructor(protocol: Protocol, namesMax: number) {
    this.#protocol = protocol
    this.#namesMax = namesMax
  }

  /** The server's data, if it takes the calls of this process. */
  open(world: World, at: 0 | 1): Db | undefined {
    const { server, incarnation, joined } = world.processes[at]
    const { db } = world.servers[server]
    if (joined === undefined || !this.#protocol.isJoined(db?.meta, { epoch: joined, incarnation })) return undefined
    return db
  }

  look(world: World, at: 0 | 1): World | undefined {
    const db = this.open(world, at)
    if (db === undefined) return undefined
    const { joined: epoch = 0 } = world.processes[at]
    const looked = world.ledger.head
    return withProcess(world, at, { call: { ...db.meta.head, epoch, deed: 'read', job: 0, saw: db.hot, looked } })
  }

  reach(world: World, at: 0 | 1, reach: Reach): void {
    const process = world.processes[at]
    const label = `p${at + 1}`
    if (process.join !== undefined) return
    const db = this.open(world, at)
    if (db === undefined) return
    const { server, incarnation, joined } = process
    const isMaster = world.servers[server].master
    this.#reachReading(world, at, reach)
    if (process.call !== undefined) return
    reach(`${label} reads`, 4, () => this.look(world, at) ?? world)
    if (!isMaster || world.names >= this.#namesMax) return
    const epoch = joined ?? 0
    const looked = world.ledger.head
    const name = `n${world.names + 1}`
    for (const deed of DEEDS) {
      for (const job of [0, 1]) {
        const owner = deed === 'end' && process.owns?.job === job ? process.owns.name : ''
        const read = deed === 'restore' && process.restore?.job === job ? process.restore : undefined
        const flight: Flight = {
          ...{ server, epoch, incarnation, deed, job, name, owner },
          ...{ read: read?.rec, folded: read?.folded ?? 0 },
        }
        if (!this.#writes(world, db, flight) || (deed === 'insert' && !isUnused(world, job))) continue
        const restore = deed === 'restore' ? undefined : process.restore
        reach(`${label} ${deed} ${job + 1} as ${name}`, OFTEN[deed] ?? 12, () => {
          const next = this.#execute({ ...world, names: world.names + 1 }, flight)
          const seq = next.servers[server].db?.meta.head.seq
          return withProcess(next, at, { restore, call: { epoch, name, seq, deed, job, looked, saw: NO_JOBS } })
        })
        if (world.flight !== undefined) continue
        const call: Call = { epoch, name, seq: undefined, deed, job, looked, saw: NO_JOBS }
        reach(`${label} ${deed} ${job + 1} as ${name}, late`, 2, () =>
          withProcess({ ...world, flight, names: world.names + 1 }, at, { restore, call }),
        )
      }
    }
  }

  /** What is on its way arrives, or does not. */
  reachFlight(world: World, reach: Reach): void {
    const { flight } = world
    if (flight === undefined) return
    const landed = { ...world, flight: undefined }
    const { db, master } = world.servers[flight.server]
    if (db !== undefined && master && this.#protocol.isJoined(db.meta, flight) && this.#writes(world, db, flight))
      reach(`${flight.name} arrives`, 6, () => this.#execute(landed, flight))
    reach(`${flight.name} is lost`, 2, () => landed)
  }

  reachShipping(world: World, reach: Reach): void {
    for (const at of [0, 1] as const) {
      if (!world.processes.some(({ server }) => server === at)) continue
      const shipment = this.#protocol.shipmentOf(world.ledger, logView(world.servers[at], world.ledger.head.seq))
      if (shipment.kind !== 'append') continue
      const { append } = shipment
      if (this.#protocol.accepts(world.ledger, append))
        reach(`ship ${'AB'[at]}`, 14, () => ({ ...world, ledger: this.append(world.ledger, append) }))
      if (world.append === undefined) reach(`ship ${'AB'[at]}, late`, 3, () => ({ ...world, append }))
    }
    const { append } = world
    if (append === undefined) return
    const isTaken = this.#protocol.accepts(world.ledger, append)
    reach('what was shipped late arrives', 6, () => ({
      ...world,
      append: undefined,
      ledger: isTaken ? this.append(world.ledger, append) : world.ledger,
    }))
  }

  append(ledger: Ledger, append: NonNullable<World['append']>): Ledger {
    return { ...ledger, ...this.#protocol.appended(accountOf(ledger), append), log: [...ledger.log, ...append.entries] }
  }

  /** An answer is given, or what was called is found to have come to nothing. */
  reachAnswer(world: World, at: 0 | 1, reach: Reach): void {
    const { call } = world.processes[at]
    if (call === undefined) return
    const label = `p${at + 1}`
    const view = ledgerView(world.ledger)
    const free = withProcess(world, at, { call: undefined })
    if (call.deed === 'read') {
      const telling = this.#protocol.tellingOf({ ...call, seq: call.seq ?? 0 }, view)
      if (telling === 'wait') return
      return reach(`${label} ${telling === 'tell' ? 'is told what it saw' : 'has to look again'}`, 10, () => {
        if (telling === 'tell') judgeLook(world, call)
        return free
      })
    }
    const fate = this.#protocol.fateOf(call, view)
    if (fate === 'open') return
    if (fate === 'forgotten') return reach(`${label} is told that nobody knows of ${call.name}`, 10, () => free)
    if (fate === 'never')
      return reach(`${label} is told that ${call.name} came to nothing`, 10, () => ({
        ...free,
        refused: [...world.refused, call.name],
      }))
    reach(`${label} is told that ${call.name} is done`, 14, () => {
      judgeChange(world, call)
      const owns = call.deed === 'claim' ? { job: call.job, name: call.name } : undefined
      return withProcess(free, at, { owns })
    })
  }

  reachFold(world: World, reach: Reach): void {
    const { ledger } = world
    if (ledger.keptFrom <= ledger.folded)
      reach('the ledger forgets what was folded', 1, () => ({
        ...world,
        ledger: { ...ledger, ...this.#protocol.withForgotten(accountOf(ledger), ledger.folded) },
      }))
    this.reachFolding(world, reach)
    const { folding } = world
    if (folding === undefined) {
      const [first] = this.#protocol.unfolded(ledger, ledger.log)
      if (first === undefined) return
      return reach('fold, late', 2, () => ({ ...world, folding: { from: ledger.folded, entries: [first] } }))
    }
    reach('what was folded late arrives', 4, () => {
      const over = { ...world, folding: undefined }
      return this.#protocol.mayFold(ledger, folding.from) ? this.#folded(over, folding.entries) : over
    })
  }

  reachFolding(world: World, reach: Reach): void {
    const next = this.#protocol.unfolded(world.ledger, world.ledger.log)
    if (next.length > 0) reach('fold', 4, () => this.#folded(world, next))
  }

  #folded(world: World, entries: readonly Written[]): World {
    const { ledger } = world
    const account = this.#protocol.withFolded(accountOf(ledger), entries)
    return { ...world, ledger: { ...ledger, ...account, fold: entries.reduce(applied, ledger.fold) } }
  }

  /** What has ended may be read from the ledger's tables, at any time before it is to be restored. */
  #reachReading(world: World, at: 0 | 1, reach: Reach): void {
    if (world.processes[at].restore !== undefined) {
      reach(`p${at + 1} forgets what it has read`, 2, () => withProcess(world, at, { restore: undefined }))
      return
    }
    for (const [job, rec] of world.ledger.fold.jobs.entries()) {
      if (rec?.state !== 'ended') continue
      const read = { job, folded: world.ledger.folded, rec }
      reach(`p${at + 1} reads ${job + 1} from the ledger`, 3, () => withProcess(world, at, { restore: read }))
    }
  }

  /** Whether a script would write anything on this server. */
  #writes({ ledger }: World, { hot, meta }: Db, flight: Flight): boolean {
    const { deed, job, folded } = flight
    // Who would evict a job knows it, as it is, from the ledger's tables.
    if (deed === 'evict' && !this.#protocol.isEvictable(hot.jobs[job]?.seq ?? 0, ledger)) return false
    if (deed === 'restore' && !this.#protocol.mayRestore(meta, folded)) return false
    return done(hot, flight, meta.head.seq + 1) !== undefined
  }

  /** What a server knows of itself with one entry more. */
  metaAfter(meta: Meta, entry: Written): Meta {
    const next = this.#protocol.withEntry(meta, entry)
    return entry.deed === 'evict' ? this.#protocol.withEvicted(next, entry.seq) : next
  }

  #execute(world: World, flight: Flight): World {
    const { server, epoch, deed, job, name } = flight
    const { db } = world.servers[server]
    if (db === undefined) return world
    const { meta, hot, log } = db
    const seq = meta.head.seq + 1
    const change = done(hot, flight, seq)
    if (change === undefined) return world
    const at = this.#protocol.clockOf(meta, CLOCKS[server])
    const entry: Written = { seq, name, prev: meta.head.name, at, epoch, job, deed, ...change }
    return withDb(world, server, {
      meta: this.metaAfter(meta, entry),
      hot: applied(hot, entry),
      log: [...log, entry],
    })
  }
}

/** An id is used once: again only where all that came of it is known to have come to nothing. */
function isUnused({ ledger, servers, processes, flight, refused }: World, job: number): boolean {
  if (ledger.log.some((entry) => entry.job === job)) return false
  const mine = (deed: string, of: number): boolean => deed === 'insert' && of === job
  if (flight !== undefined && mine(flight.deed, flight.job) && !refused.includes(flight.name)) return false
  if (processes.some(({ call }) => call !== undefined && mine(call.deed, call.job))) return false
  return !servers.some(({ db }) =>
    db?.log.some(
      ({ deed, job: of, name, seq, epoch }) =>
        mine(deed, of) && !refused.includes(name) && seq > ledger.head.seq && epoch === ledger.epoch,
    ),
  )
}
