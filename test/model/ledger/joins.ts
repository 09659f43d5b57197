/** The steps of joining, each the one thing it does to the ledger or to a server. */
import type { Join } from '../../../src/store/ledger/join.ts'
import { must } from '../breach.ts'
import type { Calls, Reach } from './calls.ts'
import { applied, type Jobs, NO_JOBS, type Written } from './jobs.ts'
import type { Protocol } from './protocol.ts'
import {
  accountOf,
  type Db,
  type Ledger,
  logView,
  lostIn,
  nameAt,
  type Process,
  type World,
  withDb,
  withProcess,
} from './world.ts'

/** Of a load: one that removes the first job, one that removes the rest; then the first job, then the other with the key. */
const PAGES = 4
const REMOVING = 2

/** Where each step may lead. */
const MOVES: Readonly<Record<Exclude<Step, 'joined'>, readonly Step[]>> = {
  look: ['compare'],
  compare: ['look', 'ship', 'fence', 'joined'],
  ship: ['look', 'fence'],
  fence: ['look', 'mark'],
  mark: ['look', 'measure'],
  measure: ['look', 'replay', 'load', 'open'],
  replay: ['look', 'replay', 'open'],
  load: ['look', 'load', 'open'],
  open: ['look', 'joined'],
}

type Step = Join['step']
type Done = readonly [next: Join<Written>, world: World]

export class Joins {
  readonly taken = new Set<string>()
  readonly #protocol: Protocol
  readonly #calls: Calls

  constructor(protocol: Protocol, calls: Calls) {
    this.#protocol = protocol
    this.#calls = calls
  }

