/** Lives of jobs from their callers' side: what those were told, and whether it is so. */
import { expect } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import type { StoreFixture } from '../../../src/store/conformance/store-fixture.ts'

/** What callers were told. */
export interface Told {
  readonly born: Set<string>
  /** By job: the fence of whoever was given it. */
  readonly owned: Map<string, string>
  /** By job: the revision at its end. */
  readonly ended: Map<string, number>
}

export const toldNothing = (): Told => ({ born: new Set(), owned: new Map(), ended: new Map() })

/** Enqueues, claims and completes, one after the other, and notes down what it was told. */
export async function live(fixture: StoreFixture, told: Told, signal: AbortSignal): Promise<void> {
  const { store } = fixture
  while (!signal.aborted) {
    const draft = fixture.draft({ input: '1' })
    await store.insert([draft])
    told.born.add(draft.job.id)
    const { jobs } = await fixture.claim({ limit: 1 })
    for (const { before } of jobs) {
      const { job } = (await store.load([{ id: before.id }])).items[0] ?? {}
      const fence = job?.lease?.fence ?? ''
      expect(told.owned.get(before.id) ?? fence, `${before.id} has one owner`).toBe(fence)
      told.owned.set(before.id, fence)
      const change = fixture.change(job as Job, { type: 'complete', fence }, (job as Job).updatedAt)
      const { verdicts } = await store.commit([change])
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
}
