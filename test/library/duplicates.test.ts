/** What job types say about duplicates, through real workers and in virtual time. */
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { Invalid } from '../../src/library/errors.ts'
import { openTesting } from '../../src/testing/testing.ts'

interface Change {
  readonly shop: string
  readonly n: number
}

/** A type that writes down what it ran with. */
function reindexing(dedupe: object, more: object = {}) {
  const ran: number[] = []
  const job = defineJob({
    type: 'reindex',
    dedupe: { key: ({ shop }: Change) => shop, ...dedupe },
    ...more,
    run: ({ n }: Change) => {
      ran.push(n)
    },
  })
  return { job, ran }
}

describe('duplicates', () => {
  it('that are debounced make one run, with the newest input, after the last of them', async () => {
    const { job, ran } = reindexing({ onDuplicate: 'debounce', within: '5s' })
    await using testing = await openTesting([job])
    for (let n = 1; n <= 5; n += 1) {
      const handle = await testing.pawl.enqueue(job, { shop: 'a', n })
      expect(handle.effect).toBe(n === 1 ? undefined : 'replaced')
      await testing.advance('3s')
    }
    expect(ran).toEqual([])
    await testing.advance('3s')
    expect(ran).toEqual([5])
  })

  it('that never stop are run all the same, at the latest so long after the first', async () => {
    const { job, ran } = reindexing({ onDuplicate: 'debounce', within: '5s', atMost: '10s' })
    await using testing = await openTesting([job])
    for (let n = 1; n <= 8; n += 1) {
      await testing.pawl.enqueue(job, { shop: 'a', n })
      await testing.advance('2s')
    }
    expect(ran.length).toBeGreaterThan(0)
  })

  it('that come while one runs are run once more, with the newest', async () => {
    const ran: number[] = []
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const job = defineJob({
      type: 'slow',
      dedupe: { key: ({ shop }: Change) => shop, onDuplicate: 'replace' },
      run: async ({ n }: Change) => {
        ran.push(n)
        begun.resolve()
        if (n === 1) await gate.promise
      },
    })
    await using testing = await openTesting([job])
    const first = await testing.pawl.enqueue(job, { shop: 'a', n: 1 })
    const drained = testing.drain()
    await begun.promise
    for (const n of [2, 3, 4]) {
      const { id, effect } = await testing.pawl.enqueue(job, { shop: 'a', n })
      expect({ id, effect }).toEqual({ id: first.id, effect: 'next' })
    }
    gate.resolve()
    await drained
    expect(ran).toEqual([1, 4])
    expect((await testing.pawl.verify()).discrepancies).toEqual([])
  })

  it('go by what a call says, where it does, and by what the type says elsewhere', async () => {
    const { job, ran } = reindexing({})
    await using testing = await openTesting([job])
    const { pawl } = testing
    const dedupe = { onDuplicate: 'replace' } as const
    await pawl.enqueue(job, { shop: 'a', n: 1 }, { delay: '1m' })
    expect(await pawl.enqueue(job, { shop: 'a', n: 2 })).toMatchObject({ deduped: true, effect: undefined })
    expect(await pawl.enqueue(job, { shop: 'a', n: 3 }, { dedupe })).toMatchObject({ effect: 'replaced' })
    const byName = { dedupe, dedupeKey: 'a', queue: job.queue }
    expect(await pawl.enqueue('reindex', { shop: 'a', n: 4 }, byName)).toMatchObject({ effect: 'replaced' })
    await testing.advance('1m')
    expect(ran).toEqual([4])
    const wrong = { dedupe: { onDuplicate: 'debounce' } } as const
    await expect(pawl.enqueue(job, { shop: 'a', n: 5 }, wrong)).rejects.toThrow(Invalid)
    await expect(pawl.enqueue('reindex', {}, { ...wrong, queue: job.queue })).rejects.toThrow(Invalid)
  })

  it('of a debounced type that is limited take no slot while they wait', async () => {
    const limit = { key: ({ shop }: Change) => shop, concurrency: 1 }
    const { job, ran } = reindexing({ onDuplicate: 'debounce', within: '5s' }, { limit })
    await using testing = await openTesting([job])
    for (const n of [1, 2, 3]) await testing.pawl.enqueue(job, { shop: 'a', n })
    expect(await testing.pawl.limits.get('a')).toMatchObject({ taken: 0 })
    await testing.advance('5s')
    expect(ran).toEqual([3])
    expect((await testing.pawl.verify()).discrepancies).toEqual([])
  })

  it('are told what to write in place of the former word', () => {
    const former = { type: 'old', dedupeFor: '1h', run: () => {} }
    expect(() => defineJob(former)).toThrow('dedupeFor: is written dedupe: { for: … }')
  })
})
