/**
 * Rounds of letting in: look, let core judge, apply. Nobody else waits between the look and its application; another round that has let in
 * meanwhile, or a commit that changed a gate, has raised the versions that are compared then, and the round begins again.
 *
 *   idle     nobody has anything to look at.
 *   looking  a round is under way. What comes meanwhile is looked at by the next one, in one look.
 *
 * Nothing depends on a round: what there is to look at is written down by the script that it comes from, and stays there until a round has
 * seen it. So a round that fails is passed over, and the ticker, of whichever process, comes to it within a second.
 */
import { letIn } from '../../../core/flow/let-in.ts'
import type { Log } from '../../../system/log.ts'
import type { Random } from '../../../system/random.ts'
import type { Calls } from '../connection/calls.ts'
import { HallSeen } from './hall-seen.ts'
import { lettingPlan, planWords, taking, takingPlan } from './plan.ts'

export interface RoundParts {
  readonly calls: Calls
  readonly random: Random
  readonly log: Log | undefined
}

/** Rounds for one asking. What is left then is written down, and the ticker's. */
const ROUNDS = 20

export class Rounds {
  readonly #parts: RoundParts
  /** How the next look is to be; undefined: nobody has asked for one. */
  #next: { isTicker: boolean } | undefined
  #underWay: Promise<boolean> = Promise.resolve(false)

  constructor(parts: RoundParts) {
    this.#parts = parts
  }

  /** Looks at whatever has come. Answers when that is done, also where it could not be done: the ticker comes to it. */
  look(): Promise<boolean> {
    return this.#soon(false)
  }

  /** Looks at whatever has come or is due. Answers whether there is more of it. */
  tick(): Promise<boolean> {
    return this.#soon(true)
  }

  async close(): Promise<void> {
    await this.#underWay
  }

  #soon(isTicker: boolean): Promise<boolean> {
    if (this.#next === undefined) {
      this.#next = { isTicker }
      this.#underWay = this.#underWay.then(() => {
        const { isTicker: due } = this.#next ?? { isTicker }
        this.#next = undefined
        return this.#rounds(due).catch((error) => this.#failed(error))
      })
    }
    this.#next.isTicker ||= isTicker
    return this.#underWay
  }

  #failed(error: unknown): boolean {
    this.#parts.log?.warn('letting in has failed, and is tried again', { reason: String(error) })
    return false
  }

  /** Whether something is left to look at. */
  async #rounds(isTicker: boolean): Promise<boolean> {
    let more = true
    for (let n = 0; n < ROUNDS && more; n += 1) more = await this.#parts.calls.repeated(() => this.#round(isTicker))
    return more
  }

  /** Whether to look again. */
  async #round(isTicker: boolean): Promise<boolean> {
    const { calls, random } = this.#parts
    const spin = Number.parseInt(random.hex64().slice(-8), 16)
    const hall = new HallSeen(await calls.call('look', [isTicker ? '1' : '0', String(spin)]))
    if (hall.arrivals.length + hall.places.length + hall.arrived.length + hall.back.length === 0) return false
    const back = taking(hall)
    if (back.length > 0) {
      await calls.call('apply', planWords(hall, takingPlan(hall, back)))
      return true
    }
    const answer = letIn(hall, hall.places.toSorted(), hall.arrived, hall.now)
    const plan = lettingPlan(hall, answer)
    const [, applied] = await calls.call('apply', planWords(hall, plan))
    if (applied !== '1') return true
    const isMoved = plan.flows.some(({ name, waitsAt }) => waitsAt !== hall.flow(name).waitsAt)
    const isLeft = plan.again.length > 0 || plan.flows.some(({ nextAt }) => nextAt !== undefined && nextAt <= hall.now)
    // Only as long as it leads somewhere.
    return (isLeft && (answer.admitted.length > 0 || isMoved)) || hall.arrivals.length === MOST
  }
}

/** Arrivals that one look brings at most. */
const MOST = 100
