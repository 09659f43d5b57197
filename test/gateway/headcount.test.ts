/** What a tenant has is counted now and then, not for each new one. */
import { describe, expect, it } from 'vitest'
import { Headcount } from '../../src/gateway/headcount.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'

function counted(most: number) {
  const time = new VirtualTime(1_000_000)
  const there = { count: 0, asked: 0 }
  const headcount = new Headcount(time, most, async () => {
    there.asked += 1
    return there.count
  })
  const come = async () => {
    const may = await headcount.letsIn('a')
    if (may) there.count += 1
    return may
  }
  return { time, there, come }
}

describe('a headcount', () => {
  it('lets in as many as there may be, and has counted once', async () => {
    const { there, come } = counted(100)
    for (let n = 0; n < 100; n += 1) expect(await come()).toBe(true)
    expect(there.asked).toBe(1)
    expect(await come()).toBe(false)
  })

  it('counts again for whoever is at its cap, once a second however many ask', async () => {
    const { time, there, come } = counted(3)
    for (let n = 0; n < 3; n += 1) await come()
    await time.advance(1_000)
    there.count = 2
    expect(await come()).toBe(true)
    for (let n = 0; n < 50; n += 1) expect(await come()).toBe(false)
    expect(there.asked).toBe(2)
  })

  it('counts once for however many come at the same time, and lets in no more than there may be', async () => {
    const { there, come } = counted(5)
    const came = await Promise.all(Array.from({ length: 50 }, come))
    expect([came.filter(Boolean).length, there.asked]).toEqual([5, 1])
  })

  it('hears within ten seconds of those that others let in', async () => {
    const { time, there, come } = counted(10)
    expect(await come()).toBe(true)
    there.count = 10
    await time.advance(10_000)
    expect(await come()).toBe(false)
  })
})
