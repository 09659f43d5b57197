/**
 * Changes. The plain ends of owned jobs, nearly all there is, ride together in one statement: those that this process knows to be
 * in bundles (`bundle-ends.ts`), and those that have leases. Other moves, of whatever kind, ride together in another. At most one
 * change per job is in a statement: a second one waits for the next.
 */
import { assert } from '../../../core/assert.ts'
import { placeMoveOf } from '../../../core/flow/membership.ts'
import { idNumber, idText } from '../../../core/id.ts'
import type { Job } from '../../../core/job.ts'
import { askedOf } from '../../../core/recast.ts'
import type { Change, Key, MoveChange, Verdict } from '../../store.ts'
import { Batcher } from '../batch/batcher.ts'
import { brokenUp, mayBreakUp } from '../batch/broken-up.ts'
import { literal } from '../batch/uniform.ts'
import type { BundleEnds } from '../bundle/bundle-ends.ts'
import type { Bundles } from '../bundle/bundles.ts'
import type { Row } from '../connection/client.ts'
import { type Connection, leastBusy } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { codeOf } from '../connection/trouble.ts'
import { keyedRow, keyRow } from '../enqueue/new-row.ts'
import { flowRow, isFlowing } from '../flow/flowing.ts'
import { isFlowGone } from '../flow/flows.ts'
import type { Letting } from '../flow/letting.ts'
import type { Keeping } from '../keep/keeping.ts'
import { isAside, type Kinds, sideOf } from '../names/kinds.ts'
import { heldLane } from '../names/let-in-lane.ts'
import { distinct, firstPerJob } from './abreast.ts'
import { isPutBack, isSettling, isVacating, moveRow, type SettleRow, settleRow, settleValues } from './change-row.ts'
import { PutBack } from './put-back.ts'
import { Vacating } from './vacating.ts'

export interface CommitParts {
  readonly connections: readonly [Connection, ...Connection[]]
  readonly kinds: Kinds
  /** Told of jobs that have moved where others wait at one of their keys. */
  readonly letting: Pick<Letting, 'flows' | 'waitedFor' | 'waitedAt'>
  readonly statements: Statements
  readonly bundles: Bundles
  readonly bundleEnds: BundleEnds
  /** Annotations, compactions and purges, which move no job (`keeping.ts`). */
  readonly keep: (change: Keeping, run: Run) => Promise<Verdict>
  readonly purge: (jobs: readonly Job[], run: Run) => Promise<readonly Verdict[]>
  readonly sawClock: (now: number) => void
}

type Run = (text: string, values: (again: boolean) => unknown[], mayBreakUp?: boolean) => Promise<Row[]>

type Purge = Extract<Change, { kind: 'purge' }>

export class Commits {
  readonly #parts: CommitParts
  readonly #batcher: Batcher<Change, Verdict>
  readonly #backs: PutBack
  readonly #vacating: Vacating
  /** By bundle: the statement under way that gives its jobs leases, which all changes of that bundle wait for. */
  readonly #parting = new Map<number, Promise<unknown>>()

  constructor(parts: CommitParts) {
    this.#parts = parts
    this.#backs = new PutBack(parts)
    this.#vacating = new Vacating(parts)
    this.#batcher = new Batcher({ run: (changes) => this.#apply(changes, this.#run), sizeOf, weightOf, atOnce: 2 })
  }

  async commit(changes: readonly Change[]): Promise<readonly Verdict[]> {
    await this.#intern(changes)
    return this.#batcher.add(changes)
  }

  /** As `commit`, inside the caller's transaction. Bundles are parted outside of it, so that their locks do not last as long. */
  async commitIn(changes: readonly Change[], run: Run): Promise<readonly Verdict[]> {
    await this.#intern(changes)
    for (const change of changes) if (change.kind === 'move') await this.#part(change.before)
    const verdicts = await this.#apply(changes, run)
    if (verdicts.some(({ status }) => status === 'conflict')) await this.#mustSeeWhatIs(run)
    return verdicts
  }

  close(): Promise<void> {
    return this.#batcher.close()
  }

