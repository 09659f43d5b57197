/** Payloads of events as lists, one shape per type. `enqueued` has a home of its own (`enqueued.ts`). */
import { unreachable } from '../../core/assert.ts'
import type { Spend } from '../../core/command.ts'
import type { Event, EventType, ObservationPayloads, TransitionPayloads } from '../../core/event.ts'
import {
  list,
  maybeNumber,
  maybeText,
  number,
  numbers,
  type Packed,
  packNumbers,
  text,
  texts,
  trimmed,
  zero,
} from './packed.ts'
import {
  maybeBody,
  maybeNote,
  maybeProgress,
  maybeTerms,
  packApproval,
  packBody,
  packCancel,
  packDeadLetter,
  packEnding,
  packFailure,
  packNewer,
  packNote,
  packProgress,
  packResult,
  packSignal,
  packTerms,
  packVerdict,
  packWait,
  unpackApproval,
  unpackBody,
  unpackCancel,
  unpackDeadLetter,
  unpackEnding,
  unpackFailure,
  unpackNewer,
  unpackResult,
  unpackSignal,
  unpackVerdict,
  unpackWait,
} from './parts.ts'
import { maybeRecast, packRecast } from './recast.ts'

const NOT_HERE = 'pawl: the first event is kept as the job itself'

export function packPayload(event: Event): Packed {
  const packed = pack(event)
  return packed.length === 0 ? undefined : packed
}

function pack(event: Event): readonly Packed[] {
  switch (event.type) {
    case 'enqueued':
      throw new Error(NOT_HERE)
    case 'admitted':
      return packAdmitted(event.payload)
    case 'denied':
      return [packVerdict(event.payload.verdict)]
    case 'claimed':
      return [event.payload.owner.workerId, event.payload.fence, event.payload.leaseExpiresAt]
    case 'started':
    case 'parked':
    case 'compensated':
    case 'stripped':
      return []
    case 'waiting':
      return [packWait(event.payload.wait), zero(event.payload.executionMs)]
    case 'signalled':
      return [packSignal(event.payload.signal), event.payload.stored, event.payload.memo]
    case 'wait_timed_out':
      return [event.payload.memo]
    case 'released':
      return trimmed([event.payload.runAt, zero(event.payload.executionMs), event.payload.needs])
    case 'retry_scheduled':
      return [packFailure(event.payload.failure), event.payload.runAt, zero(event.payload.executionMs)]
    case 'stalled':
      return trimmed([event.payload.leaseExpiresAt, event.payload.needs])
    case 'requeued':
      return [event.payload.runAt]
    case 'cancelled':
      return trimmed([
        packCancel(event.payload.cancel),
        zero(event.payload.executionMs),
        event.payload.failure && packFailure(event.payload.failure),
      ])
    case 'succeeded':
      return trimmed([
        packResult(event.payload.result),
        zero(event.payload.executionMs),
        event.payload.stats && packNumbers(event.payload.stats),
      ])
    case 'failed':
    case 'timed_out':
      return [packFailure(event.payload.failure), zero(event.payload.executionMs)]
    case 'dead_lettered':
      return packDead(event.payload)
    case 'compensating':
      return [
        packEnding(event.payload.intended),
        event.payload.deadlineAt,
        event.payload.runAt,
        zero(event.payload.executionMs),
      ]
    case 'reopened':
      return trimmed([event.payload.runAt, event.payload.deadlineAt, event.payload.startBy])
    case 'heartbeat':
      return [
        event.payload.leaseExpiresAt,
        event.payload.count,
        event.payload.firstAt,
        event.payload.cancelDelivered ? 1 : 0,
      ]
    case 'progressed':
      return trimmed([
        event.payload.progress && packProgress(event.payload.progress),
        event.payload.counters && packNumbers(event.payload.counters),
      ])
    case 'checkpointed':
      return [packBody(event.payload.body)]
    case 'recorded':
      return packRecorded(event.payload)
    case 'signal_stored':
      return [packSignal(event.payload.signal)]
    case 'cancel_requested':
      return [packCancel(event.payload.cancel)]
    case 'approval_asked':
      return packApproval({ ...event.payload.approval, given: undefined })
    case 'approved':
      return trimmed([event.payload.reason])
    case 'rescheduled':
      return [event.payload.runAt, event.payload.priority]
    case 'replaced':
      return trimmed([packNewer(event.payload.newer), event.payload.runAt])
    case 'compacted':
      return [
        event.payload.count,
        packNumbers(event.payload.counters),
        event.payload.progress && packProgress(event.payload.progress),
        event.payload.checkpoint && packBody(event.payload.checkpoint),
        event.payload.steps,
        event.payload.artifacts,
        event.payload.compensations,
        event.payload.observations,
        event.payload.bodySize,
      ]
    default:
      return unreachable(event)
  }
}

const packDead = ({
  failure,
  executionMs,
  deadLetter,
}: Extract<Event, { type: 'dead_lettered' }>['payload']): readonly Packed[] => [
  packFailure(failure),
  zero(executionMs),
  packDeadLetter(deadLetter),
]

const packRecorded = ({
  step,
  undone,
  artifact,
  note,
  spend,
}: Extract<Event, { type: 'recorded' }>['payload']): readonly Packed[] =>
  trimmed([
    step && [step.name, step.compensate, step.body && packBody(step.body)],
    undone,
    artifact && [artifact.name, artifact.ptr],
    note && packNote(note),
    spend && trimmed([zero(spend.amount), spend.key]),
  ])

const NONE: readonly Packed[] = []

export function unpackPayload(type: EventType, packed: Packed): Event['payload'] {
  return unpack(type, packed == null ? NONE : list(packed))
}

