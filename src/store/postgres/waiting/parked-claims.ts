/**
 * Claims of this process that are parked in the database, and what was given to them. The transaction that enqueues a job for one
 * of them claims it in its name and notifies our own channel; the claim's answer comes along where it fits.
 *
 *   asked   sent, not answered: it may be parked already, and what is heard of it is kept.
 *   parked  answered with nothing. It leaves by being given something, or by being asked again.
 *
 * Nothing depends on hearing: what was given is in the database, and asking again under the same request brings it.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Grant } from '../../store.ts'
import { headerOf } from '../claim/claim-answer.ts'
import type { Found } from '../claim/claims.ts'
import type { Row } from '../connection/client.ts'
import { keyText } from '../enqueue/new-row.ts'

export interface ParkedClaimsParts {
  readonly clock: Clock
  /** Answers with the latest that was seen: what is reckoned here may be behind it. */
  readonly sawClock: (now: number) => number
}

interface Place {
  readonly requestId: string
  readonly asked: Moment
  /** When the claim was answered with nothing; absent before. `now`: the store's clock then. */
  answered: (Moment & { readonly now: number }) | undefined
  /** The answer of `pawl.claim` that the enqueuing transaction notified, unless it was too long for that. */
  answer: Row | undefined
}

/** Two clocks, since one of them stands still while a machine sleeps, and the other may be set. */
interface Moment {
  readonly ms: number
  readonly wallMs: number
}

/**
 * A process whose question was answered slowly knows the store's clock too badly to tell when a lease ends, and so does
 * one that has slept; and what was given a while ago may be over. They ask. (The shortest lease is a second, its last
 * tenth is left alone.)
 */
const ANSWERED_WITHIN_MS = 50
const FRESH_MS = 200

export class ParkedClaims {
  readonly #parts: ParkedClaimsParts
  /** By request id, as the database writes it. */
  readonly #places = new Map<string, Place>()

  constructor(parts: ParkedClaimsParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#places.size
  }

  /** Whether it is parked, or may be. */
  has({ requestId }: Grant): boolean {
    return this.#places.has(keyText(requestId))
  }

  asked({ requestId }: Grant): void {
    const place = { requestId, asked: this.#moment(), answered: undefined, answer: undefined }
    this.#places.set(keyText(requestId), place)
  }

  /** The claim found nothing and is parked. `now`: the store's clock. */
  answered({ requestId }: Grant, now: number): void {
    const place = this.#places.get(keyText(requestId))
    if (place !== undefined) place.answered = { ...this.#moment(), now }
  }

  /** The claim is not parked any more. */
  forget({ requestId }: Grant): void {
    this.#places.delete(keyText(requestId))
  }

  /** The answer notified for this claim, once. Undefined: none came, or it is too old to be used without asking the store. */
  take(grant: Grant): Found | undefined {
    const place = this.#places.get(keyText(grant.requestId))
    if (place?.answered === undefined || place.answer === undefined) return undefined
    const { asked, answered, answer: row } = place
    const header = headerOf(row)
    const { ms, wallMs } = this.#moment()
    const now = Math.max(header.now, Math.floor(answered.now + ms - answered.ms))
    const isKnown =
      answered.ms - asked.ms <= ANSWERED_WITHIN_MS && Math.abs(wallMs - asked.wallMs - (ms - asked.ms)) < FRESH_MS
    if (!isKnown || now - header.now > FRESH_MS) return undefined
    this.forget(grant)
    return { header, row, now: this.#parts.sawClock(now) }
  }

  /** A notification on our own channel. Answers with the request of the claim that was given something, if it is here. */
  heard(payload: string): string | undefined {
    const [request, given] = JSON.parse(payload) as [string, Row?]
    const place = this.#places.get(request)
    if (place !== undefined) place.answer = given
    return place?.requestId
  }

  #moment(): Moment {
    const { clock } = this.#parts
    return { ms: clock.monotonicMs(), wallMs: clock.now() }
  }
}
