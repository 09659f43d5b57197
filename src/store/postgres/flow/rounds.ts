/**
 * Rounds of letting in: look, let core judge, apply. Nobody holds a lock between the look and its application; another round that has
 * let in meanwhile, or a commit that changed a gate, has raised the versions that are compared then, and the round begins again.
 *
 *   idle     nobody has anything to look at.
 *   looking  a round is under way. What comes meanwhile is looked at by the next one, in one look.
 *
 * Nothing depends on a round: what there is to look at is written down where it came from (`pawl.arrival`), and stays there until a round
 * has seen it. So a round that fails is passed over, and the ticker, of whichever process, comes to it within a second.
 */
import { atKey, atLane, atQueue, type Place } from '../../../core/flow/hall.ts'
import { type LetIn, letIn } from '../../../core/flow/let-in.ts'
import { literal } from '../batch/uniform.ts'
import type { Row } from '../connection/client.ts'
import type { Statements } from '../connection/statements.ts'
import type { QueueSide } from '../names/kinds.ts'
import { HallSeen } from './hall-seen.ts'
import { lettingPlan, MOST, numbersAt, type Plan, taking, takingPlan } from './plan.ts'
import type { Seen } from './seen.ts'

export interface RoundParts {
  readonly run: (text: string, values: unknown[]) => Promise<Row[]>
  readonly statements: Pick<Statements, 'flowLook' | 'flowApply' | 'flowSweep'>
  /** Told where jobs were let in: claims that wait there are to look. */
  readonly tell: (sides: readonly QueueSide[], jobs: number) => void
  readonly failed: (error: unknown) => void
}

/** What is to be looked at, by number. */
export interface Places {
  readonly keys?: Iterable<number> | undefined
  readonly flows?: Iterable<number> | undefined
  readonly lanes?: Iterable<number> | undefined
  readonly queues?: Iterable<number> | undefined
}

/** Keys that were freed, of which one statement forgets. */
const SWEPT = 10_000

/** Rounds for one asking. What is left then is written down, and the ticker's. */
const ROUNDS = 20

export class Rounds {
  readonly #parts: RoundParts
  #next: Agenda | undefined
  #underWay: Promise<boolean> = Promise.resolve(false)

  constructor(parts: RoundParts) {
    this.#parts = parts
  }

  /** Looks at these places. Answers when that is done, also where it could not be done: the ticker comes to it. */
  look(places: Places): Promise<boolean> {
    return this.#soon((agenda) => agenda.add(places))
  }