  reach(world: World, at: 0 | 1, reach: Reach): void {
    const process = world.processes[at]
    const { join } = process
    if (join === undefined) {
      if (this.#hasReason(world, at))
        reach(`p${at + 1} joins`, 8, () => withProcess(world, at, { joined: undefined, join: this.#protocol.LOOK }))
      return
    }
    const { master } = world.servers[process.server]
    if (!master && WRITES.has(join.step)) return
    const take = (label: string, isTooFar: boolean) =>
      reach(`p${at + 1} ${label}`, 14, () => {
        // With each look at the ledger a joiner also asks which life of the server this is.
        const incarnation = join.step === 'look' ? world.servers[process.server].life : process.incarnation
        const [next, stepped] = this.#step(world, process, join, isTooFar)
        const after = withProcess(stepped, at, { incarnation })
        const move = rowOf(join.step, next.step)
        must(ROWS.has(move), 'table', move)
        this.taken.add(move)
        if (next.step !== 'joined') return withProcess(after, at, { join: next })
        return withProcess(after, at, { join: undefined, joined: next.epoch })
      })
    take(textOf(join), false)
    // How much is replayed, and from where on it is loaded, is anybody's guess: two joiners may differ.
    if (join.step === 'measure') take(`${textOf(join)}, and it lacks too much`, true)
  }

  #hasReason(world: World, at: 0 | 1): boolean {
    const process = world.processes[at]
    const { server, joined } = process
    if (joined === undefined || this.#calls.open(world, at) === undefined) return true
    if (lostIn(this.#protocol, world, process) > 0) return true
    const view = logView(world.servers[server], world.ledger.head.seq)
    return this.#protocol.shipmentOf(world.ledger, view).kind === 'misfit'
  }

  #step(world: World, process: Process, join: Join<Written>, isTooFar: boolean): Done {
    const { ledger } = world
    const { server, incarnation } = process
    const protocol = this.#protocol
    const { db } = world.servers[server]
    switch (join.step) {
      case 'look':
        return [protocol.afterLook(accountOf(ledger)), world]
      case 'compare': {
        const lost = lostIn(protocol, world, process)
        const view = logView(world.servers[server], join.account.head.seq)
        return [protocol.afterCompare(join.account, view, incarnation, lost), world]
      }
      case 'ship': {
        const isTaken = protocol.accepts(ledger, join.append)
        const after = isTaken ? this.#calls.append(ledger, join.append) : ledger
        return [protocol.afterShip(isTaken, accountOf(after)), { ...world, ledger: after }]
      }
      case 'fence': {
        const isTaken = protocol.mayFence(ledger, join.account.epoch)
        const after = isTaken ? { ...ledger, ...protocol.fenced(accountOf(ledger)) } : ledger
        return [protocol.afterFence(isTaken, accountOf(after)), { ...world, ledger: after }]
      }
      case 'measure': {
        const missing = db === undefined || isTooFar ? undefined : entriesSince(db, ledger, join.account.head.seq)
        return [protocol.afterMeasure(join.account, db?.meta, missing), world]
      }
      default:
        return this.#write(world, process, join, db)
    }
  }

  /** What a step writes on the server, if it still may. */
  #write(world: World, { server, incarnation }: Process, join: Join<Written>, db: Db | undefined): Done {
    const protocol = this.#protocol
    const meta = db?.meta
    switch (join.step) {
      case 'mark': {
        const may = protocol.mayMark(meta, join.account.epoch)
        const after = may ? withDb(world, server, { meta: protocol.marked(meta, join.account.epoch), pages: 0 }) : world
        return [protocol.afterMark(join.account, may), after]
      }
      case 'replay': {
        const { account, entries } = join
        const entry = entries[0] as Written
        const may = db !== undefined && protocol.mayReplay(meta, account.epoch, entry)
        const after = may
          ? withDb(world, server, {
              meta: this.#calls.metaAfter(db.meta, entry),
              hot: applied(db.hot, entry),
              log: [...db.log, entry],
            })
          : world
        return [protocol.afterReplay(account, entries, may), after]
      }
      case 'load':
        return this.#load(world, server, join, db)
      case 'open': {
        const { account, fitted } = join
        const may = db !== undefined && protocol.mayOpen(meta, account, fitted, db.pages)
        if (!may) return [protocol.afterOpen(account, false), world]
        const after = withDb(world, server, {
          pages: 0,
          meta: protocol.opened(db.meta, account, incarnation, fitted),
        })
        return [protocol.afterOpen(account, true), after]
      }
      default:
        throw new Error(`${join.step} writes nothing`)
    }
  }

  /** In place: what is there goes, then comes what the ledger's tables have by now. */
  #load(world: World, server: 0 | 1, join: Join<Written> & { step: 'load' }, db: Db | undefined): Done {
    const { account, page } = join
    const { ledger } = world
    const may = db !== undefined && this.#protocol.mayPage(db.meta, account.epoch, page, db.pages)
    const read = page < REMOVING ? undefined : accountOf(ledger)
    const next = this.#protocol.afterLoad(account, page, read, may, page === PAGES - 1)
    if (!may) return [next, world]
    const meta = this.#protocol.withPage(db.meta, page)
    return [next, withDb(world, server, { ...pageOf(db, ledger.fold, page), meta, pages: page + 1 })]
  }
}

function pageOf({ hot }: Db, fold: Jobs, page: number): Partial<Db> {
  const job = page - REMOVING
  if (page === 0) return { hot: { ...hot, jobs: hot.jobs.with(0, null) } }
  if (job < 0) return { hot: NO_JOBS, log: [] }
  return { hot: { jobs: hot.jobs.with(job, fold.jobs[job] ?? null), key: page === PAGES - 1 ? fold.key : hot.key } }
}

const rowOf = (from: Step, to: Step): string => `join from ${from} to ${to}`

export const allJoinRows = (): readonly string[] =>
  Object.entries(MOVES).flatMap(([from, moves]) => moves.map((to) => rowOf(from as Step, to)))

const ROWS = new Set(allJoinRows())

const WRITES: ReadonlySet<string> = new Set(['mark', 'replay', 'load', 'open'])

/** What the ledger has between a server's head and the head that is joined. */
function entriesSince({ meta: { head } }: Db, ledger: Ledger, to: number): readonly Written[] | undefined {
  return nameAt(ledger, head.seq) === head.name ? ledger.log.slice(head.seq, to) : undefined
}

const textOf = (join: Join<Written>): string => {
  if (join.step === 'look' || join.step === 'joined') return join.step
  if (join.step === 'ship') return `ships ${join.append.entries.map(({ name }) => name)} before it joins`
  if (join.step === 'replay') return `replays ${join.entries[0]?.name} for ${join.account.epoch}`
  return `${join.step} ${join.account.epoch}${join.step === 'load' ? ` page ${join.page + 1}` : ''}`
}
