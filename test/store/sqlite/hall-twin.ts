/**
 * A hall in memory, the model's, and beside it the same hall in the tables of a file. Every step is taken in both, and then they
 * are compared: who stands, the slots, the turns, and when somebody looks again.
 */
import { isDeepStrictEqual } from 'node:util'
import { atQueue, type Place } from '../../../src/core/flow/hall.ts'
import type { KeyInput } from '../../../src/core/flow/signal.ts'
import { newestFirst } from '../../../src/core/flow/take-back.ts'
import { idText } from '../../../src/core/id.ts'
import { flowOf } from '../../../src/store/sqlite/thread/hall/flow-cells.ts'
import { heldLane, letInLane } from '../../../src/store/sqlite/thread/hall/lanes.ts'
import { useOf } from '../../../src/store/sqlite/thread/hall/table-hall.ts'
import { Usher } from '../../../src/store/sqlite/thread/hall/usher.ts'
import type { Ledger } from '../../../src/store/sqlite/thread/ledger.ts'
import { all, one } from '../../../src/store/sqlite/thread/rows.ts'
import { queueKey } from '../../../src/store/store.ts'
import { must } from '../../model/breach.ts'
import type { FlowCore } from '../../model/flow/flow-core.ts'
import { type HallJob, HallWorld, WINDOW } from '../../model/flow/hall-world.ts'

/** Above it all numbers are written with as many letters. */
const FIRST = 2 ** 30

export class HallTwin extends HallWorld {
  readonly #ledger: Ledger
  readonly #usher: Usher
  readonly #keys = new Map<string, number>()
  readonly #flows = new Map<string, { readonly number: number; readonly kind: number; readonly lane: number }>()
  readonly #queues = new Map<string, number>()

  constructor(core: FlowCore, ledger: Ledger) {
    super(core, true)
    this.#ledger = ledger
    this.#usher = new Usher(ledger.sql, WINDOW)
    this.#commit(() => this.#furnish())
  }

