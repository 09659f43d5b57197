/** However many workers a process has: one thread keeps the leases of a store. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker as Thread } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { idText } from '../../src/core/id.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { silentLog } from '../../src/system/log.ts'
import { machineMs } from '../../src/system/machine-clock.ts'
import { keepBy } from '../../src/worker/keeper-thread.ts'
import { Keeping } from '../../src/worker/keeping.ts'
import { LeaseTable } from '../../src/worker/lease-table.ts'
import { PLACES, STORES } from '../engine/opened.ts'
import { eventually } from '../support/eventually.ts'
import { standStill } from '../support/stand-still.ts'
import { openWorkerFixture } from './worker-fixture.ts'

/** Keepers that this process starts from now on, and has not seen the end of; SQLite has threads of its own besides. */
function countKeepers(): { readonly started: () => number; readonly alive: () => number } {
  const alive = new Set<Thread>()
  let started = 0
  const seen = (thread: Thread) => {
    if (thread.threadName !== 'pawl-keeper') return
    started += 1
    alive.add(thread)
    thread.once('exit', () => alive.delete(thread))
  }
  process.on('worker', seen)
  onTestFinished(() => void process.off('worker', seen))
  return { started: () => started, alive: () => alive.size }
}

const WORKERS = 25

describe.each(STORES.filter((store) => store !== 'memory'))('twenty-five workers on %s', (store) => {
  it('share a keeper, and none of them loses a lease while the process does not turn', async () => {
    await using place = await PLACES[store]()
    const count = countKeepers()
    await using pawl = await open(place.url, { migrate: true, log: 'silent' })
    let begun = 0
    const slow = defineJob({
      type: 'slow',
      lease: 1_500,
      heartbeat: 500,
      async run(_: undefined, ctx) {
        begun += 1
        await blocked.promise
        return ctx.attempt
      },
    })
    const blocked = Promise.withResolvers<void>()
    const workers = Array.from({ length: WORKERS }, () => pawl.work([slow], { concurrency: 1, prefetch: 0 }))
    await eventually('all to be kept by the thread', () => workers.every(({ keeper }) => keeper === 'thread'))
    expect(count.started()).toBe(1)
    const jobs = await pawl.enqueueMany(
      slow,
      Array.from({ length: WORKERS }, () => undefined),
    )
    await eventually('all to run', () => begun === WORKERS)
    // Three leases long nothing happens in this thread.
    standStill(4_500)
    blocked.resolve()
    for (const job of jobs) expect(await job.result({ timeout: '20s' })).toBe(1)
    await Promise.all(workers.map((worker) => worker.stop()))
    await eventually('the thread to end with the last of them', () => count.alive() === 0)
  })

  it('end with the last of them, and begin again with the next', async () => {
    await using place = await PLACES[store]()
    const count = countKeepers()
    await using pawl = await open(place.url, { migrate: true, log: 'silent' })
    const idle = defineJob({ type: 'idle', run: () => {} })
    for (let round = 0; round < 2; round += 1) {
      await using first = pawl.work([idle])
      await using second = pawl.work([idle])
      await eventually('both to be kept', () => first.keeper === 'thread' && second.keeper === 'thread')
      await first.stop()
      expect(second.keeper).toBe('thread')
    }
    await eventually('no keeper to be left', () => count.alive() === 0)
    expect(count.started()).toBe(2)
  })
})

it('a thread that cannot open its store says why, and the next worker gets another', async () => {
  const count = countKeepers()
  const address = {
    entry: new URL('../../src/keeper.ts', import.meta.url),
    store: { url: 'nowhere://at/all' },
  }
  for (let n = 1; n <= 2; n += 1) {
    const gone = Promise.withResolvers<string>()
    const listener = { ready: () => {}, tell: () => {}, gone: gone.resolve }
    keepBy(address, { memory: new SharedArrayBuffer(1_024), onBlocked: 'keep', aloud: true }, listener)
    expect(await gone.promise).toMatch(/no store is known/)
    expect(count.started()).toBe(n)
  }
})

it('a thread opens its store when the first heartbeat is due, and says why where it cannot', async () => {
  const address = { entry: new URL('../../src/keeper.ts', import.meta.url), store: { url: 'nowhere://of/long/leases' } }
  const memory = new SharedArrayBuffer(LeaseTable.bytes(10))
  const table = new LeaseTable(memory)
  table.scanEveryMs = 1_000
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<string>()
  const listener = { ready: ready.resolve, tell: () => {}, gone: gone.resolve }
  keepBy(address, { memory, onBlocked: 'keep', aloud: false }, listener)
  await ready.promise
  const windowMs = 31_000
  table.add({
    id: idText(1),
    generation: 0,
    attempt: 1,
    fence: '0.1.4aa64f0ea6bcdb98',
    expiresMs: machineMs() + windowMs / 10,
    windowMs,
    beatEveryMs: 10_000,
    limitMs: 60_000,
  })
  expect(await gone.promise).toMatch(/no store is known/)
})

it('a thread that is gone, because its store was away, is started again; until then the loop keeps leases', async () => {
  await using fixture = openWorkerFixture()
  const { time } = fixture
  const folder = mkdtempSync(join(tmpdir(), 'pawl-keeper-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const there = join(folder, 'there')
  const lines: unknown[] = []
  const keeping = new Keeping({
    engine: fixture.engine,
    timers: time,
    log: { ...silentLog, error: (message) => void lines.push(message) },
    nowMs: () => time.monotonicMs(),
    capacity: 10,
    onBlocked: 'keep',
    thread: { entry: new URL('./keeper-away.ts', import.meta.url), store: { url: there } },
    tell: () => {},
  })
  await eventually('it to be gone', () => lines.length === 1)
  expect(keeping.where).toBe('main')
  await time.advance(30_000)
  writeFileSync(there, '')
  await eventually('it to be ready', async () => {
    await time.advance(1_000)
    return keeping.where === 'thread'
  })
  expect(lines).toHaveLength(1)
  await keeping.stop()
})