function unpack(type: EventType, p: readonly Packed[]): Event['payload'] {
  switch (type) {
    case 'enqueued':
      throw new Error(NOT_HERE)
    case 'admitted':
      return unpackAdmitted(p)
    case 'approval_asked':
      return unpackAsked(p)
    case 'approved':
      return { reason: maybeText(p[0]) }
    case 'denied':
      return { verdict: unpackVerdict(p[0]) }
    case 'claimed':
      return { owner: { workerId: text(p[0]) }, fence: text(p[1]), leaseExpiresAt: number(p[2]) }
    case 'started':
    case 'parked':
    case 'compensated':
    case 'stripped':
      return {}
    case 'waiting':
      return { wait: unpackWait(p[0]), executionMs: number(p[1]) }
    case 'signalled':
      return { signal: unpackSignal(p[0]), stored: p[1] === true, memo: text(p[2]) }
    case 'wait_timed_out':
      return { memo: text(p[0]) }
    case 'released':
      return { runAt: number(p[0]), executionMs: number(p[1]), needs: maybeText(p[2]) }
    case 'retry_scheduled':
      return { failure: unpackFailure(p[0]), runAt: number(p[1]), executionMs: number(p[2]) }
    case 'stalled':
      return { leaseExpiresAt: number(p[0]), needs: maybeText(p[1]) }
    case 'requeued':
      return { runAt: number(p[0]) }
    case 'cancelled':
      return {
        cancel: unpackCancel(p[0]),
        executionMs: number(p[1]),
        failure: p[2] == null ? undefined : unpackFailure(p[2]),
      }
    case 'succeeded':
      return { result: unpackResult(p[0]), stats: p[2] == null ? undefined : numbers(p[2]), executionMs: number(p[1]) }
    case 'failed':
    case 'timed_out':
      return { failure: unpackFailure(p[0]), executionMs: number(p[1]) }
    case 'dead_lettered':
      return { failure: unpackFailure(p[0]), deadLetter: unpackDeadLetter(p[2]), executionMs: number(p[1]) }
    case 'compensating':
      return { intended: unpackEnding(p[0]), deadlineAt: number(p[1]), runAt: number(p[2]), executionMs: number(p[3]) }
    case 'reopened':
      return { runAt: number(p[0]), deadlineAt: maybeNumber(p[1]), startBy: maybeNumber(p[2]) }
    case 'heartbeat':
      return unpackBeat(p)
    case 'progressed':
      return { progress: maybeProgress(p[0]), counters: p[1] == null ? undefined : numbers(p[1]) }
    case 'checkpointed':
      return { body: unpackBody(p[0]) }
    case 'recorded':
      return unpackRecorded(p)
    case 'signal_stored':
      return { signal: unpackSignal(p[0]) }
    case 'cancel_requested':
      return { cancel: unpackCancel(p[0]) }
    case 'rescheduled':
      return { runAt: number(p[0]), priority: number(p[1]) }
    case 'replaced':
      return { newer: unpackNewer(p[0]), runAt: maybeNumber(p[1]) }
    case 'compacted':
      return unpackCompacted(p)
    default:
      return unreachable(type)
  }
}

function unpackRecorded(p: readonly Packed[]): Extract<Event, { type: 'recorded' }>['payload'] {
  const step = p[0] == null ? undefined : list(p[0])
  const artifact = p[2] == null ? undefined : list(p[2])
  return {
    step: step && { name: text(step[0]), body: maybeBody(step[2]), compensate: step[1] === true },
    undone: maybeText(p[1]),
    artifact: artifact && { name: text(artifact[0]), ptr: text(artifact[1]) },
    note: maybeNote(p[3]),
    spend: p[4] == null ? undefined : unpackSpend(list(p[4])),
  }
}

const unpackSpend = ([amount, key]: readonly Packed[]): Spend => ({ amount: number(amount), key: maybeText(key) })

const unpackCompacted = (p: readonly Packed[]): Extract<Event, { type: 'compacted' }>['payload'] => ({
  count: number(p[0]),
  counters: numbers(p[1]),
  progress: maybeProgress(p[2]),
  checkpoint: maybeBody(p[3]),
  steps: number(p[4]),
  artifacts: texts(p[5]),
  compensations: list(p[6]).map(text),
  observations: maybeNumber(p[7]) ?? number(p[0]),
  bodySize: maybeNumber(p[8]) ?? 0,
})

type Admitted = TransitionPayloads['admitted']

const packAdmitted = ({ verdict, runAt, startBy, needs, terms, recast }: Admitted): readonly Packed[] =>
  trimmed([packVerdict(verdict), runAt, startBy, needs, terms && packTerms(terms), recast && packRecast(recast)])

const unpackAdmitted = ([verdict, runAt, startBy, needs, terms, recast]: readonly Packed[]): Admitted => ({
  verdict: unpackVerdict(verdict),
  runAt: number(runAt),
  startBy: maybeNumber(startBy),
  needs: maybeText(needs),
  terms: maybeTerms(terms),
  recast: maybeRecast(recast),
})

function unpackAsked(packed: readonly Packed[]): ObservationPayloads['approval_asked'] {
  const { given: _, ...approval } = unpackApproval(packed)
  return { approval }
}

const unpackBeat = ([
  leaseExpiresAt,
  count,
  firstAt,
  delivered,
]: readonly Packed[]): ObservationPayloads['heartbeat'] => ({
  leaseExpiresAt: number(leaseExpiresAt),
  count: number(count),
  firstAt: number(firstAt),
  cancelDelivered: delivered === 1,
})