  /**
   * Gives the jobs of its bundle leases of their own, all at once, since others will follow. A bundle's lock held for as
   * long as a caller's transaction takes would keep the others from ending.
   */
  async #part(job: Job): Promise<void> {
    const { bundles, statements } = this.#parts
    const bundle = bundles.of(job)
    if (bundle === undefined) return
    const ids = literal([idNumber(job.id) as number])
    const parting = this.#parting.get(bundle) ?? this.#run(statements.loosen, () => [ids])
    this.#parting.set(bundle, parting)
    try {
      await parting
      bundles.forget(job)
    } finally {
      this.#parting.delete(bundle)
    }
  }

  /** After a conflict the engine loads and decides again: in a transaction that sees the database as it was when it began (above READ COMMITTED) it would load the same record for ever. */
  async #mustSeeWhatIs(run: Run): Promise<void> {
    const [row] = await run(ISOLATION, () => [])
    if (row?.[0] === 'read committed') return
    const message = `pawl: the job has changed since this ${row?.[0]} transaction took its view; the transaction must be run again`
    throw Object.assign(new Error(message), { code: '40001' })
  }

  readonly #run: Run = (text, values, mayBreakUp = false) =>
    leastBusy(this.#parts.connections).run(text, values, mayBreakUp)

  async #intern(changes: readonly Change[]): Promise<void> {
    const { kinds, letting } = this.#parts
    const { flows } = letting
    for (const change of changes) {
      if (change.kind === 'mend') await flows.intern([...change.jobs, ...change.held].map((job) => ({ job })))
      if (change.kind !== 'move') continue
      if (change.after.spec.flow !== undefined) await flows.intern([{ job: change.after, flow: change.births }])
      if (change.spawn?.flow !== undefined) await flows.intern([change.spawn])
      const { kind } = askedOf(change.before)
      if (kinds.known(kind) === undefined) await kinds.intern(kind)
      if (change.spawn !== undefined) await kinds.internFor(change.spawn.job)
      if (isAside(change.after)) await kinds.internQueues([sideOf(change.after)])
    }
  }

  async #apply(changes: readonly Change[], run: Run): Promise<readonly Verdict[]> {
    if (changes.every(isSettlement) && distinct(changes)) return this.#settle(changes, run)
    const verdicts: Verdict[] = new Array(changes.length)
    let rest = changes.map((_, i) => i)
    while (rest.length > 0) {
      const round = firstPerJob(changes, rest)
      await this.#round(changes, round, verdicts, run)
      const done = new Set(round)
      rest = rest.filter((i) => !done.has(i))
    }
    return verdicts
  }

  async #round(changes: readonly Change[], round: readonly number[], verdicts: Verdict[], run: Run): Promise<void> {
    const settling: number[] = []
    const moving: number[] = []
    const vacating: number[] = []
    const flowing: number[] = []
    const backs: number[] = []
    const purging: number[] = []
    for (const i of round) {
      const change = changes[i] as Change
      if (change.kind === 'purge') purging.push(i)
      else if (change.kind !== 'move') verdicts[i] = await this.#parts.keep(change, run)
      else if (isSettling(change)) settling.push(i)
      else if (run === this.#run && isVacating(change)) vacating.push(i)
      else if (isFlowing(change)) flowing.push(i)
      else if (run === this.#run && isPutBack(change)) backs.push(i)
      else moving.push(i)
    }
    if (moving.length > 0 && backs.length < WORTH_A_STATEMENT) moving.push(...backs.splice(0))
    const apply = async <C extends Change>(
      places: readonly number[],
      all: (some: readonly C[]) => Promise<readonly Verdict[]>,
    ) => {
      if (places.length === 0) return
      const answers = await all(places.map((i) => changes[i] as C))
      for (const [n, i] of places.entries()) verdicts[i] = answers[n] as Verdict
    }
    const ways = [
      () => apply<MoveChange>(settling, (some) => this.#settle(some, run)),
      () => apply<MoveChange>(moving, (some) => this.#move(some, run)),
      () => apply<MoveChange>(backs, (some) => this.#apart(some, (each) => this.#atOnce(this.#backs, each))),
      () => apply<MoveChange>(vacating, (some) => this.#atOnce(this.#vacating, some)),
      () => apply<MoveChange>(flowing, (some) => this.#move(some, run)),
      () =>
        apply<Purge>(purging, (some) =>
          this.#parts.purge(
            some.map(({ before }) => before),
            run,
          ),
        ),
    ]
    // A transaction of the caller's is one connection, on which nothing is gained and errors would be of the others.
    if (run !== this.#run) for (const way of ways) await way()
    else await allDone(ways.map((way) => way()))
  }

  #settle(changes: readonly MoveChange[], run: Run): Promise<readonly Verdict[]> {
    return this.#apart(changes, (some, areBundled) =>
      areBundled ? this.#settleBundled(some, run) : this.#settleLeases(some, run),
    )
  }

  /** Jobs that this process knows to be in a bundle, and jobs with leases, are moved by two statements at the same time. */
  async #apart(
    changes: readonly MoveChange[],
    move: (some: readonly MoveChange[], areBundled: boolean) => Promise<readonly Verdict[]>,
  ): Promise<readonly Verdict[]> {
    const { bundles } = this.#parts
    const isBundled = ({ before }: MoveChange): boolean => bundles.of(before) !== undefined
    if (!changes.some(isBundled)) return move(changes, false)
    if (changes.every(isBundled)) return move(changes, true)
    const bundled = changes.filter(isBundled)
    const leased = changes.filter((change) => !isBundled(change))
    const [ofBundles, ofLeases] = await Promise.all([move(bundled, true), move(leased, false)])
    const verdicts = new Map<MoveChange, Verdict>()
    for (const [i, change] of bundled.entries()) verdicts.set(change, ofBundles[i] as Verdict)
    for (const [i, change] of leased.entries()) verdicts.set(change, ofLeases[i] as Verdict)
    return changes.map((change) => verdicts.get(change) as Verdict)
  }

  /** By a narrow statement, for what nearly all of its kind are like; where that does not do it, as anything else is moved. */
  async #atOnce(way: PutBack | Vacating, changes: readonly MoveChange[]): Promise<readonly Verdict[]> {
    let again = false
    const lost = () => {
      again = true
    }
    try {
      if (await way.apply(changes, this.#run, lost)) return changes.map(() => APPLIED)
    } catch (error) {
      return this.#oneByOne(changes, this.#run, again, error)
    }
    return this.#move(changes, this.#run, again)
  }

  async #settleBundled(changes: readonly MoveChange[], run: Run): Promise<readonly Verdict[]> {
    let again = false
    const lost = () => {
      again = true
    }
    try {
      if (await this.#parts.bundleEnds.settle(changes, run, lost)) return changes.map(() => APPLIED)
    } catch (error) {
      return this.#oneByOne(changes, run, again, error)
    }
    return this.#settleLeases(changes, run, again)
  }

  /** `again`: an earlier try may have been applied. */
  async #settleLeases(changes: readonly MoveChange[], run: Run, again = false): Promise<readonly Verdict[]> {
    let mayBeThere = again
    const lost = () => {
      mayBeThere = true
    }
    try {
      const rows = changes.map((change) => settleRow(change))
      const missed = await this.#missedOf(changes, rows, run, lost)
      if (missed.size === 0) return changes.map(() => APPLIED)
      const why = await this.#why(
        rows.filter(({ i }) => missed.has(i)),
        mayBeThere,
        run,
      )
      return rows.map(({ i }) => why.get(i) ?? APPLIED)
    } catch (error) {
      return this.#oneByOne(changes, run, mayBeThere, error)
    }
  }

  async #missedOf(changes: readonly MoveChange[], rows: readonly SettleRow[], run: Run, lost: () => void) {
    const { kinds, statements, sawClock } = this.#parts
    const values = settleValues(changes, rows, kinds)
    const [answer] = await run(
      statements.settleLeases,
      (repeated) => {
        if (repeated) lost()
        return values
      },
      true,
    )
    assert(answer !== undefined, 'a settlement is answered')
    const [now, missed] = answer
    sawClock(Number(now))
    return new Set(missed === null ? [] : (JSON.parse(String(missed)) as number[]))
  }

  async #why(rows: readonly { i: number; r: number; v: number; e: string }[], again: boolean, run: Run) {
    const items = JSON.stringify(rows.map(({ i, r, v, e }) => ({ i, r, v, e })))
    const [row] = await run(this.#parts.statements.missed, () => [items, again])
    const letters = JSON.parse(String(row?.[0])) as string[]
    return new Map(rows.map(({ i }, n) => [i, verdictOf(letters[n] as string)]))
  }

  /** `before`: an earlier try may have been applied. */
  async #move(changes: readonly MoveChange[], run: Run, before = false): Promise<readonly Verdict[]> {
    let again = before
    const lost = () => {
      again = true
    }
    try {
      return await this.#moveTogether(changes, run, before, lost)
    } catch (error) {
      if (isFlowGone(error) && run === this.#run) {
        await this.#parts.letting.flows.internAnew(changes.map(({ after, births }) => ({ job: after, flow: births })))
        return this.#moveTogether(changes, run, again, lost)
      }
      return this.#oneByOne(changes, run, again, error)
    }
  }

  /** `again`: an earlier try may have been applied; `lost` is told of one. All are flowing, or none is. */
  async #moveTogether(changes: readonly MoveChange[], run: Run, again: boolean, lost: () => void) {
    const { statements, sawClock } = this.#parts
    const items = JSON.stringify(changes.map((change) => this.#row(change)))
    const [row] = await run(
      changes.some(isFlowing) ? statements.flowMove : statements.move,
      (repeated) => {
        if (repeated) lost()
        return [items, repeated || again]
      },
      true,
    )
    assert(row !== undefined, 'a move is answered')
    sawClock(Number(row[0]))
    const letters = JSON.parse(String(row[1])) as string[]
    const waited = changes.filter((_, i) => letters[i] === WAITED_FOR)
    if (waited.length > 0 && run === this.#run) this.#parts.letting.waitedFor(waited.map(({ after }) => after))
    return changes.map((change, i) => verdictOf(letters[i] as string, change))
  }

  #row(change: MoveChange): object {
    const { kinds, letting } = this.#parts
    const { flows } = letting
    const { before, after, spawn } = change
    const spawned = spawn && keyedRow(spawn, kinds, flows.heldLane(spawn.job))
    const flow = flows.of(after)
    const kind = kinds.of(askedOf(before).kind)
    if (flow === undefined) return moveRow(change, kind, kinds.lane(after), spawned)
    const lane = placeMoveOf(before, after) === 'hold' ? heldLane(flow.id) : undefined
    return { ...moveRow(change, kind, lane, spawned), fl: flowRow(change, flow) }
  }

  /** A transaction of the caller's that has failed is over: there is nothing to break up. */
  #oneByOne(changes: readonly MoveChange[], run: Run, again: boolean, error: unknown): Promise<readonly Verdict[]> {
    if (run !== this.#run || !mayBreakUp(error)) throw error
    return brokenUp<MoveChange, Verdict>(
      changes,
      (change) => this.#alone(change, again),
      (rule) => ({ status: 'rejected', field: 'job', rule }),
    )
  }

  async #alone(change: MoveChange, again: boolean): Promise<Verdict> {
    for (let tries = 0; ; tries += 1) {
      try {
        const [verdict] = await this.#moveTogether([change], this.#run, again, () => {})
        return verdict as Verdict
      } catch (error) {
        const code = codeOf(error)
        if (code === '55P03' && tries < LOCK_TRIES) continue
        // Another's open transaction has the row: the engine loads and decides again a little later, when that has ended.
        if (code === '55P03' || code === '23505') return CONFLICT
        throw error
      }
    }
  }
}

