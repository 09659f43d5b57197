import { describe, expect, it } from 'vitest'
import { Batcher, Overloaded } from '../../../src/store/postgres/batch/batcher.ts'

/** A commit that ends when told to. */
function slow() {
  const batches: { items: readonly number[]; end: () => void; fail: (error: Error) => void }[] = []
  const run = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      batches.push({ items, end: () => resolve(items.map((n) => n * 10)), fail: reject })
    })
  return { batches, run }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const sizeOf = (n: number) => n

describe('group commit', () => {
  it('makes nobody wait who is alone', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf })
    const answer = batcher.add([1])
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([[1]])
    batches[0]?.end()
    expect(await answer).toEqual([10])
  })

  it('lets whoever comes meanwhile ride in the next one, each with its own answers', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf })
    const first = batcher.add([1])
    await turn()
    const others = [batcher.add([2, 3]), batcher.add([4]), batcher.add([])]
    await turn()
    expect(batches.length).toBe(1)
    batches[0]?.end()
    expect(await first).toEqual([10])
    await turn()
    expect(batches[1]?.items).toEqual([2, 3, 4])
    batches[1]?.end()
    expect(await Promise.all(others)).toEqual([[20, 30], [40], []])
  })

  it('lets whoever was answered and comes back at once ride with those who waited', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf })
    /** As far from the batcher as a caller of the library is, and further. */
    const through = async (layers: number, items: readonly number[]): Promise<readonly number[]> =>
      layers === 0 ? batcher.add(items) : await through(layers - 1, items)
    const comingBack = [1, 2, 3].map(async (n) => {
      await through(n, [n])
      await through(20 * n, [10 + n])
    })
    await turn()
    const waiting = batcher.add([4])
    batches[0]?.end()
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2, 3],
      [4, 11, 12, 13],
    ])
    batches[1]?.end()
    await Promise.all([...comingBack, waiting])
  })

  it('sends a second batch after the first where it is worth it, and no third', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf: () => 1, atOnce: 2 })
    const many = Array.from({ length: 500 }, (_, i) => i)
    const first = batcher.add([1])
    await turn()
    const few = batcher.add(many.slice(0, 50))
    await turn()
    expect(batches.length).toBe(1)
    const more = batcher.add(many.slice(50, 100))
    await turn()
    expect(batches.map(({ items }) => items.length)).toEqual([1, 100])
    const last = batcher.add(many)
    await turn()
    expect(batches.length).toBe(2)
    // They may end in any order.
    batches[1]?.end()
    expect(await few).toEqual(many.slice(0, 50).map((n) => n * 10))
    expect((await more).length).toBe(50)
    await turn()
    expect(batches.map(({ items }) => items.length)).toEqual([1, 100, 500])
    batches[0]?.fail(new Error('lost'))
    await expect(first).rejects.toThrow('lost')
    batches[2]?.end()
    expect((await last).length).toBe(500)
  })

  it('waits for all batches under way when it closes', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf: () => 1, atOnce: 2 })
    const calls = [batcher.add([1]), turn().then(() => batcher.add(Array.from({ length: 100 }, (_, i) => i)))]
    await turn()
    await turn()
    expect(batches.length).toBe(2)
    let closed = false
    const closing = batcher.close().then(() => {
      closed = true
    })
    batches[0]?.end()
    await turn()
    expect(closed).toBe(false)
    batches[1]?.end()
    await closing
    expect((await Promise.all(calls)).map(({ length }) => length)).toEqual([1, 100])
  })

  it('keeps batches within their number and their bytes, and calls whole and in order', async () => {
    const seen: (readonly number[])[] = []
    const run = async (items: readonly number[]) => {
      seen.push(items)
      return items
    }
    const batcher = new Batcher({ run, sizeOf, maxItems: 3, maxBytes: 100 })
    const answers = await Promise.all([
      batcher.add([1, 2]),
      batcher.add([3, 4]),
      batcher.add([90]),
      batcher.add([20, 5, 6, 7]),
    ])
    expect(answers).toEqual([[1, 2], [3, 4], [90], [20, 5, 6, 7]])
    expect(seen).toEqual([[1, 2], [3, 4, 90], [20, 5, 6], [7]])
  })

  it('refuses what would wait too long, at once, and takes it later', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf, maxWaiting: 2 })
    const under = batcher.add([1])
    await turn()
    const waiting = batcher.add([2, 3])
    await expect(batcher.add([4])).rejects.toThrow(Overloaded)
    await expect(batcher.add([4])).rejects.toMatchObject({ code: 'OVERLOADED', retryAfterMs: 100 })
    batches[0]?.end()
    await under
    await turn()
    batches[1]?.end()
    expect(await waiting).toEqual([20, 30])
    const later = batcher.add([4])
    await turn()
    batches[2]?.end()
    expect(await later).toEqual([40])
  })

  it('fails only the calls of the batch that failed', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf })
    const bad = batcher.add([1])
    await turn()
    const good = batcher.add([2])
    batches[0]?.fail(new Error('lost'))
    await expect(bad).rejects.toThrow('lost')
    await turn()
    batches[1]?.end()
    expect(await good).toEqual([20])
  })

  it('when it closes answers what is under way, and refuses the rest', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf })
    const under = batcher.add([1])
    await turn()
    const waiting = batcher.add([2])
    const closing = batcher.close()
    await expect(waiting).rejects.toThrow('closed')
    await expect(batcher.add([3])).rejects.toThrow('closed')
    batches[0]?.end()
    expect(await under).toEqual([10])
    await closing
  })

  it('has a second one under way sooner where what waits weighs more', async () => {
    const { batches, run } = slow()
    const batcher = new Batcher({ run, sizeOf: () => 1, weightOf: (n) => (n < 0 ? 50 : 1), atOnce: 2 })
    const answers = [batcher.add([0])]
    await turn()
    answers.push(batcher.add([1, 2, 3]), batcher.add([-1]))
    await turn()
    expect(batches.length).toBe(1)
    answers.push(batcher.add([-2]))
    await turn()
    expect(batches[1]?.items).toEqual([1, 2, 3, -1, -2])
    answers.push(batcher.add([-3, -4]))
    await turn()
    expect(batches.length).toBe(2)
    for (const { end } of batches) end()
    await turn()
    expect(batches[2]?.items).toEqual([-3, -4])
    batches[2]?.end()
    expect((await Promise.all(answers)).flat()).toEqual([0, 10, 20, 30, -10, -20, -30, -40])
  })
})