  /** Looks at whatever has come or is due. Answers whether there is more of it. */
  tick(): Promise<boolean> {
    return this.#soon((agenda) => {
      agenda.isTicker = true
    })
  }

  close(): Promise<unknown> {
    return this.#underWay
  }

  #soon(write: (agenda: Agenda) => void): Promise<boolean> {
    if (this.#next === undefined) {
      this.#next = new Agenda()
      this.#underWay = this.#underWay.then(() => {
        const agenda = this.#next as Agenda
        this.#next = undefined
        return this.#rounds(agenda).catch((error) => {
          this.#parts.failed(error)
          return false
        })
      })
    }
    write(this.#next)
    return this.#underWay
  }

  /** Whether something is left to look at. */
  async #rounds(first: Agenda): Promise<boolean> {
    let agenda = first
    if (first.isTicker) await this.#sweep()
    for (let n = 0; n < ROUNDS && !agenda.isEmpty; n += 1) agenda = await this.#round(agenda)
    return !agenda.isEmpty
  }

  /** What is to be looked at next. */
  async #round(agenda: Agenda): Promise<Agenda> {
    const next = new Agenda()
    const seen = await this.#look(agenda)
    if (isNothing(seen)) return next
    const hall = new HallSeen(seen)
    const back = agenda.hasTakenBack ? [] : taking(hall, seen, agenda.isTicker)
    if (back.length > 0) {
      const { applied, freed } = await this.#apply(takingPlan(hall, seen, back))
      next.add(agenda)
      next.add({ keys: freed, flows: back.filter(({ n }) => n === undefined).map(({ f }) => f) })
      // So many at a time, until none goes any more.
      next.hasTakenBack = applied && freed.length === 0
      return next
    }
    const places = [
      ...seen.k.map(String).map(atKey),
      ...seen.l.map(String).map(atLane),
      ...seen.q.map(String).map(atQueue),
    ]
    const answer = letIn(hall, places, seen.f.map(String), hall.now)
    const plan = lettingPlan(hall, seen, answer)
    const { applied, moved } = await this.#apply(plan)
    if (!applied) {
      next.add(agenda)
      // A commit that has freed one of them meanwhile has seen nobody wait there.
      next.add({ keys: plan.u })
      return next
    }
    next.isTicker = agenda.isTicker && isCutOff(seen)
    const sides = new Set(answer.admitted.map(({ flow }) => hall.seen(flow).side))
    if (moved > 0) this.#parts.tell([...sides], moved)
    // Only as long as it leads somewhere: a job that is locked is the ticker's.
    if (moved > 0 || answer.flows.some(({ name, waitsAt }) => waitsAt !== hall.flow(name).waitsAt)) {
      const again = [...answer.again, ...hall.cutOff.places].filter((place) => !isFilled(hall, answer, place))
      const lanes = again.flatMap((place) => numbersAt('lane', place))
      const flows = plan.f.filter(({ n }) => n !== undefined && n <= hall.now).map(({ i }) => i)
      next.add({ keys: plan.m, queues: plan.o, lanes, flows })
    }
    return next
  }

  /** What would be looked at in vain is not: most keys that are freed, nobody waits for. */
  async #sweep(): Promise<void> {
    for (let n = 0; n < ROUNDS; n += 1) {
      const [row] = await this.#parts.run(this.#parts.statements.flowSweep, [SWEPT])
      if (row?.[0] !== true) return
    }
  }

  async #look({ keys, flows, lanes, queues, isTicker }: Agenda): Promise<Seen> {
    const lists = [keys, flows, lanes, queues].map((each) => literal([...each]))
    const [row] = await this.#parts.run(this.#parts.statements.flowLook, [...lists, isTicker, MOST])
    return JSON.parse(String(row?.[0])) as Seen
  }

  async #apply(plan: Plan) {
    const [row] = await this.#parts.run(this.#parts.statements.flowApply, [JSON.stringify(plan)])
    const [applied, moved, freed] = row ?? []
    return { applied: applied === true, moved: Number(moved), freed: freed === null ? [] : listOf(String(freed)) }
  }
}

/** What a round is to look at. */
class Agenda {
  readonly keys = new Set<number>()
  readonly flows = new Set<number>()
  readonly lanes = new Set<number>()
  readonly queues = new Set<number>()
  isTicker = false
  /** What is still there that should have gone is somebody else's at this moment. */
  hasTakenBack = false

  add(places: Places & { readonly isTicker?: boolean }): void {
    for (const sort of ['keys', 'flows', 'lanes', 'queues'] as const)
      for (const number of places[sort] ?? []) this[sort].add(number)
    this.isTicker ||= places.isTicker === true
  }

  get isEmpty(): boolean {
    return !this.isTicker && this.keys.size + this.flows.size + this.lanes.size + this.queues.size === 0
  }
}

/** A lane in which as many stand by now as may: who claims one of them looks at it. */
const isFilled = (hall: HallSeen, { admitted }: LetIn, place: Place): boolean =>
  numbersAt('lane', place).some((lane) => {
    const entered = admitted.filter(({ flow }) => hall.flow(flow).lane === String(lane))
    return hall.standing(String(lane)) + entered.length >= hall.window
  })

/** There may be more that has come or is due than one look brings. */
const isCutOff = ({ a, k, l, f }: Seen): boolean => [a, k, l, f].some(({ length }) => length >= MOST)

const isNothing = ({ a, k, l, q, f }: Seen): boolean => a.length + k.length + l.length + q.length + f.length === 0

/** The numbers in an array as the database writes it. */
export const listOf = (array: string): readonly number[] => JSON.parse(`[${array.slice(1, -1)}]`) as number[]
