import { describe, expect, it } from 'vitest'
import type { Answer } from '../../src/engine/engine.ts'
import { defineSpec, type Pawl } from '../../src/index.ts'
import { scaled } from '../support/scale.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const work = defineSpec({ type: 'work', queue: 'races' })
const LANES = [{ tenant: 'default', queue: 'races', priority: 5 }]

const claimAll = async ({ engine }: Pawl, limit: number) => {
  const assignments = await engine.claim({ requestId: crypto.randomUUID(), workerId: 'w', lanes: LANES, limit })
  expect(assignments).toHaveLength(limit)
  return assignments
}

const won = (answer: Answer | undefined): boolean => answer?.ok === true && !answer.replayed

describe.each(STORES)('races on %s', (name) => {
  it('between complete and hard cancel have one winner, and the log says who', async () => {
    await using place = await PLACES[name]()
    await using one = await openAt(place)
    // Memory is one process by nature; elsewhere the two have nothing in common but the store.
    await using other = name === 'memory' ? undefined : await openAt(place)
    const rival = (other ?? one).engine
    const rounds = scaled(4, 200)
    const each = 50
    for (let round = 0; round < rounds; round += 1) {
      await one.enqueueMany(work, Array(each).fill(round))
      const claimed = await claimAll(one, each)
      const completing = claimed.map(({ job, fence }) =>
        one.engine.settle([
          { id: job.id, command: { type: 'complete', fence, actor: 'worker:w', requestId: `${fence}/complete` } },
        ]),
      )
      const cancelling = claimed.map(({ job }, i) =>
        rival.settle([
          { id: job.id, command: { type: 'cancel', mode: 'hard', actor: 'ann', requestId: `c${round}.${i}` } },
        ]),
      )
      const outcomes = await Promise.all(completing)
      const cancels = await Promise.all(cancelling)
      const { items } = await one.engine.load(claimed.map(({ job }) => ({ id: job.id })))
      for (const [i, item] of items.entries()) {
        const winners = [won(outcomes[i]?.[0]), won(cancels[i]?.[0])]
        expect(winners.filter(Boolean)).toHaveLength(1)
        expect(item?.job.state).toBe(winners[0] ? 'succeeded' : 'cancelled')
      }
    }
    expect((await one.verify()).discrepancies).toEqual([])
  })

  it('for a dedupe key have one winner, again and again', async () => {
    await using place = await PLACES[name]()
    await using one = await openAt(place)
    await using other = name === 'memory' ? undefined : await openAt(place)
    const pawls = [one, other ?? one]
    for (let round = 0; round < scaled(5, 200); round += 1) {
      const handles = await Promise.all(
        Array.from({ length: 16 }, (_, i) => pawls[i % 2]?.enqueue(work, i, { dedupeKey: 'the one' })),
      )
      expect(new Set(handles.map((handle) => handle?.id)).size).toBe(1)
      expect(handles.filter((handle) => handle?.deduped === false)).toHaveLength(1)
      await handles[0]?.cancel()
    }
    expect((await one.verify()).discrepancies).toEqual([])
  })

  it('for jobs give each to one claimer', async () => {
    await using place = await PLACES[name]()
    await using one = await openAt(place)
    await using other = name === 'memory' ? undefined : await openAt(place)
    const count = scaled(300, 10_000)
    await one.enqueueMany(work, Array(count).fill(0))
    const engines = [one.engine, (other ?? one).engine, one.engine, (other ?? one).engine]
    const taken = await Promise.all(
      engines.map(async (engine) => {
        const ids: string[] = []
        for (;;) {
          const claim = { requestId: crypto.randomUUID(), workerId: 'w', lanes: LANES, limit: 7 }
          const assignments = await engine.claim(claim)
          if (assignments.length === 0) return ids
          ids.push(...assignments.map(({ job }) => job.id))
        }
      }),
    )
    const all = taken.flat()
    expect(all).toHaveLength(count)
    expect(new Set(all).size).toBe(count)
  })
})
