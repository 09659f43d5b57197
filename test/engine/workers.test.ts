/** Workers that told of themselves: listed page by page, forgotten after an hour of silence. */
import { describe, expect, it } from 'vitest'
import { Departure } from '../../src/engine/departure.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { Workers } from '../../src/engine/workers.ts'
import { EngineFixture } from './engine-fixture.ts'

const HOUR_MS = 3_600_000

describe('workers', () => {
  it('are a tenant’s own, however alike the names of tenants are', async () => {
    const { engine } = new EngineFixture()
    const workers = new Workers(engine)
    for (const tenant of ['a', 'ab', 'a"', 'b', ''])
      await workers.report(tenant, `of ${tenant}`, undefined, { running: 1 })
    for (const tenant of ['a', 'ab', 'a"', 'b', '']) {
      const { workers: found, cursor } = await workers.page(tenant, undefined, 10)
      expect(found).toMatchObject([{ workerId: `of ${tenant}`, about: { running: 1 }, present: true }])
      expect(cursor).toBeUndefined()
      expect(await workers.count(tenant, 10)).toBe(1)
    }
  })

  it('come page by page, each once', async () => {
    const { engine } = new EngineFixture()
    const workers = new Workers(engine)
    const names = Array.from({ length: 1_203 }, (_, i) => `w${String(i).padStart(4, '0')}`)
    for (const name of names) await workers.report('t', name, 'token', {})
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await workers.page('t', cursor, 100)
      seen.push(...page.workers.map(({ workerId }) => workerId))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(seen).toEqual(names)
    expect(await workers.count('t', 5_000)).toBe(1_203)
  })

  it('that tell too much are not all read for one question, and the question is answered without them', async () => {
    const { engine } = new EngineFixture()
    let read = 0
    const counting: Pick<Engine, 'settings' | 'now'> = {
      now: () => engine.now(),
      async settings(operations) {
        const answers = await engine.settings(operations)
        for (const { settings } of answers) read += settings.length
        return answers
      },
    }
    const workers = new Workers(counting)
    const types = Array.from({ length: 1_000 }, (_, n) => `${n}`.padEnd(120, 'x'))
    for (let n = 0; n < 120; n += 1) await workers.report('t', `w${n}`, undefined, { queues: ['q'], types })
    read = 0
    await expect(workers.presentOf('t')).rejects.toThrow('more than is looked at')
    expect(read).toBeLessThanOrEqual(50)
    expect(
      await workers.around({ spec: { kind: { tenant: 't', queue: 'q', type: 'x' } }, needs: undefined }),
    ).toBeUndefined()
    read = 0
    expect((await workers.page('t', undefined, 1)).workers).toHaveLength(1)
    expect(read).toBeLessThanOrEqual(2)
  })

  it('are not present after a minute of silence, and gone after an hour', async () => {
    const { engine, clock, store } = new EngineFixture()
    const workers = new Workers(engine)
    await workers.report('t', 'ghost', 'token', {})
    clock.advance(2 * 60_000)
    await store.load([])
    await engine.load([])
    expect((await workers.find('t', 'ghost'))?.present).toBe(false)
    clock.advance(HOUR_MS)
    await engine.load([])
    expect(await workers.find('t', 'ghost')).toBeUndefined()
    expect((await workers.page('t', undefined, 10)).workers).toEqual([])
    await workers.report('t', 'alive', 'token', {})
    expect(await workers.count('t', 10)).toBe(1)
    const [left] = await store.settings([{ op: 'list', collection: 'worker', after: '', limit: 10 }])
    expect(left?.settings).toHaveLength(1)
  })

  it('that have been silent for an hour are removed by retention, whoever reports or not', async () => {
    const { engine, clock, store } = new EngineFixture()
    const workers = new Workers(engine)
    for (let n = 0; n < 1_200; n += 1) await workers.report(`t${n % 3}`, `ghost${n}`, 'token', {})
    clock.advance(HOUR_MS + 1)
    await engine.load([])
    await workers.report('t1', 'alive', 'token', {})
    const departure = new Departure(store)
    do await departure.round((await store.load([])).now)
    while (!departure.isAtItsEnd)
    const [left] = await store.settings([{ op: 'list', collection: 'worker', after: '', limit: 10 }])
    expect(left?.settings.map(({ key }) => key)).toEqual(['["t1","alive"]'])
  })
})
