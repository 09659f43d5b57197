/** A move as the JSON the database takes it in. The names are explained in `settle/settle_leases.sql` and `settle/move.sql`. */

import { assert } from '../../../core/assert.ts'
import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import type { Event } from '../../../core/event.ts'
import { nonceIn } from '../../../core/fence.ts'
import { digest } from '../../../core/hash.ts'
import { idNumber } from '../../../core/id.ts'
import { isTerminal, type Job } from '../../../core/job.ts'
import { askedOf } from '../../../core/recast.ts'
import { judgeAt, tickBesidesLease } from '../../../core/timers.ts'
import { EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { logTells } from '../../codec/log-tells.ts'
import { correlationMark, marksAdded } from '../../codec/marks.ts'
import { isPlainEnd } from '../../codec/plain-end.ts'
import { encodeRecord } from '../../codec/record.ts'
import { storable } from '../../codec/text.ts'
import type { Body, MoveChange } from '../../store.ts'
import { literal, uniform } from '../batch/uniform.ts'
import { type KeyedRow, keyRow, named } from '../enqueue/new-row.ts'
import { isAside, type Kinds, type NumberedKind } from '../names/kinds.ts'
import { placeOf, stepOf } from '../names/step.ts'
import { ASKED_FROM } from './asked-from.ts'

/** The end of an owned job; the first part of any move. */
export interface SettleRow {
  readonly i: number
  readonly r: number
  readonly n: number | undefined
  readonly v: number
  readonly s: number
  readonly a: number
  readonly z: string | undefined
  readonly e: string
  readonly p: 1 | undefined
  readonly d: string | undefined
  readonly o: string | undefined
  readonly c: number | undefined
}

/** An owned job ends, and nothing else is touched but its output: no slot either. */
export const isSettling = (change: MoveChange): boolean => change.before.spec.flow === undefined && isPlainly(change)

/** The same of a job with slots, which are free from then on: its key is only compared. */
export const isVacating = (change: MoveChange): boolean =>
  change.before.spec.flow !== undefined &&
  change.spent === undefined &&
  (change.flow === undefined || (change.flow.next === 'same' && change.flow.on === undefined)) &&
  isPlainly(change)

/**
 * One that ends without an owner must not be among them: `settle_leases` looks for leases and bundles only, and would answer
 * `conflict` each time.
 */
const isPlainly = ({ before, after, bodies, give, take, spawn, events }: MoveChange): boolean =>
  before.lease !== undefined &&
  isTerminal(after.state) &&
  give.length === 0 &&
  take.length === 0 &&
  spawn === undefined &&
  (bodies.length === 0 || (bodies.length === 1 && bodies[0]?.name === 'output')) &&
  events.every((event) => event.correlationId === before.spec.correlationId)

/**
 * An owned job goes back into its lane, and nothing else is touched but one body: what most attempts are that are tried again. Not if
 * its requests must be noted (`add_asked`), or its heartbeats are told of.
 */
export const isPutBack = ({ before, after, bodies, give, take, spawn, strips, events }: MoveChange): boolean =>
  before.lease !== undefined &&
  before.rev < ASKED_FROM &&
  before.spec.flow === undefined &&
  after.spec.flow === undefined &&
  after.lease === undefined &&
  after.readyAt !== undefined &&
  !isTerminal(after.state) &&
  !isAside(after) &&
  give.length === 0 &&
  take.length === 0 &&
  spawn === undefined &&
  strips !== true &&
  bodies.length < 2 &&
  !bodies.some(isOutput) &&
  judgeAt(after) === undefined &&
  events.every((event) => event.correlationId === before.spec.correlationId) &&
  marksAdded(before, after).length === 0

/** `bundle`: the claim it is from, where its jobs have no leases of their own. */
export function settleRow({ before, after, events, bodies, notAfter }: MoveChange, bundle?: number): SettleRow {
  const isInLog = logTells(before, after)
  const output = bodies.findLast(isOutput)
  return {
    i: idNumber(before.id) as number,
    r: before.rev,
    n: notAfter,
    v: after.rev,
    s: stepOf(after),
    a: after.updatedAt,
    z: isTerminal(after.state) ? STATE_CODES[after.state] : undefined,
    e: encodeEvents(events, before.spec, baseOf(before), isInLog ? 'following' : 'alone'),
    p: isPlainEnd(events) ? 1 : undefined,
    d: isInLog ? undefined : encodeRecord(after),
    o: output === undefined ? undefined : storable(output.text),
    c: bundle,
  }
}

/** Jobs that end alike, together: most of a batch do. */
function alike(rows: readonly SettleRow[]): readonly object[] {
  const groups: (Omit<SettleRow, 'i'> & { i: string })[] = []
  let ids = ''
  for (let n = 0; n < rows.length; n++) {
    const row = rows[n] as SettleRow
    const next = rows[n + 1]
    ids += ids === '' ? row.i : `,${row.i}`
    if (next !== undefined && isAlike(row, next)) continue
    groups.push({ ...row, i: `{${ids}}` })
    ids = ''
  }
  return groups
}

const isAlike = (a: SettleRow, b: SettleRow): boolean =>
  a.e === b.e &&
  a.c === b.c &&
  a.n === b.n &&
  a.a === b.a &&
  a.r === b.r &&
  a.v === b.v &&
  a.s === b.s &&
  a.z === b.z &&
  a.p === b.p &&
  a.d === b.d &&
  a.o === b.o

/** The parameters of `settle_leases` and of `settle_bundles`. */
export const settleValues = (changes: readonly MoveChange[], rows: readonly SettleRow[], kinds: Kinds): string[] => [
  JSON.stringify(alike(rows)),
  literal(rows.map(({ i }) => i)),
  literal(uniform(changes, ({ events }) => events[0]?.rev)),
  literal(uniform(changes, ({ before }) => kinds.of(askedOf(before).kind).id)),
  literal(uniform(changes, ({ before, events, after }) => shapeOf(before, events, after))),
]

/** `lane`: where it stands or is held afterwards, if it is ready; absent: where it was. `spawned`: its successor. */
export function moveRow(
  change: MoveChange,
  kind: NumberedKind,
  lane: number | undefined,
  spawned: KeyedRow | undefined,
) {
  const { before, after, events, bodies, give, take } = change
  const claim = events.find((event) => event.type === 'claimed')
  const others = lastOfEach(bodies.filter((body) => !isOutput(body)))
  const foreign = events.filter((event) => event.correlationId !== before.spec.correlationId)
  assert((change.spawn === undefined) === (spawned === undefined), 'a successor has a row')
  return {
    ...settleRow(change),
    q: placeOf(before),
    w: placeOf(after),
    f: events[0]?.rev,
    k: kind.id,
    h: shapeOf(before, events, after),
    tn: storable(before.spec.kind.tenant),
    ra: after.readyAt,
    l: lane,
    lw: kind.windowMs,
    t: tickBesidesLease(after),
    jd: judgeAt(after),
    x: after.lease?.expiresAt,
    ca: isMereRenewal(after) ? undefined : true,
    bi: after.lease?.lastBeatId === undefined ? undefined : storable(after.lease.lastBeatId),
    bn: after.lease?.beats,
    g: give.length === 0 ? undefined : give.map(keyRow),
    kt: take.length === 0 ? undefined : take.map(keyRow),
    sp: spawned,
    b: others.length === 0 ? undefined : others.map(bodyRow),
    st: change.strips,
    mk: marksRow(marksAdded(before, after)),
    u:
      foreign.length === 0
        ? undefined
        : foreign.map(({ correlationId, rev }) => ({
            c: digest(correlationMark(before.spec.kind.tenant, correlationId)),
            r: rev,
          })),
    rq: placeOf(after) === 'p' ? undefined : [...new Set(events.map(({ requestId }) => storable(requestId)))],
    c: claim === undefined ? undefined : claimStamp(claim, after),
  }
}

const marksRow = (marks: readonly string[]) => (marks.length === 0 ? undefined : [...new Set(marks.map(digest))])

/** State before, letters of the events, state after. */
export function shapeOf(before: Job, events: readonly Event[], after: Job): string {
  let shape = STATE_CODES[before.state]
  for (const event of events) shape += EVENT_CODES[event.type]
  return shape + STATE_CODES[after.state]
}

/** A heartbeat of a lease that was granted by a commit is checked against these like any other. */
function claimStamp(event: Event, after: Job) {
  const nonce = nonceIn(after.lease?.fence ?? '')
  return { w: storable(after.owner?.workerId ?? ''), a: storable(event.actor), n: nonce, t: event.at }
}

/** A body that one change writes twice has the last text: a statement can write each row once. */
const lastOfEach = (bodies: readonly Body[]): readonly Body[] =>
  bodies.length < 2 ? bodies : [...new Map(bodies.map((body) => [body.name, body])).values()]

const isOutput = ({ name }: Body): boolean => name === 'output'

const bodyRow = ({ name, text }: Body) => ({ ...named(name), t: storable(text) })
