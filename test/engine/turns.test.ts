import { describe, expect, it } from 'vitest'
import { CHILD_ENDED } from '../../src/core/child.ts'
import type { Answer, Word } from '../../src/engine/engine.ts'
import { Turns } from '../../src/engine/turns.ts'
import { defineJob, defineSpec, type Pawl } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { Between } from './between.ts'
import { EngineFixture } from './engine-fixture.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const work = defineSpec({ type: 'work', queue: 'crowded' })

const signal = (id: string, n: number): Word => ({
  id,
  command: { type: 'signal', name: `s${n}`, actor: `a${n}`, requestId: `s${n}` },
})

const told = (answers: readonly (readonly Answer[])[]): readonly string[] =>
  answers.flat().map((answer) => (answer.ok ? 'ok' : answer.refusal.code))

async function claimed({ engine }: Pawl, limit = 1) {
  const lanes = [{ tenant: 'default', queue: 'crowded', priority: 5 }]
  const found = await engine.claim({ requestId: crypto.randomUUID(), workerId: 'w', lanes, limit })
  expect(found).toHaveLength(limit)
  return found
}

describe.each(STORES)('many who speak about one job at once, on %s', (name) => {
  async function processes() {
    const place = await PLACES[name]()
    const one = await openAt(place)
    // Memory is one process by nature; elsewhere they have nothing in common but the store.
    const others = name === 'memory' ? [] : [await openAt(place), await openAt(place)]
    const all = [one, ...others]
    return {
      one,
      all,
      of: (n: number) => all[n % all.length] as Pawl,
      [Symbol.asyncDispose]: async () => {
        for (const pawl of all) await pawl.close()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  it('are all heard: a hundred signals', async () => {
    await using fixture = await processes()
    const { one, of } = fixture
    const { id } = await one.enqueue(work, 1)
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => of(n).engine.settle([signal(id, n)])))
    expect(new Set(told(answers))).toEqual(new Set(['ok']))
    expect(new Set((await one.get(id))?.inbox.map(({ name: each }) => each)).size).toBe(100)
    expect((await one.verify()).discrepancies).toEqual([])
  })

  it('are all heard: a cancel and the owner among signals, again and again', async () => {
    await using fixture = await processes()
    const { one, of } = fixture
    for (let round = 0; round < scaled(5, 100); round += 1) {
      const { id } = await one.enqueue(work, 1)
      const [assignment] = await claimed(one)
      const fence = assignment?.fence ?? ''
      const words: readonly Word[] = [
        ...Array.from({ length: 10 }, (_, n) => signal(id, n)),
        { id, command: { type: 'cancel', mode: 'soft', actor: 'ann', requestId: 'cancel' } },
        ...Array.from({ length: 10 }, (_, n) => signal(id, n + 10)),
        { id, command: { type: 'start', fence, actor: 'worker:w', requestId: `${fence}/start` } },
      ]
      const answers = await Promise.all(words.map((word, n) => of(n).engine.settle([word])))
      expect(told(answers)).toEqual(words.map(() => 'ok'))
      expect(await one.get(id)).toMatchObject({ state: 'running', signals: 20, cancel: { by: 'ann' } })
      await of(round).engine.settle([
        { id, command: { type: 'complete', fence, actor: 'worker:w', requestId: `${fence}/complete` } },
      ])
    }
    expect((await one.verify()).discrepancies).toEqual([])
  })

  it('are all heard: forty children that end together', async () => {
    await using fixture = await processes()
    const { one, of } = fixture
    const [parent] = (await one.enqueueMany(work, [1])).map(({ id }) => id)
    const requests = Array.from({ length: 40 }, (_, n) => ({
      actor: 'producer',
      kind: { tenant: 'default', queue: 'crowded', type: 'work', policy: work.policy },
      priority: 5,
      input: String(n),
      parentId: parent,
    }))
    await one.engine.enqueue(requests)
    const all = await claimed(one, 41)
    const children = all.filter(({ job }) => job.id !== parent)
    const [owned] = all.filter(({ job }) => job.id === parent)
    const own = { fence: owned?.fence ?? '', actor: 'worker:w' }
    const key = children[0]?.job.id
    await one.engine.settle([
      { id: parent ?? '', command: { ...own, type: 'start', requestId: 'start' } },
      { id: parent ?? '', command: { ...own, type: 'wait', name: CHILD_ENDED, key, requestId: 'wait' } },
    ])
    const ends = children.map(({ job, fence }, n) =>
      of(n).engine.settle([
        { id: job.id, command: { type: 'complete', fence, actor: 'worker:w', requestId: `${fence}/complete` } },
      ]),
    )
    expect(new Set(told(await Promise.all(ends)))).toEqual(new Set(['ok']))
    await eventually('all forty to be told', async () => (await one.get(parent ?? ''))?.signals === 40)
    expect(await one.get(parent ?? '')).toMatchObject({ state: 'queued' })
    expect((await one.get(parent ?? ''))?.inbox).toHaveLength(39)
    expect((await one.verify()).discrepancies).toEqual([])
  })
})

describe.each(STORES)('a handler that says several things at once, on %s', (name) => {
  it('is heard, and so is everybody else on its worker', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const hasty = defineJob({
      type: 'hasty',
      run: async (_: unknown, ctx) => {
        await Promise.all([1, 2, 3].map((n) => ctx.checkpoint(n)))
        return Promise.all(['a', 'b', 'a'].map((step) => ctx.step(step, () => step)))
      },
    })
    const calm = defineJob({ type: 'calm', run: (n: number) => n })
    await using _worker = pawl.work([hasty, calm], { concurrency: 8 })
    const hasties = await pawl.enqueueMany(hasty, [1, 2, 3, 4])
    const calms = await pawl.enqueueMany(calm, [1, 2, 3, 4])
    for (const job of hasties) {
      expect(await job.result()).toEqual(['a', 'b', 'a'])
      expect(await pawl.body(job.id, 'checkpoint')).toBe(3)
    }
    expect(await Promise.all(calms.map((job) => job.result()))).toEqual([1, 2, 3, 4])
    expect((await pawl.verify()).discrepancies).toEqual([])
  })
})

