/**
 * The changes of a call as rows. Ends of leases that are alike, which is what a busy store mostly hears of, are one row
 * together: what they share is encoded, sent and written once.
 */
import { EVENT_CODES, STATE_CODES } from '../codec/codes.ts'
import { encodeEvents, standing } from '../codec/events.ts'
import { logTells } from '../codec/log-tells.ts'
import type { Change } from '../store.ts'
import { changeRow, type Move, numberOf, type Reference, textOrNull } from './encode.ts'
import { type ChangeRow, type EndsRow, INLINE, type OwnOutputs } from './rows.ts'

/** A row, and the places of the changes it stands for. */
export interface PlacedRow {
  readonly row: ChangeRow
  readonly places: readonly number[]
}

/** Fewer are not worth it. */
const AT_LEAST = 4

export class ChangeRows {
  readonly placed: PlacedRow[] = []
  readonly #reference: Reference
  /** Alike, in the order they came. */
  readonly #moves: Move[] = []
  readonly #ids: number[] = []
  readonly #places: number[] = []
  readonly #outputs: (string | null)[] = []
  readonly #sizes: (string | null)[] = []
  /** As the last of them has it, and as all of them do. */
  #ownLog = ''
  #log = ''
  #size: string | null = null

  constructor(reference: Reference) {
    this.#reference = reference
  }

  /** Throws `Unstorable`. */
  add(change: Exclude<Change, { kind: 'compact' }>, place: number): void {
    if (change.kind !== 'move' || !isPlainEnd(change)) {
      this.put(changeRow(change, this.#reference), place)
      return
    }
    const id = numberOf(change.before.id, 'before.id')
    const log = encodeEvents(change.events, change.before.spec, standing(change.before), 'following')
    const { shared, size } = log === this.#ownLog ? { shared: this.#log, size: this.#size } : withoutSize(log)
    const last = this.#moves.at(-1)
    if (last === undefined || shared !== this.#log || !isAlike(last, change)) this.close()
    this.#ownLog = log
    this.#log = shared
    this.#size = size
    this.#outputs.push(textOrNull(change.bodies[0]?.text))
    this.#sizes.push(size)
    this.#moves.push(change)
    this.#ids.push(id)
    this.#places.push(place)
  }

  put(row: ChangeRow, place: number): void {
    this.close()
    this.placed.push({ row, places: [place] })
  }

  /** What was alike so far is all there is of it. */
  close(): void {
    if (this.#moves.length === 0) return
    const moves = this.#moves.splice(0)
    const ids = this.#ids.splice(0)
    const places = this.#places.splice(0)
    const own = { outputs: this.#outputs.splice(0), sizes: this.#sizes.splice(0) }
    if (moves.length >= AT_LEAST && isAscending(ids)) {
      this.placed.push({ row: this.#endsRow(moves[0] as Move, ids, own), places })
      return
    }
    for (const [i, move] of moves.entries()) {
      this.placed.push({ row: changeRow(move, this.#reference), places: [places[i] as number] })
    }
  }

  #endsRow({ before, after, events, notAfter }: Move, ids: readonly number[], own: OwnOutputs): EndsRow {
    const { outputs, sizes } = own
    const [output = null] = outputs
    const isOne = output === null || output.length <= INLINE
    const areSame = isOne && outputs.every((each) => each === output) && sizes.every((each) => each === sizes[0])
    const facts: (number | string)[] = []
    for (const { rev, type, at } of events) facts.push(rev, EVENT_CODES[type], at)
    return [
      'ends',
      ids.length,
      ids.join(),
      this.#reference(before.spec.kind),
      before.rev,
      before.lease?.fence ?? '',
      STATE_CODES[before.state],
      notAfter ?? null,
      after.rev,
      STATE_CODES[after.state],
      after.endedAt ?? 0,
      areSame ? this.#ownLog : this.#log,
      areSame ? output : null,
      areSame ? null : own,
      ...facts,
    ]
  }
}

/** Nothing but the job itself is touched, and the log says all there is to say about it. */
function isPlainEnd({ before, after, events, bodies, give, take, spawn }: Move): boolean {
  const body = bodies[0]
  return (
    before.lease !== undefined &&
    logTells(before, after) &&
    give.length === 0 &&
    take.length === 0 &&
    spawn === undefined &&
    (body === undefined || (bodies.length === 1 && body.name === 'output')) &&
    after.error === undefined &&
    after.lastFailure === undefined &&
    events.every(({ correlationId }) => correlationId === before.spec.correlationId)
  )
}

/** What `encodeEvents` makes of the usual end. What it says of the output is the one thing in it that is a job's own. */
const USUAL = /^(\[0,\["s",\d+,"o"\],\["S",\d+,null,\[\["output",)(\d+(?:,"[0-9a-z]+")?)(\],\d+\]\]\])$/

/** A log that is not the usual one is shared as it is, by those who have the same. */
function withoutSize(log: string): { shared: string; size: string | null } {
  const usual = USUAL.exec(log)
  return usual === null ? { shared: log, size: null } : { shared: `${usual[1]}0${usual[3]}`, size: usual[2] ?? null }
}

/** With the log, which says when, and the fence, which says under which claim. */
const isAlike = (a: Move, b: Move): boolean =>
  a.notAfter === b.notAfter &&
  a.after.endedAt === b.after.endedAt &&
  a.after.rev === b.after.rev &&
  a.after.state === b.after.state &&
  a.before.rev === b.before.rev &&
  a.before.state === b.before.state &&
  a.before.updatedAt === b.before.updatedAt &&
  a.before.spec.kind === b.before.spec.kind &&
  a.before.lease?.fence === b.before.lease?.fence

/** As claims are: then none of them occurs twice. */
const isAscending = (ids: readonly number[]): boolean => ids.every((id, i) => i === 0 || id > (ids[i - 1] as number))
