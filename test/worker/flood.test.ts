/** More urgent work than a worker can do, for minutes: what is least urgent still comes within its age. In virtual time. */
import { expect, it } from 'vitest'
import { AGE_MS } from '../../src/core/lanes.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { openTesting } from '../../src/testing/testing.ts'
import { scaled } from '../support/scale.ts'

const CAPACITY = 10
/** 120 % of what can be done. */
const COMING = 12
const URGENT = 0
const LEAST = scaled(3, 9)

it.each([
  ['in the lanes', {}],
  ['under a key that is full', { limit: { key: 'host', concurrency: CAPACITY } }],
] as const)(
  'a job of the least priority runs within its age beside a flood of the most urgent, %s',
  async (_, flow) => {
    let late: number | undefined
    let urgent = 0
    let second = Promise.withResolvers<void>()
    const job = defineJob({
      type: 'job',
      ...flow,
      async run(isUrgent: boolean) {
        if (isUrgent) urgent += 1
        else late = testing.now.getTime()
        await second.promise
      },
    })
    await using testing = await openTesting([job], { worker: { concurrency: CAPACITY } })
    const began = testing.now.getTime()
    const flood = () => testing.pawl.enqueueMany(job, new Array<boolean>(COMING).fill(true), { priority: URGENT })
    await flood()
    await testing.pawl.enqueue(job, false, { priority: LEAST })
    let seconds = 0
    for (; late === undefined && seconds * 1_000 <= LEAST * AGE_MS + 5_000; seconds += 1) {
      await flood()
      await testing.advance('1s')
      // Each has taken a second.
      second.resolve()
      second = Promise.withResolvers<void>()
    }
    expect(late, 'it ran').toBeDefined()
    // Not sooner than the most urgent let it, either.
    expect((late ?? 0) - began).toBeGreaterThan((LEAST - 1) * AGE_MS)
    // As urgent as the others, it is one of those whose turn it is: a round of theirs at most.
    expect((late ?? 0) - began).toBeLessThanOrEqual(LEAST * AGE_MS + 2_000)
    // A flood it was, all the while: nobody waited for anything but a place.
    expect(urgent).toBeGreaterThanOrEqual((seconds - 1) * (CAPACITY - 1))
  },
)
