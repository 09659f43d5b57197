/**
 * Claims of this process that found nothing and stand in the store. Whoever enqueues something for one of them answers
 * it in the same commit and says so on a channel of ours; what was given comes along where it fits, so that asking again
 * under the same request finds it here, without a trip.
 *
 *   asked     sent, not answered: it may stand already, and what is said about it is kept.
 *   standing  Asking again ends it, and so does being given something.
 *
 * Nothing depends on hearing: the claim is in the store, and asking for it under its request brings it.
 */
import type { Clock } from '../../system/clock.ts'
import type { Grant, Lane } from '../store.ts'
import { CREATED_AT } from './claim-rows.ts'
import type { Row } from './client.ts'
import { keyText } from './new-row.ts'

export interface StandingParts {
  readonly clock: Clock
  /** Something was given to a claim of ours on this queue, among others. */
  readonly tell: (queue: Pick<Lane, 'tenant' | 'queue'>) => void
  /** Answers with the latest that was seen: what is reckoned here may be behind it. */
  readonly sawClock: (now: number) => number
}

/** An answer, header first, and the store's clock now. */
export interface Given {
  readonly rows: readonly Row[]
  readonly now: number
  /** It stood, or may have, when it was last asked: what was given to it meanwhile nobody has seen. */
  readonly stood: boolean
}

interface Stand {
  readonly grant: Grant
  readonly asked: Moment
  /** Absent while asked. `now`: the store's clock then. */
  answered: (Moment & { readonly now: number }) | undefined
  /** Empty: it was too long to be told. */
  given: readonly Row[] | undefined
}

/** Two clocks, since one of them stands still while a machine sleeps, and the other may be set. */
interface Moment {
  readonly ms: number
  readonly wallMs: number
}

/**
 * Who was answered slowly knows the store's clock too badly to tell when a lease ends, and so does who has slept; and
 * what was given a while ago may be over. They ask. (The shortest lease is a second, its last tenth is left alone.)
 */
const ANSWERED_WITHIN_MS = 50
const FRESH_MS = 200

export class Standing {
  readonly #parts: StandingParts
  readonly #stands = new Map<string, Stand>()

  constructor(parts: StandingParts) {
    this.#parts = parts
  }

  /** It stands, or may. */
  has({ requestId }: Grant): boolean {
    return this.#stands.has(keyText(requestId))
  }

  asked(grant: Grant): void {
    this.#stands.set(keyText(grant.requestId), { grant, asked: this.#moment(), answered: undefined, given: undefined })
  }

  answered({ requestId }: Grant, now: number): void {
    const stand = this.#stands.get(keyText(requestId))
    if (stand !== undefined) stand.answered = { ...this.#moment(), now }
  }

  forget({ requestId }: Grant): void {
    this.#stands.delete(keyText(requestId))
  }

  /** It stands no more: somebody gave it something. */
  isGiven({ requestId }: Grant): boolean {
    return this.#stands.get(keyText(requestId))?.given !== undefined
  }

  /** What was given to it, once. Undefined: nothing that can be used as it is. */
  take(grant: Grant): Given | undefined {
    const stand = this.#stands.get(keyText(grant.requestId))
    if (stand?.answered === undefined || stand.given === undefined || stand.given.length === 0) return undefined
    const { asked, answered, given } = stand
    const { ms, wallMs } = this.#moment()
    const givenAt = Number(given[0]?.[CREATED_AT])
    const now = Math.max(givenAt, Math.floor(answered.now + ms - answered.ms))
    const isKnown =
      answered.ms - asked.ms <= ANSWERED_WITHIN_MS && Math.abs(wallMs - asked.wallMs - (ms - asked.ms)) < FRESH_MS
    if (!isKnown || now - givenAt > FRESH_MS) return undefined
    this.forget(grant)
    return { rows: given, now: this.#parts.sawClock(now), stood: true }
  }

  /** Words on our own channel. */
  heard(payload: string): void {
    const [request, given = []] = JSON.parse(payload) as [string, (readonly Row[])?]
    const stand = this.#stands.get(request)
    if (stand === undefined) return
    stand.given = given
    const [lane] = stand.grant.lanes
    // While it is asked, the answer will find it.
    if (stand.answered !== undefined && lane !== undefined) this.#parts.tell(lane)
  }

  #moment(): Moment {
    const { clock } = this.#parts
    return { ms: clock.monotonicMs(), wallMs: clock.now() }
  }
}
