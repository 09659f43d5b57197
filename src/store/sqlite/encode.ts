/** From new jobs and changes of the port to rows. */
import { unreachable } from '../../core/assert.ts'
import { isMereRenewal } from '../../core/decide/heartbeat.ts'
import type { Event } from '../../core/event.ts'
import { flowNameOf, placeMoveOf, weighedBy } from '../../core/flow/membership.ts'
import { hash53 } from '../../core/hash.ts'
import { idNumber } from '../../core/id.ts'
import type { Job, Kind } from '../../core/job.ts'
import { askedOf } from '../../core/recast.ts'
import { judgeAt } from '../../core/timers.ts'
import { COMMAND_CODES, EVENT_CODES, STATE_CODES } from '../codec/codes.ts'
import { type EnqueuedEvent, encodeEnqueued } from '../codec/enqueued.ts'
import { baseOf, encodeEvents } from '../codec/events.ts'
import { logTells } from '../codec/log-tells.ts'
import { codeMark, correlationMark, marksAdded, marksOf } from '../codec/marks.ts'
import { encodeRecord } from '../codec/record.ts'
import { storable } from '../codec/text.ts'
import { Unstorable } from '../codec/unstorable.ts'
import type { Change, FlowKey, Key, KeyBirth, KeyMove, Mend, MoveChange, NewJob } from '../store.ts'
import type {
  ChangeRow,
  Facts,
  FlowRow,
  InsertMore,
  InsertRow,
  KeyMoveRow,
  KeyRow,
  KeyRowNext,
  KindRef,
  MendRow,
  MoveFlow,
  MoveMore,
  MoveRow,
  NewFlow,
  Place,
} from './rows.ts'

export type Reference = (kind: Kind) => KindRef

/** A new job as a row: places in the order of `NEW` (rows.ts). */
export function insertRow(item: NewJob, reference: Reference): InsertRow {
  const { job, event, input } = item
  const { spec } = job
  const head = encodeEnqueued(event as EnqueuedEvent) ?? null
  return [
    numberOf(job.id, 'job.id'),
    reference(spec.kind),
    event.at,
    job.priority,
    spec.correlationId === job.id ? null : hash53(correlationMark(spec.kind.tenant, spec.correlationId)),
    head,
    input === undefined ? null : storable(input),
    STATE_CODES[job.state],
    job.readyAt ?? null,
    job.nextTickAt ?? null,
    judgeAt(job) ?? null,
    insertMore(item),
  ]
}

function insertMore({ job, keys, flow: births }: NewJob): InsertMore | null {
  const { alias, kind } = job.spec
  const marks = marksOf(kind.tenant, job.spec)
  const careful = !isMereRenewal(job)
  const flow = newFlow(job, births)
  const needs = textOrNull(job.needs)
  const isPlain = keys.length === 0 && alias === undefined && marks.length === 0 && !careful && needs === null
  if (isPlain && flow === null) return null
  const aliases: KeyRow[] = alias === undefined ? [] : [['alias', storable(alias), null]]
  return {
    tenant: storable(kind.tenant),
    keys: [...aliases, ...keys.map(keyRow)],
    marks: marks.map(hash53),
    careful,
    needs,
    flow,
  }
}

function newFlow(job: Job, births: NewJob['flow']): NewFlow | null {
  const flow = flowRow(job)
  if (flow === null) return null
  return { flow, births: (births ?? []).map(birthRow) }
}

const birthRow = (birth: KeyBirth): NewFlow['births'][number] => [storable(birth.key), keyRowNext(birth)]

/** Null: the job waits in no flow. */
function flowRow(job: Job): FlowRow | null {
  const name = flowNameOf(job)
  const { flow } = job.spec
  if (name === undefined || flow === undefined) return null
  return [storable(name), flow.keys.map(storable), storable(weighedBy(flow) ?? '')]
}

const mendRow = ({ tenant, keys, jobs, held, spent, claims }: Mend): MendRow => ({
  tenant: storable(tenant),
  keys: keys.map(storable),
  jobs: jobs.flatMap((job) => {
    const flow = flowRow(job)
    return flow === null ? [] : [[numberOf(job.id, 'jobs'), flow, job.lease?.grantedAt ?? null] as const]
  }),
  held: held.flatMap((job) => flowRow(job)?.[0] ?? []),
  spent: spent.map(({ key, amount }) => [storable(key), amount]),
  claims: claims.map(({ key, at }) => [storable(key), at]),
})

const keyRowNext = ({
  gate,
  text,
  log,
}: Pick<FlowKey, 'gate' | 'text'> & { readonly log?: string | undefined }): KeyRowNext => [
  JSON.stringify(gate),
  gate.weight,
  storable(text),
  textOrNull(log),
]

const keyMoveRow = ({ key, rev, on, next }: KeyMove): KeyMoveRow => [
  storable(key),
  rev,
  typeof next === 'string' ? next : keyRowNext(next),
  on === undefined ? undefined : storable(on),
]

export const keyRow = ({ purpose, key, until }: Key): KeyRow => [purpose, storable(key), until ?? null]

export const textOrNull = (text: string | undefined): string | null => (text === undefined ? null : storable(text))

