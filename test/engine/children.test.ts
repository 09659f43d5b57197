import { describe, expect, it } from 'vitest'
import { CHILD_ENDED } from '../../src/core/child.ts'
import { decide } from '../../src/core/decide.ts'
import { children } from '../../src/engine/children.ts'
import type { Engine, Word } from '../../src/engine/engine.ts'
import { defineJob, defineSpec } from '../../src/index.ts'
import { openStore } from '../../src/open-store.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { Between } from './between.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const watcher = (engine: Engine, batch = 10) => children({ engine, timers: realTimers, log: silentLog }, { batch })

/** A parent that waits for its child, which somebody runs. */
async function family(fixture: EngineFixture) {
  const parent = await fixture.running({ kind: kindOf({}, 'parents') })
  const child = await fixture.running({ parentId: parent.job.id })
  await fixture.must(parent.job.id, { type: 'wait', fence: parent.fence, name: CHILD_ENDED, key: child.job.id })
  return { parent: parent.job.id, child }
}

describe('the end of a child', () => {
  it('wakes the parent that waits for it, whichever way it ended', async () => {
    const fixture = new EngineFixture()
    const { parent, child } = await family(fixture)
    expect((await fixture.job(parent)).state).toBe('parked')
    await fixture.must(child.job.id, { type: 'complete', fence: child.fence })
    await eventually('the parent to wake', async () => (await fixture.job(parent)).state === 'queued')
    const [loaded] = (await fixture.store.load([{ id: parent, bodies: ['step/'] }])).items
    expect(loaded?.bodies).toEqual({ [`step/${CHILD_ENDED}`]: '{"signal":1}' })
  })

  it('is told by the ticker too', async () => {
    const fixture = new EngineFixture()
    const { parent, child } = await family(fixture)
    await fixture.must(child.job.id, { type: 'cancel', mode: 'soft' })
    fixture.clock.advance(60_000)
    await fixture.engine.tick(10)
    await eventually('the parent to wake', async () => (await fixture.job(parent)).state === 'queued')
  })

  it('is kept where the parent does not wait for it yet', async () => {
    const fixture = new EngineFixture()
    const parent = await fixture.enqueue({ kind: kindOf({}, 'parents') })
    const child = await fixture.running({ parentId: parent.id })
    await fixture.must(child.job.id, { type: 'complete', fence: child.fence })
    await eventually('the signal to be kept', async () => (await fixture.job(parent.id)).inbox.length === 1)
    expect((await fixture.job(parent.id)).inbox).toMatchObject([{ name: CHILD_ENDED, key: child.job.id }])
  })

  it('is found out by looking when the process that ended it died before telling', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const { parent, child } = await family(fixture)
    // The child's own commit passes, and its answer is lost: nobody is left to tell the parent.
    between.losing = 1
    await expect(fixture.say(child.job.id, { type: 'complete', fence: child.fence })).rejects.toThrow('connection lost')
    expect((await fixture.job(child.job.id)).state).toBe('succeeded')
    expect((await fixture.job(parent)).state).toBe('parked')
    await watcher(fixture.another()).runOnce()
    expect((await fixture.job(parent)).state).toBe('queued')
    const log = await fixture.log(parent)
    await watcher(fixture.another()).runOnce()
    expect(await fixture.log(parent)).toEqual(log)
  })

  it('is looked for page by page, whoever else is parked', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    for (let n = 0; n < 3; n += 1) {
      const { job, fence } = await fixture.running()
      await fixture.must(job.id, { type: 'wait', fence, name: 'something else' })
    }
    const { parent, child } = await family(fixture)
    between.losing = 1
    await expect(fixture.say(child.job.id, { type: 'complete', fence: child.fence })).rejects.toThrow('connection lost')
    const service = watcher(fixture.another(), 2)
    await service.runOnce()
    expect((await fixture.job(parent)).state).toBe('parked')
    await service.runOnce()
    expect((await fixture.job(parent)).state).toBe('queued')
  })

  it('is told at once to a parent that begins to wait long after it', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const parent = await fixture.running({ kind: kindOf({}, 'parents') })
    const child = await fixture.running({ parentId: parent.job.id })
    between.losing = 1
    await expect(fixture.say(child.job.id, { type: 'complete', fence: child.fence })).rejects.toThrow('connection lost')
    expect((await fixture.job(parent.job.id)).inbox).toEqual([])
    await fixture.must(parent.job.id, { type: 'wait', fence: parent.fence, name: CHILD_ENDED, key: child.job.id })
    await eventually('the parent to wake', async () => (await fixture.job(parent.job.id)).state === 'queued')
  })

  it('is told again where the store was away, or others spoke to the parent for too long', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const { parent, child } = await family(fixture)
    // After the child's own commit comes the one that tells its parent.
    between.beforeCommit = () => {
      between.beforeCommit = () => {
        throw new Error('connection lost')
      }
    }
    await fixture.must(child.job.id, { type: 'complete', fence: child.fence })
    await eventually('the first try to fail', () => between.beforeCommit === undefined)
    expect((await fixture.job(parent)).state).toBe('parked')
    await eventually('the parent to wake', async () => (await fixture.job(parent)).state === 'queued')
  })

  it('is not told again once the engine is closed', async () => {
    const between = new Between()
    const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
    const { child } = await family(fixture)
    between.beforeCommit = () => {
      between.beforeCommit = () => {
        throw new Error('connection lost')
      }
    }
    await fixture.must(child.job.id, { type: 'complete', fence: child.fence })
    await fixture.engine[Symbol.asyncDispose]()
    const commits = between.calls.commit
    await new Promise((resolve) => setImmediate(resolve))
    expect(between.calls.commit).toBe(commits)
  })

  it('does no harm where there is no parent any more', async () => {
    const fixture = new EngineFixture()
    const child = await fixture.running({ parentId: 'pj_zzz' })
    await fixture.must(child.job.id, { type: 'complete', fence: child.fence })
    await fixture.engine[Symbol.asyncDispose]()
  })
})