  #furnish(): void {
    const { sql, kinds } = this.#ledger
    for (const [name, { use }] of this.keys) {
      this.#keys.set(name, one(sql.insertKey, 't', name, 1, JSON.stringify(use.gate), 1, '{}')?.[0] as number)
    }
    for (const { name, queue, priority, keys, weight } of this.flows.values()) {
      const [kind = 0] = kinds.intern([[`{"queue":"${queue}"}`, 't', queue, 'type', 1_000]])
      const number = kinds.queue('t', queue) as number
      this.#queues.set(queue, number)
      const lane = letInLane(kinds.lane(kind, priority, null))
      const numbers = JSON.stringify(keys.map((key) => this.#keys.get(key) as number))
      sql.insertKey.run('t', `weight of ${name}`, 1, '{}', weight, '{}')
      const row = one(sql.insertFlow, name, 't', number, lane, priority, numbers, `weight of ${name}`)
      this.#flows.set(name, { number: row?.[0] as number, kind, lane })
    }
  }

  override insert(flow: string, delayMs: number): void {
    super.insert(flow, delayMs)
    const { id } = [...this.jobs.values()].at(-1) as HallJob
    this.#commit(() => {
      this.#ledger.sql.insertJob.run(numberOf(id), this.#flow(flow).kind, this.now, 5, null, null, null, null)
      this.#hold(id)
    })
  }

  override nudge(): void {
    super.nudge()
    this.#commit(() => {})
  }

  override due(): void {
    super.due()
    this.#commit(() => this.#usher.noteDue(this.now))
  }

  override claim(lane: string): void {
    const owned = new Set(this.#idsOf('owned'))
    super.claim(lane)
    const claimed = this.#idsOf('owned').filter((id) => !owned.has(id))
    this.#commit(() => {
      for (const id of claimed) {
        const { lane: number } = this.#flow(this.#job(id).flow)
        const [first] = all(this.#ledger.sql.heldIn, number, 0, 0, 1)
        must(first?.[1] === numberOf(id), 'twin', `${id} is the first of ${lane}`)
        this.#leave(id)
        this.#usher.claim(numberOf(id), this.now)
        this.#usher.look(`lane ${number}`)
      }
    })
  }

  override end(id: string, signal: KeyInput['type'] | undefined, then: 'ended' | 'aside' | 'again', ms = 0): void {
    const { place, flow } = this.#job(id)
    super.end(id, signal, then, ms)
    this.#commit(() => {
      const { lane } = this.#flow(flow)
      this.#leave(id)
      this.#usher.free(numberOf(id), this.now)
      if (place !== 'held') this.#usher.look(`lane ${lane}`)
      const [first] = this.flow(flow).keys
      if (signal !== undefined && first !== undefined && place === 'owned') this.#setGate(first)
      if (then === 'again') this.#hold(id)
    })
  }

  override resume(id: string): void {
    super.resume(id)
    this.#commit(() => this.#hold(id))
  }

  override move(id: string, flow: string, delayMs: number): void {
    const { place, flow: before } = this.#job(id)
    super.move(id, flow, delayMs)
    this.#commit(() => {
      const { lane } = this.#flow(before)
      this.#leave(id)
      if (place === 'standing') this.#usher.free(numberOf(id), this.now)
      if (place === 'standing') this.#usher.look(`lane ${lane}`)
      this.#hold(id)
    })
  }

  override operate(name: string, type: 'reset' | 'probe'): void {
    super.operate(name, type)
    this.#commit(() => this.#setGate(name))
  }

  override set(name: string, limit: Parameters<HallWorld['set']>[1]): void {
    super.set(name, limit)
    this.#commit(() => this.#setGate(name))
  }

  override spend(name: string, amount: number): void {
    super.spend(name, amount)
    this.#commit(() => {
      const { sql } = this.#ledger
      const key = this.#key(name)
      // The model's keys count without a budget, too.
      const { spent, window } = this.keys.get(name)?.use ?? { spent: 0, window: 0 }
      this.#usher.spend(key, amount, this.now)
      const [, stored] = one(sql.flowKey, key) as readonly [string, number]
      if (this.keys.get(name)?.limit.budget === undefined) sql.setSpent.run(spent, window, key)
      else must(stored === spent, 'twin', `${name} has spent ${stored}, not ${spent}`)
      this.#usher.change(key)
    })
  }

  override pause(queue: string): void {
    super.pause(queue)
    this.#commit(() => {
      this.#setPaused(queue, true)
      this.#usher.clear(
        [...new Set([...this.#flows.values()].map(({ lane }) => lane))].filter(this.#isOf(queue)),
        this.now,
      )
    })
  }

  override unpause(queue: string): void {
    super.unpause(queue)
    this.#commit(() => {
      this.#setPaused(queue, false)
      this.#usher.look(atQueue(String(this.#queues.get(queue))))
    })
  }

  #isOf = (queue: string) => (lane: number) =>
    [...this.#flows].some(([name, flow]) => flow.lane === lane && this.flow(name).queue === queue)

  #setPaused(queue: string, paused: boolean): void {
    this.#ledger.sql.putSetting.run('queue', queueKey('t', queue), 1, this.now, JSON.stringify({ paused }))
  }

  #setGate(name: string): void {
    const key = this.#key(name)
    const { gate } = (this.keys.get(name) as { use: { gate: object } }).use
    this.#ledger.sql.moveKey.run(JSON.stringify(gate), 1, '{}', null, key)
    this.#usher.change(key)
  }

  #hold(id: string): void {
    const { flow, readyAt } = this.#job(id)
    const { number, kind } = this.#flow(flow)
    this.#ledger.sql.insertFresh.run(heldLane(number), readyAt, kind, 'q', null, 0, numberOf(id))
    this.#usher.arrive(number)
  }

  /** Its row, wherever it is, is gone. */
  #leave(id: string): void {
    this.#ledger.db.prepare('DELETE FROM ready WHERE id = ?').run(numberOf(id))
  }

  #commit(write: () => void): void {
    const ledger = this.#ledger
    ledger.begin()
    write()
    this.#usher.letIn(this.now)
    ledger.commit()
    this.#compare()
  }

  #compare(): void {
    const { sql, db } = this.#ledger
    const same = (what: string, there: unknown, here: unknown) =>
      must(
        isDeepStrictEqual(there, here),
        'twin',
        `${what}: ${JSON.stringify(there)}, in memory ${JSON.stringify(here)}`,
      )
    const lanes = new Map(
      db
        .prepare('SELECT id, lane FROM ready')
        .all()
        .map((row) => [row['id'], Number(row['lane'])]),
    )
    for (const { id, place } of this.jobs.values()) {
      const lane = lanes.get(numberOf(id))
      const found = lane === undefined ? 'elsewhere' : lane < 0 ? 'held' : 'standing'
      same(id, found, place === 'held' || place === 'standing' ? place : 'elsewhere')
    }
    for (const flow of this.flows.values()) {
      const { number } = this.#flow(flow.name)
      const { pass, waitsAt, nextAt, weight } = flowOf(one(sql.flow, number) ?? [])
      const expected = [flow.pass, this.#placeOf(flow.waitsAt), flow.nextAt, flow.weight]
      same(`flow ${flow.name}`, [pass, waitsAt, nextAt, weight], expected)
      if (waitsAt === undefined || flow.waitsAt === undefined) continue
      const since = one(sql.hungrySince, waitsAt, flow.priority)?.[0]
      same(`hunger at ${flow.waitsAt}`, since, this.hungrySince(flow.waitsAt, flow.priority))
    }
    for (const [name, key] of this.keys) {
      const { slots, paces, spent } = useOf(sql, this.#key(name))
      const { use } = key
      const renamed = use.slots.map((slot) => ({ ...slot, job: idText(numberOf(slot.job)) }))
      same(`slots of ${name}`, slots.toSorted(newestFirst), renamed.sort(newestFirst))
      same(
        `paces of ${name}`,
        paces,
        use.paces.toSorted((a, b) => a - b),
      )
      same(`spent of ${name}`, spent, use.spent)
      const wakeAt = db.prepare('SELECT wake_at FROM flow_key WHERE id = ?').get(this.#key(name))?.['wake_at']
      same(`wake of ${name}`, wakeAt ?? undefined, key.wakeAt)
    }
    same(
      'hungry rings',
      count(db, 'hunger'),
      count(db, '(SELECT DISTINCT waits_at, priority FROM flow WHERE waits_at IS NOT NULL)'),
    )
  }

  #placeOf(place: Place | undefined): Place | undefined {
    const [kind, name = ''] = place?.split(/ (.*)/) ?? []
    if (kind === 'key') return `key ${this.#key(name)}`
    if (kind === 'queue') return `queue ${this.#queues.get(name)}`
    const [flow = ''] = [...this.flows.values()].filter(({ lane }) => lane === name).map((each) => each.name)
    return kind === undefined ? undefined : `lane ${this.#flow(flow).lane}`
  }

  #idsOf(place: HallJob['place']): readonly string[] {
    return [...this.jobs.values()].filter((job) => job.place === place).map(({ id }) => id)
  }

  #job(id: string): HallJob {
    return this.jobs.get(id) as HallJob
  }

  #key(name: string): number {
    return this.#keys.get(name) as number
  }

  #flow(name: string) {
    const flow = this.#flows.get(name)
    must(flow !== undefined, 'twin', `flow ${name} is known`)
    return flow as NonNullable<typeof flow>
  }
}

const numberOf = (id: string): number => FIRST + Number(id.slice('pj_'.length))

const count = (db: Ledger['db'], table: string): unknown =>
  db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