export function numberOf(id: string, field: string): number {
  const number = idNumber(id)
  if (number === undefined) throw new Unstorable(field, 'a job id is pj_ and a number in base 32')
  return number
}

export function changeRow(
  change: Exclude<Change, { kind: 'compact' }>,
  reference: Reference,
  inFull = false,
): ChangeRow {
  switch (change.kind) {
    case 'move':
      return moveRow(change, reference, inFull)
    case 'annotate': {
      const { jobId, generation, attempt, command } = change.annotation
      const text = JSON.stringify(change.annotation)
      return ['annotate', numberOf(jobId, 'annotation.jobId'), generation, attempt, COMMAND_CODES[command], text]
    }
    case 'purge': {
      const { id, rev, state } = change.before
      return ['purge', numberOf(id, 'before.id'), rev, STATE_CODES[state]]
    }
    case 'key':
      return ['key', storable(change.tenant), keyMoveRow(change.move)]
    case 'mend':
      return ['mend', mendRow(change)]
    default:
      return unreachable(change)
  }
}

/** A move as a row: places in the order of `MOVE` (rows.ts), then the facts. */
function moveRow(change: MoveChange, reference: Reference, inFull: boolean): MoveRow {
  const { before, after, events, bodies, notAfter } = change
  const isInLog = !inFull && logTells(before, after)
  const output = bodies.findLast(({ name }) => name === 'output')
  return [
    'move',
    numberOf(before.id, 'before.id'),
    before.rev,
    reference(askedOf(before).kind),
    place(before),
    STATE_CODES[before.state],
    before.priority,
    before.readyAt ?? null,
    notAfter ?? null,
    place(after),
    isInLog ? null : encodeRecord(after),
    encodeEvents(events, before.spec, baseOf(before), isInLog ? 'following' : 'alone'),
    output === undefined ? null : storable(output.text),
    moveMore(change, reference),
    STATE_CODES[after.state],
    after.rev,
    after.seq,
    after.generation,
    after.attempt,
    after.priority,
    after.readyAt ?? null,
    after.nextTickAt ?? null,
    judgeAt(after) ?? null,
    isMereRenewal(after) ? 0 : 1,
    codeOf(after),
    after.endedAt ?? null,
    after.lease?.fence ?? null,
    after.lease?.expiresAt ?? null,
    after.lease?.beats ?? 0,
    textOrNull(after.lease?.lastBeatId),
    textOrNull(after.owner?.workerId),
    place(after) === 'done' ? null : [...new Set(events.map(({ requestId }) => hash53(requestId)))],
    ...factsOf(events),
  ]
}

/** Data, not judgement: a record with a `readyAt` is claimable, one with a lease owned, one with an end over. */
export function place(job: Job): Place {
  if (job.lease !== undefined) return 'lease'
  if (job.readyAt !== undefined) return 'ready'
  return job.endedAt === undefined ? 'rest' : 'done'
}

function codeOf(job: Job): number | null {
  const code = (job.error ?? job.lastFailure)?.code
  return code === undefined ? null : hash53(codeMark(job.spec.kind.tenant, code))
}

export function factsOf(events: readonly Event[]): Facts {
  const facts: Facts = []
  for (const { rev, type, at } of events) facts.push(rev, EVENT_CODES[type], at)
  return facts
}

function moveMore(change: MoveChange, reference: Reference): MoveMore | null {
  const { before, after, events, bodies, give, take, spawn } = change
  const { correlationId, kind } = before.spec
  const others = bodies.filter(({ name }) => name !== 'output')
  const echoes = events.filter((event) => event.correlationId !== correlationId)
  const strips = change.strips === true
  const isSimple = others.length === 0 && !strips && give.length === 0 && take.length === 0 && echoes.length === 0
  const flow = moveFlow(change)
  const queueBefore = sentTo(before)
  const queue = sentTo(after)
  const marks = marksAdded(before, after).map(hash53)
  const isInPlace = after.needs === undefined && queueBefore === null && queue === null && marks.length === 0
  if (isSimple && spawn === undefined && isInPlace && flow === null) return null
  return {
    tenant: storable(kind.tenant),
    bodies: others.map(({ name, text }) => [storable(name), storable(text)]),
    strips,
    give: give.map(keyRow),
    take: take.map(keyRow),
    spawn: spawn === undefined ? null : insertRow(spawn, reference),
    spawnTenant: spawn === undefined ? '' : storable(spawn.job.spec.kind.tenant),
    echoes: echoes.map((event) => [hash53(correlationMark(kind.tenant, event.correlationId)), event.rev]),
    neededBefore: textOrNull(before.needs),
    needs: textOrNull(after.needs),
    queueBefore,
    queue,
    marks,
    flow,
  }
}

const sentTo = ({ recast }: Job): string | null => textOrNull(recast?.redirect?.queue)

function moveFlow({ before, after, flow: key, spent = [], births = [] }: MoveChange): MoveFlow | null {
  const flow = flowRow(after)
  if (flow === null) return null
  return {
    place: placeMoveOf(before, after),
    before: storable(flowNameOf(before) ?? ''),
    flow,
    key: key === undefined ? null : keyMoveRow(key),
    births: births.map(birthRow),
    spent: spent.map(({ amount, key: of }) => [amount, textOrNull(of)]),
  }
}
