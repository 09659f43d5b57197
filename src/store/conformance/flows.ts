/** The moves that checks about flows are made of. */
import { gateOf } from '../../core/flow/gate.ts'
import { atRest, type KeyRecord, type Limit } from '../../core/flow/key.ts'
import type { Job, JobId } from '../../core/job.ts'
import {
  type ClaimedJob,
  type Grant,
  type KeyMove,
  type KeyView,
  type Lobby,
  queueKey,
  type Verdict,
} from '../store.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

export type Limits = Readonly<Record<string, Limit>>

/** Jobs with these keys, one for each of the options. */
export const limited = (fixture: StoreFixture, keys: Limits, ...each: readonly JobOptions[]): Promise<readonly Job[]> =>
  fixture.insert(...each.map((options) => ({ flow: { keys }, ...options })))

export const many = (count: number, options: JobOptions = {}): readonly JobOptions[] =>
  Array.from({ length: count }, () => options)

/** The ticker's part, until it says that there is no more. */
export async function look({ store }: StoreFixture): Promise<void> {
  for (let more = true, rounds = 0; more; rounds += 1) {
    holds(rounds < 1_000, 'letting in comes to an end')
    more = (await store.due(100)).more === true
  }
}

/** What is claimed at once, when all that can be let in has been. */
export async function claims(
  fixture: StoreFixture,
  options: Partial<Grant> & { readonly queue?: string } = {},
): Promise<readonly ClaimedJob[]> {
  await look(fixture)
  return (await fixture.claim(options)).jobs
}

export const idsOf = (jobs: readonly { readonly before: Job }[]): readonly JobId[] =>
  jobs.map(({ before }) => before.id)

export async function lobbyOf({ store }: StoreFixture, id: JobId): Promise<Lobby> {
  const { items } = await store.load([{ id, flow: true }])
  const lobby = items[0]?.flow
  holds(lobby !== undefined, `${id} has a flow, and what holds it is told`)
  return lobby
}

export const isHeld = async (fixture: StoreFixture, id: JobId): Promise<boolean> => (await lobbyOf(fixture, id)).held

export async function viewOf({ store, tenant }: StoreFixture, key: string): Promise<KeyView> {
  const { keys } = await store.events({ by: 'keys', tenant, names: [key], limit: 1, recount: true })
  const [view] = keys ?? []
  holds(view !== undefined && view.key === key, `the key ${key} is known`)
  same(view.count.taken, view.recount, `what is taken of ${key} is what stands or is owned (F3)`)
  return view
}

export const takenOf = async (fixture: StoreFixture, key: string): Promise<number> =>
  (await viewOf(fixture, key)).count.taken

/** Another limit for a key, or another record: what it comes to is the core's to say. */
export async function limit(
  fixture: StoreFixture,
  key: string,
  to: Limit,
  record: KeyRecord = atRest(key),
): Promise<Verdict | undefined> {
  const { rev } = await viewOf(fixture, key)
  return move(fixture, { key, rev, next: { gate: gateOf(record, to), text: JSON.stringify(to) } })
}

export async function move(fixture: StoreFixture, each: KeyMove): Promise<Verdict | undefined> {
  const [verdict] = await fixture.commit({ kind: 'key', tenant: fixture.tenant, move: each })
  return verdict
}

/** Its owner says that it is done, now. */
export async function ends(fixture: StoreFixture, id: JobId): Promise<Job> {
  const job = await fixture.record(id)
  return fixture.say(job, { type: 'complete', fence: job.lease?.fence ?? '', stats: {}, executionMs: 0 }, job.updatedAt)
}

export async function pause({ store, tenant }: StoreFixture, paused: boolean, queue = 'main'): Promise<void> {
  const put = { op: 'put', collection: 'queue', key: queueKey(tenant, queue), rev: undefined } as const
  const [answer] = await store.settings([{ ...put, text: JSON.stringify({ paused }) }])
  same(answer?.status, 'ok', 'the queue is paused or resumed')
}
