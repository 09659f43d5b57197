import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { scaled } from '../../support/scale.ts'
import { ownFile } from './folder.ts'
import { cancelled, clockOf, completed, grant, limitedJob, newJob, owned, soundLog, stalled } from './life.ts'

const ROUNDS = scaled(60, 10_000)

/** Two stores on one file: two processes as far as the file can tell. */
async function withTwo(play: (one: Store, other: Store) => Promise<void>): Promise<void> {
  const path = ownFile()
  const [one, other] = await Promise.all([openSqliteStore({ path }), openSqliteStore({ path })])
  try {
    await play(one, other)
  } finally {
    await Promise.all([one.close(), other.close()])
  }
}

const inserted = async (store: Store, number: number): Promise<Job> => {
  const item = newJob(number, await clockOf(store))
  await store.insert([item])
  return item.job
}

describe('of two who want the same', () => {
  it(
    'a claim and a cancel: one has it, the other is told',
    () =>
      withTwo(async (one, other) => {
        for (let round = 1; round <= ROUNDS; round += 1) {
          const job = await inserted(one, round)
          const asked = grant(1)
          const claim = () => one.claim(asked)
          const cancel = () => other.commit([cancelled(job, job.updatedAt)])
          const [claimed, { verdicts }] =
            round % 2 === 0
              ? await Promise.all([claim(), cancel()])
              : await Promise.all([cancel(), claim()]).then(([first, second]) => [second, first] as const)
          const won = claimed.jobs.length === 1
          expect(verdicts[0]?.status).toBe(won ? 'conflict' : 'applied')
          const types = (await soundLog(one, job.id)).map(({ type }) => type)
          expect(types).toEqual(['enqueued', won ? 'claimed' : 'cancelled'])
          if (won) await one.commit(owned(claimed, asked).map((mine) => completed(mine, claimed.now)))
        }
      }),
    scaled(60_000, 3_600_000),
  )

  it(
    'two who claim ten each of a key that allows one: one of them has one, again and again',
    () =>
      withTwo(async (one, other) => {
        const now = await clockOf(one)
        await one.insert(Array.from({ length: ROUNDS }, (_, i) => limitedJob(i + 1, now, 'host', { concurrency: 1 })))
        for (let round = 1; round <= ROUNDS; round += 1) {
          const asked = [grant(10), grant(10)] as const
          const [mine, others] = await Promise.all([one.claim(asked[0]), other.claim(asked[1])])
          const claimed = [...owned(mine, asked[0]), ...owned(others, asked[1])]
          expect(claimed.map(({ id }) => id)).toEqual([idText(round)])
          const store = round % 2 === 0 ? one : other
          await store.commit(claimed.map((job) => completed(job, mine.now)))
        }
        const { keys } = await one.events({ by: 'keys', tenant: 't', limit: 1, recount: true })
        expect(keys).toMatchObject([{ key: 'host', recount: 0, count: { taken: 0 }, held: 0 }])
      }),
    scaled(60_000, 3_600_000),
  )

  it(
    'two reapers: an orphan is found stalled once',
    () =>
      withTwo(async (one, other) => {
        for (let round = 1; round <= ROUNDS; round += 1) {
          await inserted(one, round)
          const asked = grant(1)
          const [job] = owned(await one.claim(asked), asked)
          if (job?.lease === undefined) throw new Error('nothing was claimed')
          const later = job.lease.expiresAt + 1
          const answers = await Promise.all([
            one.commit([stalled(job, later, 'reaper-1')]),
            other.commit([stalled(job, later, 'reaper-2')]),
          ])
          const statuses = answers.map(({ verdicts }) => verdicts[0]?.status).sort()
          expect(statuses).toEqual(['applied', 'conflict'])
          const { items } = await other.load([{ id: job.id }])
          expect(items[0]?.job).toMatchObject({ state: 'stalled', stalls: 1 })
          await one.commit([cancelled(items[0]?.job as Job, later)])
        }
      }),
    scaled(60_000, 3_600_000),
  )

  it(
    'a batch of claims and retention: what has ended goes, what lives is claimed',
    () =>
      withTwo(async (one, other) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const now = await clockOf(one)
          const first = round * 10 + 1
          const numbers = Array.from({ length: 10 }, (_, i) => first + i)
          await one.insert(numbers.slice(0, 5).map((number) => newJob(number, now)))
          const asked = grant(5)
          const answer = await one.claim(asked)
          await one.commit(owned(answer, asked).map((job) => completed(job, answer.now)))
          const { jobs: over } = await one.find({ states: ['succeeded'], order: 'oldest', limit: 10 })
          await one.insert(numbers.slice(5).map((number) => newJob(number, now)))

          const purge = over.map((before) => ({ kind: 'purge', before }) as const)
          const again = grant(5)
          const [claimed, { verdicts }] = await Promise.all([one.claim(again), other.commit(purge)])
          expect(verdicts.map(({ status }) => status)).toEqual(Array(5).fill('applied'))
          expect(claimed.jobs.map(({ before }) => before.id)).toEqual(numbers.slice(5).map(idText))
          await one.commit(owned(claimed, again).map((job) => cancelled(job, claimed.now)))
        }
        const { tally, purged } = await one.events({ by: 'tally' })
        expect(purged).toBe(ROUNDS * 5)
        expect(tally.map(({ state, count }) => [state, count])).toEqual([['cancelled', ROUNDS * 5]])
      }),
    scaled(60_000, 3_600_000),
  )
})
