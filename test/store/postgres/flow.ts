import { expect } from 'vitest'
import type { Command } from '../../../src/core/command.ts'
import { decide } from '../../../src/core/decide.ts'
import type { Event } from '../../../src/core/event.ts'
import { derive } from '../../../src/core/evolve.ts'
import { gateOf } from '../../../src/core/flow/gate.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import { idText } from '../../../src/core/id.ts'
import type { Job, Kind } from '../../../src/core/job.ts'
import type { Policy } from '../../../src/core/policy.ts'
import { policyOf } from '../../../src/store/conformance/policy.ts'
import type { Change, ClaimedJob, Grant, NewJob, Store, Verdict } from '../../../src/store/store.ts'
import { realRandom } from '../../../src/system/random.ts'

export const kindOf = (queue = 'main', policy: Partial<Policy> = {}): Kind => ({
  tenant: 't',
  queue,
  type: 'flow.job',
  policy: policyOf(policy),
})

/** A job at its first event, as the engine would hand it to a store. `null`: it has no input. */
export function newJob(
  kind: Kind,
  number: number,
  at: number,
  words: string | null = `{"n":${number}}`,
  priority = 5,
): NewJob {
  const id = idText(number)
  const input = words ?? undefined
  const ref = input === undefined ? undefined : { name: 'input', size: input.length, digest: undefined }
  const command: Command = { type: 'enqueue', id, kind, priority, input: ref, actor: 'producer', requestId: id }
  const decision = accepted(decide(undefined, command, at))
  return { job: decision.job, event: decision.events[0] as Event, input, keys: [] }
}

/** A job under a key of so many at once. */
export function limitedJob(kind: Kind, number: number, at: number, key: string, concurrency: number): NewJob {
  const id = idText(number)
  const flow = { keys: [key], fair: undefined }
  const wish = { type: 'enqueue', id, kind, priority: 5, flow, actor: 'producer', requestId: id } as const
  const { job, events } = accepted(decide(undefined, wish, at))
  const birth = { key, gate: gateOf(atRest(key), { concurrency }), text: 'said' }
  return { job, event: events[0] as Event, input: undefined, keys: [], flow: [birth] }
}

export function grantOf(queue: string, limit: number, workerId = 'w1'): Grant {
  const lanes = [{ tenant: 't', queue, priority: 5 }]
  const worker = { workerId, actor: `worker:${workerId}`, requestId: realRandom.uuid(), nonce: realRandom.hex64() }
  return { ...worker, lanes, limit, maxInputBytes: 1 << 20 }
}

/** The record a claim leads to, as the engine makes it of the answer. */
export function claimedBy({ before, at, rev, leaseExpiresAt }: ClaimedJob, grant: Grant): Job {
  const { workerId, actor, requestId, nonce } = grant
  const { job } = accepted(decide(before, { type: 'claim', workerId, actor, requestId, nonce }, at))
  expect([job.rev, job.lease?.expiresAt]).toEqual([rev, leaseExpiresAt])
  return job
}

export function completion(job: Job, now: number): Extract<Change, { kind: 'move' }> {
  const fence = job.lease?.fence ?? ''
  const worker = { actor: `worker:${job.owner?.workerId}`, requestId: `${fence}/complete` }
  return change(job, { type: 'complete', fence, ...worker }, now, job.lease?.expiresAt)
}

export function change(job: Job, command: Command, now: number, notAfter?: number): Extract<Change, { kind: 'move' }> {
  const { job: after, events, bodies } = accepted(decide(job, command, now))
  return { kind: 'move', before: job, after, events, bodies, notAfter, give: [], take: [], spawn: undefined }
}

export function accepted(decision: ReturnType<typeof decide>) {
  if (decision.kind !== 'accepted') throw new Error(`core refuses: ${JSON.stringify(decision)}`)
  return decision
}

/** Who got which job. A job that two claims got is found at once. */
export class Ledger {
  readonly owners = new Map<string, string>()
  readonly done = new Set<string>()

  given(id: string, nonce: string): void {
    const owner = this.owners.get(id)
    if (owner !== undefined && owner !== nonce) throw new Error(`${id} was given to two claims`)
    this.owners.set(id, nonce)
  }
}

/** Claims and completes until all jobs are done. */
export async function drain(
  store: Store,
  queue: string,
  ledger: Ledger,
  total: number,
  batch: () => number,
): Promise<void> {
  for (let idle = 0; ledger.done.size < total; ) {
    const grant = grantOf(queue, batch())
    const answer = await store.claim(grant)
    if (answer.jobs.length === 0) {
      idle += 1
      if (idle > 20_000) throw new Error(`only ${ledger.done.size} of ${total} jobs came`)
      await new Promise((resolve) => setImmediate(resolve))
      continue
    }
    for (const { before } of answer.jobs) ledger.given(before.id, grant.nonce)
    const { verdicts } = await store.commit(answer.jobs.map((job) => completion(claimedBy(job, grant), answer.now)))
    for (const [i, verdict] of verdicts.entries()) {
      expect(verdict, 'the owner completes its job').toEqual({ status: 'applied' } satisfies Verdict)
      ledger.done.add(answer.jobs[i]?.before.id ?? '')
    }
  }
}

/** Exactly one event per transition, without gaps, and the fold is the record. */
export async function audit(store: Store, numbers: readonly number[]): Promise<void> {
  for (let i = 0; i < numbers.length; i += 500) {
    const some = numbers.slice(i, i + 500).map(idText)
    const { items } = await store.load(some.map((id) => ({ id })))
    for (const [n, item] of items.entries()) {
      expect(item?.job.state, `${some[n]} is there and has ended`).toBe('succeeded')
      expect([item?.job.rev, item?.job.seq, item?.job.attempt]).toEqual([4, 4, 1])
    }
  }
  for (const id of numbers.filter((_, n) => n % Math.ceil(numbers.length / 200) === 0).map(idText)) {
    const { events } = await store.events({ by: 'job', id, afterRev: 0, limit: 100 })
    expect(events.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'succeeded'])
    expect(events.map(({ rev }) => rev)).toEqual([1, 2, 3, 4])
    const { items } = await store.load([{ id }])
    expect(derive(events)).toEqual(items[0]?.job)
  }
}

export const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i)

/** A seeded generator: a failure can be looked at again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