describe('the turn to speak about a job', () => {
  it('is taken by whoever comes first; all who come meanwhile speak together', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const { id } = await fixture.enqueue()
    between.calls.commit = 0
    between.calls.load = 0
    const words = Array.from({ length: 60 }, (_, n) => fixture.word(id, { type: 'signal', name: `s${n}` }))
    const answers = await Promise.all(words.map((word) => fixture.engine.settle([word])))
    expect(new Set(told(answers))).toEqual(new Set(['ok']))
    expect(between.calls).toMatchObject({ load: 2, commit: 2 })
    expect((await fixture.job(id)).inbox.map(({ name }) => name)).toEqual(words.map((_, n) => `s${n}`))
  })

  it('is not asked for by an owner who meets nobody', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const { job, fence } = await fixture.running()
    between.calls.load = 0
    between.calls.commit = 0
    const checkpoint = { type: 'progress', fence, counters: { n: 1 } } as const
    await Promise.all([1, 2].map(() => fixture.must(job.id, checkpoint)))
    expect((await fixture.job(job.id)).counters).toEqual({ n: 2 })
  })

  it('goes on to the next when whoever had it failed, and they may fail or not', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const { id } = await fixture.enqueue()
    between.losing = 1
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map((n) => fixture.engine.settle([fixture.word(id, { type: 'signal', name: `s${n}` })])),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect((await fixture.job(id)).signals).toBe(3)
    between.losing = 2
    const again = await Promise.allSettled(
      [4, 5, 6].map((n) => fixture.engine.settle([fixture.word(id, { type: 'signal', name: `s${n}` })])),
    )
    expect(again.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect((await fixture.must(id, { type: 'cancel', mode: 'soft' })).state).toBe('cancelled')
  })

  it('has a line of bounded length, and nobody waits in it for ever', async () => {
    let nowMs = 0
    const spoken: number[] = []
    let heard = () => {}
    const speak = (words: readonly Word[]) => {
      spoken.push(words.length)
      return new Promise<readonly Answer[]>((resolve) => {
        heard = () => resolve(words.map(({ id }) => ({ ok: true, jobId: id }) as Answer))
      })
    }
    const turns = new Turns({ speak, monotonicMs: () => nowMs })
    expect([turns.take('pj_1'), turns.take('pj_1'), turns.isTaken('pj_1'), turns.isTaken('pj_2')]).toEqual([
      true,
      false,
      true,
      false,
    ])
    const early = turns.lineUp('pj_1', [signal('pj_1', 1)])
    const long = turns.lineUp(
      'pj_1',
      Array.from({ length: 9_999 }, (_, n) => signal('pj_1', n)),
    )
    expect(told([await turns.lineUp('pj_1', [signal('pj_1', 1)])])).toEqual(['OVERLOADED'])
    nowMs = 5_001
    const late = turns.lineUp('pj_1', [signal('pj_1', 1)])
    turns.pass('pj_1')
    expect(new Set(told([await early, await long, await late]))).toEqual(new Set(['OVERLOADED']))
    expect(turns.take('pj_1')).toBe(false)
    const patient = turns.lineUp('pj_1', [signal('pj_1', 1)])
    await eventually('nobody to speak for those who left', () => spoken.length === 1)
    heard()
    await eventually('the last in line to speak', () => spoken.length === 2)
    heard()
    expect(told([await patient])).toEqual(['ok'])
    await eventually('the turn to be free', () => !turns.isTaken('pj_1'))
  })
})
