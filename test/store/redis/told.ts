/** Lives of jobs from their callers' side: what those were told, and whether it is so. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import type { StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Key, NewJob } from '../../../src/store/store.ts'

/** What callers were told. */
export interface Told {
  readonly born: Set<string>
  /** By job: the fence of whoever was given it. */
  readonly owned: Map<string, string>
  /** By job: the revision at its end. */
  readonly ended: Map<string, number>
  /** Jobs of which nothing was written, by what was said. */
  readonly refused: Set<string>
  /** Jobs that were named as those that hold a key. */
  readonly named: Set<string>
  /** The latest revision of a document that was told of. */
  counted: number
}

export const toldNothing = (): Told => ({
  born: new Set(),
  owned: new Map(),
  ended: new Map(),
  refused: new Set(),
  named: new Set(),
  counted: 0,
})

/** What every third job wants. */
const WANTED: Key = { purpose: 'dedupe', key: 'one', until: undefined }
const COUNTER = { collection: 'queue', key: 'told' } as const

/** Until the server has room: what it refused then it has not written. */
async function untilRoom<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isRefusal(error)) throw error
      await pause(10)
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'OVERLOADED'

/** New under a key that others want too: it is there, or the one that holds the key is. */
async function bear({ store }: StoreFixture, draft: NewJob, told: Told): Promise<void> {
  const { id } = draft.job
  const { items } = await store.insert([draft]).catch((error: unknown) => {
    if (!isRefusal(error)) throw error
    told.refused.add(id)
    return { items: [] }
  })
  const [said] = items
  if (said?.status === 'inserted') told.born.add(id)
  else if (said?.status === 'exists') {
    // Asked again by the store itself after a crash, it may meet itself.
    if (said.job.id === id) told.born.add(id)
    else told.named.add(said.job.id)
  }
}

/** A document is changed, as a pause or a revoked token is. */
async function count({ store }: StoreFixture, told: Told): Promise<void> {
  const [there] = await store.settings([{ op: 'get', ...COUNTER }])
  const rev = there?.settings[0]?.rev ?? 0
  const [put] = await untilRoom(() => store.settings([{ op: 'put', ...COUNTER, text: '{}', rev }]))
  if (put?.status === 'ok') told.counted = Math.max(told.counted, rev + 1)
}

/** Enqueues, claims and completes, one after the other, and notes down what it was told. */
export async function live(fixture: StoreFixture, told: Told, signal: AbortSignal): Promise<void> {
  const { store } = fixture
  while (!signal.aborted) {
    const isKeyed = told.born.size % 3 === 0
    const keys = isKeyed ? [WANTED] : []
    await bear(fixture, fixture.draft({ input: '1', keys }), told)
    if (isKeyed) await count(fixture, told)
    const { jobs } = await untilRoom(() => fixture.claim({ limit: 1 }))
    for (const { before } of jobs) {
      const { job } = (await store.load([{ id: before.id }])).items[0] ?? {}
      const fence = job?.lease?.fence ?? ''
      expect(told.owned.get(before.id) ?? fence, `${before.id} has one owner`).toBe(fence)
      told.owned.set(before.id, fence)
      const change = fixture.change(job as Job, { type: 'complete', fence }, (job as Job).updatedAt)
      const { verdicts } = await untilRoom(() => store.commit([{ ...change, give: [WANTED] }]))
      // Asked again after a crash, it may meet itself: then it is there.
      const now = (await store.load([{ id: before.id }])).items[0]?.job
      expect([verdicts[0]?.status, now?.rev]).toEqual([expect.stringMatching(/applied|conflict/), change.after.rev])
      told.ended.set(before.id, change.after.rev)
    }
  }
}

/** All of it is there, and nothing that ended has moved since. */
export async function expectTold(fixture: StoreFixture, told: Told): Promise<void> {
  const { items } = await fixture.store.load([...told.born].map((id) => ({ id, bodies: ['input'] })))
  expect(items.filter((item) => item?.bodies['input'] === undefined)).toEqual([])
  for (const item of items) {
    const job = item?.job as Job
    const ended = told.ended.get(job.id)
    if (ended !== undefined) expect(job.rev).toBe(ended)
  }
  for (const id of [...told.ended.keys()].slice(0, 50)) await fixture.expectFolds(id)
  const ids = (some: ReadonlySet<string>) => [...some].map((id) => ({ id }))
  const refused = await fixture.store.load(ids(told.refused))
  expect(refused.items.filter((item) => item !== undefined)).toEqual([])
  const named = await fixture.store.load(ids(told.named))
  expect(named.items.filter((item) => item === undefined)).toEqual([])
  const [document] = await fixture.store.settings([{ op: 'get', ...COUNTER }])
  expect(document?.settings[0]?.rev ?? 0).toBeGreaterThanOrEqual(told.counted)
}
