import { describe, expect, it } from 'vitest'
import { CHILD_ENDED } from '../../src/core/child.ts'
import { children } from '../../src/engine/children.ts'
import type { LocalEngine } from '../../src/engine/local.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { Bench, kindOf } from './bench.ts'
import { Between } from './between.ts'

const watcher = (engine: LocalEngine, batch = 10) => children({ engine, timers: realTimers, log: silentLog }, { batch })

/** A parent that waits for its child, which somebody runs. */
async function family(bench: Bench) {
  const parent = await bench.running({ kind: kindOf({}, 'parents') })
  const child = await bench.running({ parentId: parent.job.id })
  await bench.must(parent.job.id, { type: 'wait', fence: parent.fence, name: CHILD_ENDED, key: child.job.id })
  return { parent: parent.job.id, child }
}

describe('the end of a child', () => {
  it('wakes the parent that waits for it, whichever way it ended', async () => {
    const bench = new Bench()
    const { parent, child } = await family(bench)
    expect((await bench.job(parent)).state).toBe('parked')
    await bench.must(child.job.id, { type: 'complete', fence: child.fence })
    await eventually('the parent to wake', async () => (await bench.job(parent)).state === 'queued')
    const [loaded] = (await bench.store.load([{ id: parent, bodies: ['step/'] }])).items
    expect(loaded?.bodies).toEqual({ [`step/${CHILD_ENDED}`]: '{"signal":1}' })
  })

  it('is told by the ticker too', async () => {
    const bench = new Bench()
    const { parent, child } = await family(bench)
    await bench.must(child.job.id, { type: 'cancel', mode: 'soft' })
    bench.clock.advance(60_000)
    await bench.engine.tick(10)
    await eventually('the parent to wake', async () => (await bench.job(parent)).state === 'queued')
  })

  it('is kept where the parent does not wait for it yet', async () => {
    const bench = new Bench()
    const parent = await bench.enqueue({ kind: kindOf({}, 'parents') })
    const child = await bench.running({ parentId: parent.id })
    await bench.must(child.job.id, { type: 'complete', fence: child.fence })
    await eventually('the signal to be kept', async () => (await bench.job(parent.id)).inbox.length === 1)
    expect((await bench.job(parent.id)).inbox).toMatchObject([{ name: CHILD_ENDED, key: child.job.id }])
  })

  it('is found out by looking when the process that ended it died before telling', async () => {
    const between = new Between()
    const bench = new Bench({ between: (store) => between.wrap(store) })
    const { parent, child } = await family(bench)
    // The child's own commit passes, and its answer is lost: nobody is left to tell the parent.
    between.losing = 1
    await expect(bench.say(child.job.id, { type: 'complete', fence: child.fence })).rejects.toThrow('connection lost')
    expect((await bench.job(child.job.id)).state).toBe('succeeded')
    expect((await bench.job(parent)).state).toBe('parked')
    await watcher(bench.another()).runOnce()
    expect((await bench.job(parent)).state).toBe('queued')
    const log = await bench.log(parent)
    await watcher(bench.another()).runOnce()
    expect(await bench.log(parent)).toEqual(log)
  })

  it('is looked for page by page, whoever else is parked', async () => {
    const between = new Between()
    const bench = new Bench({ between: (store) => between.wrap(store) })
    for (let n = 0; n < 3; n += 1) {
      const { job, fence } = await bench.running()
      await bench.must(job.id, { type: 'wait', fence, name: 'something else' })
    }
    const { parent, child } = await family(bench)
    between.losing = 1
    await expect(bench.say(child.job.id, { type: 'complete', fence: child.fence })).rejects.toThrow('connection lost')
    const service = watcher(bench.another(), 2)
    await service.runOnce()
    expect((await bench.job(parent)).state).toBe('parked')
    await service.runOnce()
    expect((await bench.job(parent)).state).toBe('queued')
  })

  it('does no harm where there is no parent any more', async () => {
    const bench = new Bench()
    const child = await bench.running({ parentId: 'pj_zzz' })
    await bench.must(child.job.id, { type: 'complete', fence: child.fence })
    await bench.engine[Symbol.asyncDispose]()
  })
})
