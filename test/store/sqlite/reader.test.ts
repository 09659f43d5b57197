import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { ownFile } from './folder.ts'
import { clockOf, completed, grant, newJob, owned } from './life.ts'

const JOBS = 3_000

describe('who reads', () => {
  it('does not stand before who writes: heartbeats and commits are answered while long questions are', async () => {
    const store = await openSqliteStore({ path: ownFile() })
    const now = await clockOf(store)
    await store.insert(Array.from({ length: JOBS }, (_, n) => newJob(n + 1, now)))
    const wanted = grant(1)
    const answer = await store.claim(wanted)
    const [job] = owned(answer, wanted)
    if (job?.lease === undefined) throw new Error('nothing was claimed')
    await store.find({ order: 'newest', limit: 1 })
    let answered = 0
    const questions = Array.from({ length: 40 }, () =>
      store.find({ order: 'newest', limit: 1_000 }).then(() => {
        answered += 1
      }),
    )
    const { items } = await store.heartbeat([{ id: job.id, fence: job.lease.fence, requestId: 'beat' }])
    expect(items[0]?.status).toBe('renewed')
    const beaten = (await store.load([{ id: job.id }])).items[0]?.job ?? job
    const { verdicts } = await store.commit([completed(beaten, answer.now)])
    expect(verdicts).toEqual([{ status: 'applied' }])
    expect(answered, 'of 40 questions that were asked before').toBeLessThan(40)
    await Promise.all(questions)
    await store.close()
  })

  it('sees every write that was answered before it asked', async () => {
    const store = await openSqliteStore({ path: ownFile() })
    const now = await clockOf(store)
    for (let number = 1; number <= 200; number += 1) {
      await store.insert([newJob(number, now)])
      const [newest] = (await store.find({ order: 'newest', limit: 1 })).jobs
      expect(newest?.id).toBe(idText(number))
    }
    await store.close()
  })

  it('tells the same time as who writes: it never runs backwards from one answer to the next', async () => {
    const store = await openSqliteStore({ path: ownFile() })
    let last = 0
    for (let n = 0; n < 100; n += 1) {
      for (const { now } of [await store.load([]), await store.find({ order: 'newest', limit: 1 })]) {
        expect(now).toBeGreaterThanOrEqual(last)
        last = now
      }
    }
    await store.close()
  })
})
