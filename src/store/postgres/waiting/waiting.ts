/**
 * How a claim waits for work in Postgres: in line at this process's desk, as in every store, where hints and its own
 * looks find what comes; and parked in the database besides, where the transaction that enqueues a job for it claims the job in its
 * name, in the very commit that makes it. So a job that comes alone is answered without anybody asking for it, and wakes
 * one worker among all that wait, in whatever process.
 *
 * Modes of a claim that waits:
 *   looking   a statement is under way which claims what there is and, where there is nothing, parks the claim; asked
 *             again, it first ends the parking, and brings what the claim was given meanwhile. Leaves with jobs or parked.
 *   parked    for until a little after its next look. It is looked for at once when something was given to it (our own
 *             channel says so, and mostly with what), when its queue is hinted at, and when its desk says that it is time: when the
 *             first job of its lanes can be claimed that is delayed, each of those who wait a little apart; and now and then.
 *   in line   not parked: through a pooler nobody could tell this process, or too much is parked already. As parked, but
 *             for being given something.
 *   leaving   its last look parks nothing: afterwards it is in nobody's way.
 *
 * Invariant: a claim is parked only while this process waits for it, or has failed to hear the answer and would ask again
 * under the same request. Exits: those of the desk. What a process is given that dies, or whose last look fails, waits
 * for its lease; one that has gone is given nothing, since the parked claim counts only while its connection listens.
 */
import type { Clock } from '../../../system/clock.ts'
import { fractionOf, type Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import type { ClaimAnswer, Grant, Hint, Lane } from '../../store.ts'
import { ClaimDesk, type Look } from '../../waiting/claim-desk.ts'
import type { ClaimHeader } from '../claim/claim-answer.ts'
import type { Claims, Park } from '../claim/claims.ts'
import { ParkedClaims } from './parked-claims.ts'

export interface WaitingParts {
  readonly claims: Pick<Claims, 'ask' | 'answer'>
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly sawClock: (now: number) => number
  /** The channel on which this process hears answers to its parked claims; while it is absent no claim is parked. */
  readonly ownChannel: () => string | undefined
  /** Called when an answer was notified and did not arrive. */
  readonly deaf: () => void
  readonly subscribe: (wake: (hint: Hint) => void) => Promise<AsyncDisposable>
}

/** Every enqueue looks through the parked claims: so many of one process, and none with more lanes than this. */
const PARKED_CLAIMS_MAX = 16
const LANES_MAX = 500
/** Parked for this much longer than until the next look: the process may be late. */
const SLACK_MS = 250
const POLL_MS = 1_000
/**
 * A claim that is parked is told of all that comes, and knows when the next delay is over. What is left is a hint that was lost,
 * with the process that had it, or on the way: for that it looks so many times less often. (A hundred workers with nothing to do asked a hundred times a second.)
 */
const PARKED_POLLS = 5
/** A notification that has not arrived after this long never will. */
const HEARD_WITHIN_MS = 500

export class Waiting {
  readonly #parts: WaitingParts
  readonly #desk: ClaimDesk
  readonly #parked: ParkedClaims

  constructor(parts: WaitingParts) {
    this.#parts = parts
    this.#parked = new ParkedClaims(parts)
    this.#desk = new ClaimDesk({ ...parts, look: (grant, lanes, last) => this.#look(grant, lanes, last) })
  }

  claim(grant: Grant): Promise<ClaimAnswer> {
    return this.#desk.claim(grant)
  }

  /** A notification on our own channel. */
  heard(payload: string): void {
    const requestId = this.#parked.heard(payload)
    if (requestId !== undefined) void this.#desk.lookFor(requestId)
  }

  close(): Promise<void> {
    return this.#desk.close()
  }

  async #look(grant: Grant, lanes: readonly Lane[], last: boolean): Promise<Look> {
    const { claims, deaf } = this.#parts
    const answer = this.#parked.take(grant)
    if (answer !== undefined) return claims.answer(grant, answer, true)
    const isParked = this.#parked.has(grant)
    const park = last ? undefined : this.#park(grant)
    if (park !== undefined) this.#parked.asked(grant)
    // A claim is parked for the lanes it asks for: so it asks for all of them.
    const found = await claims.ask(grant, park === undefined ? lanes : grant.lanes, { isParked, park })
    const { header } = found
    if (isParked && header.isRepeat && found.now - header.at > HEARD_WITHIN_MS) deaf()
    if (header.isParked) this.#parked.answered(grant, found.now)
    else this.#parked.forget(grant)
    return { ...(await claims.answer(grant, found, isParked)), idleMs: this.#idleMs(grant, header) }
  }

  /** Up to one poll after the delay is over, as if it had polled: of many who wait for one job, most need not ask. */
  #idleMs({ pollMs = POLL_MS }: Grant, { isParked, nextReadyAt, now }: ClaimHeader): number | undefined {
    if (!isParked) return undefined
    const mostMs = pollMs * PARKED_POLLS
    if (nextReadyAt === undefined) return mostMs
    return Math.min(mostMs, nextReadyAt - now + pollMs * fractionOf(this.#parts.random))
  }

  #park(grant: Grant): Park | undefined {
    const hasPlace = this.#parked.has(grant) || this.#parked.size < PARKED_CLAIMS_MAX
    const channel = hasPlace && grant.lanes.length <= LANES_MAX ? this.#parts.ownChannel() : undefined
    return channel === undefined ? undefined : { channel, ms: (grant.pollMs ?? POLL_MS) * PARKED_POLLS + SLACK_MS }
  }
}