/** Nobody is told of a failure while others may still be applied. */
async function allDone(ways: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(ways)) if (outcome.status === 'rejected') throw outcome.reason
}

const ISOLATION = `select current_setting('transaction_isolation')`

/** Fewer that go back to their lanes ride with what else moves: a commit of their own costs more than it saves. */
const WORTH_A_STATEMENT = 8
const WAITED_FOR = 'aw'
const APPLIED: Verdict = { status: 'applied' }
const CONFLICT: Verdict = { status: 'conflict' }
const LATE: Verdict = { status: 'late' }
/** Few: those it came with wait meanwhile. */
const LOCK_TRIES = 1

/** 'a', 'aw' (others wait at one of its keys), 'c', 'l', or who holds which key: `purpose:holder:key`. */
function verdictOf(letter: string, change?: MoveChange): Verdict {
  if (letter === 'a' || letter === WAITED_FOR) return APPLIED
  if (letter === 'l') return LATE
  if (letter === 'c' || change === undefined) return CONFLICT
  const [purpose = '', holder = ''] = letter.split(':', 2)
  const stored = letter.slice(purpose.length + holder.length + 2)
  const key = [...change.take, ...(change.spawn?.keys ?? [])].find((each) => isKey(each, purpose, stored))
  return key === undefined ? CONFLICT : { status: 'taken', key, holder: idText(Number(holder)) }
}

const isKey = (key: Key, purpose: string, stored: string): boolean =>
  key.purpose === purpose && keyRow(key).k === stored

const isSettlement = (change: Change): change is MoveChange => change.kind === 'move' && isSettling(change)

/** Nobody waits for the end of an attempt. After anything else a handler or a caller waits to go on, and the server takes the longer for it. */
const weightOf = (change: Change): number => (isSettlement(change) || endsAttempt(change) ? 1 : 6)

const endsAttempt = (change: Change): boolean =>
  change.kind === 'move' && change.before.lease !== undefined && change.after.lease === undefined

const sizeOf = (change: Change): number =>
  change.kind === 'move'
    ? 500 + change.bodies.reduce((sum, { text }) => sum + text.length, 0) + (change.spawn?.input?.length ?? 0)
    : 500
