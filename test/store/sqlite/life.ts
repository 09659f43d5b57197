/** The engine's loop at its smallest, for tests and for the processes they start: core decides, the store keeps. */
import { decide } from '../../../src/core/decide.ts'
import type { Event } from '../../../src/core/event.ts'
import { derive } from '../../../src/core/evolve.ts'
import { gateOf } from '../../../src/core/flow/gate.ts'
import { atRest, type Limit } from '../../../src/core/flow/key.ts'
import { idText } from '../../../src/core/id.ts'
import type { Job, JobId, Kind } from '../../../src/core/job.ts'
import { resolvePolicy } from '../../../src/core/resolve.ts'
import type { Change, ClaimAnswer, Grant, NewJob, Store } from '../../../src/store/store.ts'
import { realRandom } from '../../../src/system/random.ts'

const resolved = resolvePolicy({})
if (!resolved.ok) throw new Error('the default policy is a policy')
export const KIND: Kind = { tenant: 't', queue: 'q', type: 'noop', policy: resolved.policy }

export function newJob(number: number, now: number, input = `{"n":${number}}`): NewJob {
  const id = idText(number)
  const asked = { actor: 'producer', requestId: id, correlationId: id }
  const body = { name: 'input', size: input.length, digest: undefined }
  const decision = decide(undefined, { type: 'enqueue', id, kind: KIND, priority: 5, input: body, ...asked }, now)
  if (decision.kind !== 'accepted') throw new Error('refused')
  return { job: decision.job, event: decision.events[0] as Event, input, keys: [] }
}

/** With a key, of which so many may be taken. */
export function limitedJob(number: number, now: number, key: string, limit: Limit): NewJob {
  const id = idText(number)
  const flow = { keys: [key], fair: undefined }
  const asked = { actor: 'producer', requestId: id, correlationId: id, flow }
  const decision = decide(undefined, { type: 'enqueue', id, kind: KIND, priority: 5, ...asked }, now)
  if (decision.kind !== 'accepted') throw new Error('refused')
  const birth = { key, gate: gateOf(atRest(key), limit), text: '{}' }
  return { job: decision.job, event: decision.events[0] as Event, input: undefined, keys: [], flow: [birth] }
}

export const clockOf = async (store: Store): Promise<number> => (await store.load([])).now

export function grant(limit: number, requestId: string = realRandom.uuid()): Grant {
  const lanes = [{ tenant: 't', queue: 'q', priority: 5 }]
  const nonce = realRandom.hex64()
  return { requestId, workerId: 'w', actor: 'worker:w', nonce, lanes, limit, maxInputBytes: 1 << 20 }
}

/** The records a claim has made. */
export function owned({ jobs }: ClaimAnswer, { nonce, requestId }: Grant): Job[] {
  return jobs.map(({ before, at }) => {
    const claim = { type: 'claim', actor: 'worker:w', requestId, workerId: 'w', nonce } as const
    return accepted(before, claim, at).after
  })
}

const NOTHING = { bodies: [], give: [], take: [], spawn: undefined, notAfter: undefined } as const

type Move = Extract<Change, { kind: 'move' }>

export function completed(before: Job, now: number): Move {
  const fence = before.lease?.fence ?? ''
  const command = { type: 'complete', actor: 'worker:w', requestId: `${fence}/complete`, fence } as const
  return { ...accepted(before, command, now), notAfter: before.lease?.expiresAt }
}

export const cancelled = (before: Job, now: number, requestId: string = realRandom.uuid()): Move =>
  accepted(before, { type: 'cancel', mode: 'hard', actor: 'operator', requestId }, now)

export const stalled = (before: Job, now: number, requestId: string): Move =>
  accepted(before, { type: 'stall', actor: 'system', requestId }, now)

function accepted(before: Job, command: Parameters<typeof decide>[1], now: number): Move {
  const decision = decide(before, command, now)
  if (decision.kind !== 'accepted') throw new Error(`${command.type} was not accepted`)
  return { kind: 'move', before, after: decision.job, events: decision.events, ...NOTHING }
}

/** The log of a job, whole; it must be gap-free and fold into the record. */
export async function soundLog(store: Store, id: JobId): Promise<readonly Event[]> {
  const { items } = await store.load([{ id }])
  const { events } = await store.events({ by: 'job', id, afterRev: 0, limit: 1_000 })
  const seqs = events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
  if (seqs.some((seq, i) => seq !== i + 1)) throw new Error(`${id} has a gap in its log: ${seqs.join(' ')}`)
  if (JSON.stringify(derive(events)) !== JSON.stringify(items[0]?.job))
    throw new Error(`${id} is not what its log folds into`)
  return events
}
