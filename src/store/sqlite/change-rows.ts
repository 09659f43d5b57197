/**
 * The changes of a call as rows. Ends of leases that follow each other and are alike, which is what a busy store mostly hears
 * of, are one row together: what they share is encoded, sent and written once. What they returned may differ. Every other change
 * is a row of its own.
 */
import type { Event } from '../../core/event.ts'
import { askedOf } from '../../core/recast.ts'
import { STATE_CODES } from '../codec/codes.ts'
import { baseOf, encodeEvents } from '../codec/events.ts'
import { logTells } from '../codec/log-tells.ts'
import type { Change, MoveChange } from '../store.ts'
import { changeRow, factsOf, numberOf, type Reference, textOrNull } from './encode.ts'
import { type ChangeRow, type EndsRow, INLINE, type OwnTexts } from './rows.ts'

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
  readonly #moves: MoveChange[] = []
  readonly #ids: number[] = []
  readonly #places: number[] = []
  readonly #logs: string[] = []
  readonly #outputs: (string | null)[] = []

  constructor(reference: Reference) {
    this.#reference = reference
  }

  /** Throws `Unstorable`. */
  add(change: Exclude<Change, { kind: 'compact' }>, place: number): void {
    if (change.kind !== 'move' || !isSettlement(change)) {
      this.put(changeRow(change, this.#reference), place)
      return
    }
    const id = numberOf(change.before.id, 'before.id')
    const log = encodeEvents(change.events, change.before.spec, baseOf(change.before), 'following')
    const output = textOrNull(change.bodies[0]?.text)
    const last = this.#moves.at(-1)
    // Another output makes another log. Other logs of the same output are ends of their own: shared by those behind them, that is cheaper.
    const tellsTheSame =
      log === this.#logs.at(-1) ||
      (last !== undefined && output !== this.#outputs.at(-1) && sameFacts(last.events, change.events))
    if (last === undefined || !tellsTheSame || !isAlike(last, change)) this.close()
    this.#moves.push(change)
    this.#ids.push(id)
    this.#places.push(place)
    this.#logs.push(log)
    this.#outputs.push(output)
  }

  put(row: ChangeRow, place: number): void {
    this.close()
    this.placed.push({ row, places: [place] })
  }

  /** Ends the run of settlements that are alike, as one row. */
  close(): void {
    if (this.#moves.length === 0) return
    const moves = this.#moves.splice(0)
    const ids = this.#ids.splice(0)
    const places = this.#places.splice(0)
    const own = { logs: this.#logs.splice(0), outputs: this.#outputs.splice(0) }
    if (moves.length >= AT_LEAST && isAscending(ids)) {
      const isLimited = moves.some(({ before }) => before.spec.flow !== undefined)
      this.placed.push({ row: this.#endsRow(moves[0] as MoveChange, ids, own, isLimited), places })
      return
    }
    for (const [i, move] of moves.entries()) {
      this.placed.push({ row: changeRow(move, this.#reference), places: [places[i] as number] })
    }
  }

  /** A run as one row: places in the order of `ENDS` (rows.ts), then the facts. */
  #endsRow(
    { before, after, events, notAfter }: MoveChange,
    ids: readonly number[],
    own: OwnTexts,
    isLimited: boolean,
  ): EndsRow {
    const [log = ''] = own.logs
    const [output = null] = own.outputs
    const areSame = own.logs.every((each) => each === log) && own.outputs.every((each) => each === output)
    return [
      'ends',
      ids.length,
      ids.join(),
      this.#reference(askedOf(before).kind),
      before.rev,
      before.lease?.fence ?? '',
      STATE_CODES[before.state],
      notAfter ?? null,
      after.rev,
      STATE_CODES[after.state],
      after.endedAt ?? 0,
      isLimited,
      log,
      output,
      areSame ? null : own,
      ...factsOf(events),
    ]
  }
}

/** The end of an owned job that touches nothing else and whose log tells its record: ends like this are written in bulk. */
function isSettlement({ before, after, events, bodies, give, take, spawn, flow, spent }: MoveChange): boolean {
  const body = bodies[0]
  return (
    before.lease !== undefined &&
    logTells(before, after) &&
    give.length === 0 &&
    take.length === 0 &&
    spawn === undefined &&
    flow === undefined &&
    spent === undefined &&
    (body === undefined || (bodies.length === 1 && body.name === 'output' && body.text.length <= INLINE)) &&
    after.error === undefined &&
    after.lastFailure === undefined &&
    events.every(({ correlationId }) => correlationId === before.spec.correlationId)
  )
}

/** Types and times, one by one. */
const sameFacts = (a: readonly Event[], b: readonly Event[]): boolean =>
  a.length === b.length && a.every(({ type, at }, i) => type === b[i]?.type && at === b[i]?.at)

/** Two settlements may share a row: same kind, lease, revisions and times. Equal fences say that they are of one claim. */
const isAlike = (a: MoveChange, b: MoveChange): boolean =>
  a.notAfter === b.notAfter &&
  a.after.endedAt === b.after.endedAt &&
  a.after.rev === b.after.rev &&
  a.after.state === b.after.state &&
  a.before.rev === b.before.rev &&
  a.before.state === b.before.state &&
  a.before.updatedAt === b.before.updatedAt &&
  a.before.spec.kind === b.before.spec.kind &&
  a.before.lease?.fence === b.before.lease?.fence

/** Ids that ascend, as those of one claim do, are each there once. */
const isAscending = (ids: readonly number[]): boolean => ids.every((id, i) => i === 0 || id > (ids[i - 1] as number))