const member = defineSpec({ type: 'member', queue: 'family' })

describe.each(STORES.filter((store) => store !== 'memory'))('the end of a child, on %s', (name) => {
  it('is found by another process where the one that wrote it died at once', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    const { engine } = pawl
    const kind = { tenant: 'default', queue: 'family', type: 'member', policy: member.policy }
    const enqueue = async (parentId?: string) => {
      await engine.enqueue([{ actor: 'producer', kind, priority: 5, input: '1', parentId }])
      const lanes = [{ tenant: 'default', queue: 'family', priority: 5 }]
      const [owned] = await engine.claim({ requestId: crypto.randomUUID(), workerId: 'w', lanes, limit: 1 })
      if (owned === undefined) throw new Error('nothing was claimed')
      return owned
    }
    const parent = await enqueue()
    const child = await enqueue(parent.job.id)
    const own = { fence: parent.fence, actor: 'worker:w' }
    const wait: Word['command'] = { ...own, type: 'wait', name: CHILD_ENDED, key: child.job.id, requestId: 'wait' }
    await engine.settle([
      { id: parent.job.id, command: { ...own, type: 'start', requestId: 'start' } },
      { id: parent.job.id, command: wait },
    ])
    // What a process leaves behind that was killed between the commit and the next thing it would have done.
    const { store: died } = await openStore(place.url)
    const { now, items } = await died.load([{ id: child.job.id }])
    const before = items[0]?.job
    if (before === undefined) throw new Error('the child is gone')
    const word = { type: 'complete', fence: child.fence, actor: 'worker:w', requestId: 'complete' } as const
    const end = decide(before, word, now)
    if (end.kind !== 'accepted') throw new Error('the child cannot end')
    const nothing = { bodies: [], notAfter: undefined, give: [], take: [], spawn: undefined }
    await died.commit([{ kind: 'move', before, after: end.job, events: end.events, ...nothing }])
    await died.close()
    expect(await pawl.get(parent.job.id)).toMatchObject({ state: 'parked' })
    await watcher(engine).runOnce()
    expect(await pawl.get(parent.job.id)).toMatchObject({ state: 'queued' })
    expect((await pawl.verify()).discrepancies).toEqual([])
  })
})

describe('the end of a child in a transaction', () => {
  it('is told when that is committed, and not when it is rolled back', async () => {
    await using place = await PLACES.postgres()
    await using pawl = await openAt(place)
    const tries: string[] = []
    const child = defineJob({
      type: 'child',
      retry: { attempts: 2, base: '1h', max: '1h' },
      run: (_: unknown, ctx) => ctx.tx(async () => 'done'),
    })
    const doomed = defineJob({
      type: 'doomed',
      retry: { attempts: 2, base: '1h', max: '1h' },
      run: async (_: unknown, ctx) => {
        await ctx.tx(async (tx) => {
          // Checked at the commit, which is after the child has said that it is done.
          await tx.query('create table once (n int, constraint one unique (n) deferrable initially deferred)', [])
          await tx.query('insert into once values (1), (1)', [])
          tries.push('once')
          return 'done'
        })
      },
    })
    const parent = defineJob({
      type: 'parent',
      run: async (_: unknown, ctx) => {
        const lost = await ctx.spawn(doomed, 1)
        const kept = await ctx.spawn(child, 1)
        await ctx.waitFor(CHILD_ENDED, { key: kept })
        return lost
      },
    })
    await using _worker = pawl.work([parent, child, doomed], { concurrency: 3 })
    const family = await pawl.enqueue(parent, 1)
    const lost = await family.result()
    await eventually('the doomed one to have tried', () => tries.length > 0)
    await eventually('it to wait for its next try', async () => (await pawl.get(String(lost)))?.state === 'retrying')
    const log = await pawl.events(family.id)
    // By their numbers: one that came before its parent waited is in the log when it is kept, and again when it is heard.
    const ends = new Map(
      log.flatMap((event) =>
        event.type === 'signalled' || event.type === 'signal_stored'
          ? [[event.payload.signal.n, event.payload.signal.key]]
          : [],
      ),
    )
    expect([...ends.values()]).not.toContain(lost)
    expect(ends.size).toBe(1)
  })
})
