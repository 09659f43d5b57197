/**
 * Sides of queues: where jobs stand that need something, each with a number among those of queues. A side comes into the
 * world with the first job that needs it, in whatever process; here those are known that stand beside the queues which this
 * process claims from. They are asked for when a hint names one that is not known, and now and then, since hints may be
 * lost. Numbers of one queue's sides ascend as they are committed (`pawl.intern_queues`): what was seen is not asked for again.
 */
import type { Clock } from '../../../system/clock.ts'
import { original } from '../../codec/text.ts'
import type { Hint, Lane } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { Statements } from '../connection/statements.ts'
import type { Kinds, QueueSide, Run } from './kinds.ts'

export interface SidesParts {
  readonly run: Run
  readonly statements: Pick<Statements, 'sides' | 'limitedOf'>
  readonly kinds: Kinds
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Whether this process listens on a connection of its own, without a pooler in between. False is always safe: side lanes are then asked for every second. */
  readonly hears: () => boolean
}

interface Beside {
  /** Numbers of its side lanes, by need. */
  readonly numbers: Map<string, number>
  last: number
  /** When they are asked for again. */
  askAtMs: number
}

const ASK_EVERY_MS = 1_000
/** How often side lanes are asked for while this process hears hints: one is lost only with the connection, and then all are asked for. */
const HEARING_ASK_EVERY_MS = 10_000

export class Sides {
  readonly #parts: SidesParts
  /** Side lanes of a queue, by the queue's number. */
  readonly #beside = new Map<number, Beside>()
  /** Queues and sides that have flows, by number. */
  readonly #limited = new Set<number>()

  constructor(parts: SidesParts) {
    this.#parts = parts
  }

  /** The known side lanes of a queue, by need. */
  of(queue: number): ReadonlyMap<string, number> {
    return this.#beside.get(queue)?.numbers ?? NONE
  }

  /** Whether jobs are let in beside the lanes of this queue, or side, as far as it is known. */
  isLimited(queue: number): boolean {
    return this.#limited.has(queue)
  }

  /** These queues, or sides, have flows. */
  knowLimited(queues: Iterable<number>): void {
    for (const queue of queues) this.#limited.add(queue)
  }

  /** A queue and its sides, as far as they are known. */
  abreast(tenant: string, queue: string): readonly QueueSide[] {
    const number = this.#parts.kinds.queue({ tenant, queue })
    const needs = number === undefined ? [] : [...this.of(number).keys()]
    return [{ tenant, queue }, ...needs.map((each) => ({ tenant, queue, needs: each }))]
  }

  /** Sees to it that those beside these lanes are known, as of a moment ago. Their queues have numbers. */
  async learn(lanes: readonly Lane[]): Promise<void> {
    const { kinds, clock, hears } = this.#parts
    const nowMs = clock.monotonicMs()
    let due: Map<number, Lane> | undefined
    for (const lane of lanes) {
      const queue = kinds.ofLane(lane)
      if (queue === undefined || (this.#beside.get(queue)?.askAtMs ?? 0) > nowMs) continue
      due ??= new Map()
      due.set(queue, lane)
    }
    if (due === undefined) return
    const askAtMs = nowMs + (hears() ? HEARING_ASK_EVERY_MS : ASK_EVERY_MS)
    for (const queue of due.keys()) {
      const beside = this.#beside.get(queue)
      if (beside === undefined) this.#beside.set(queue, { numbers: new Map(), last: 0, askAtMs })
      else beside.askAtMs = askAtMs
    }
    try {
      await this.#ask(due)
    } catch (error) {
      for (const queue of due.keys()) this.#askSoon(queue)
      throw error
    }
  }

  /** A hint about a side lane that is not known: its queue is asked about at the next claim. */
  heard(hint: Hint): void {
    if (hint.about === 'anything') for (const queue of this.#beside.keys()) this.#askSoon(queue)
    else if (hint.about === 'queue' && hint.needs !== undefined) {
      const queue = this.#parts.kinds.queue({ tenant: hint.tenant, queue: hint.queue })
      if (queue !== undefined && !this.of(queue).has(hint.needs)) this.#askSoon(queue)
    }
  }

  /** Jobs were let in beside this queue, or side. */
  heardLimited({ tenant, queue, needs }: QueueSide): void {
    const { kinds } = this.#parts
    const side = kinds.queue({ tenant, queue, needs })
    const main = kinds.queue({ tenant, queue })
    if (side !== undefined) this.knowLimited([side])
    else if (main !== undefined) this.#askSoon(main)
  }

  /** The database may have forgotten some. */
  forget(): void {
    this.#beside.clear()
    this.#limited.clear()
  }

  async #ask(due: ReadonlyMap<number, Lane>): Promise<void> {
    const { run, statements, kinds } = this.#parts
    const queues = [...due.keys()]
    const lasts = queues.map((queue) => this.#beside.get(queue)?.last ?? 0)
    const [limited, rows] = await Promise.all([
      run(statements.limitedOf, [literal(queues)]),
      run(statements.sides, [literal(queues), literal(lasts)]),
    ])
    this.knowLimited(numbersIn(limited[0]?.[0]))
    for (const [id, main, needed] of rows) {
      const beside = this.#beside.get(Number(main))
      const lane = due.get(Number(main))
      if (beside === undefined || lane === undefined) continue
      const needs = original(String(needed))
      kinds.knowSide({ tenant: lane.tenant, queue: lane.queue, needs }, Number(id))
      beside.numbers.set(needs, Number(id))
      beside.last = Math.max(beside.last, Number(id))
    }
  }

  #askSoon(queue: number): void {
    const beside = this.#beside.get(queue)
    if (beside !== undefined) beside.askAtMs = 0
  }
}

/** An array as the server writes it; null where it is empty. */
const numbersIn = (array: unknown): readonly number[] =>
  typeof array === 'string' ? (JSON.parse(`[${array.slice(1, -1)}]`) as number[]) : []

const NONE: ReadonlyMap<string, number> = new Map()
