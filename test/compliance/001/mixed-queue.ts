/** Document 001: its jobs in a queue that others have jobs in, and workers that know only those. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { log } from '../../../src/core/dialects/history.ts'
import { defineJob, defineSpec, implementJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { contractOn, strict } from './contract.ts'

export function mixedQueue(stage: () => Stage): void {
  const { actor } = contractOn(stage)

  it('001:61 001:64 a worker that does not know the type is never given the job: it could not hand it back', async () => {
    const each = actor()
    const other = defineSpec({ type: fresh('other'), queue: each.queue })
    const crawl = defineSpec({ type: fresh('crawl'), queue: each.queue, dialect: '004' })
    const { pawl } = each
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1)
      for (const spec of [other, each.spec, crawl]) ids.push((await pawl.enqueue(spec, { n })).id)
    const stranger = pawl.work([implementJob(other, () => 'other')], { id: 'stranger', poll: 20 })
    await each.until(ids[0] ?? '', 'succeeded')
    const done = { [each.spec.type]: 'bound', [crawl.type]: 'crawled' }
    const known = [each.spec, crawl].map((spec) => implementJob(spec, () => done[spec.type]))
    await using _worker = pawl.work(known, { id: 'knows', poll: 20 })
    for (const id of ids) await each.until(id, 'succeeded')
    await stranger.stop()
    for (const id of ids) {
      const { spec } = await each.job(id)
      const { dialect } = spec.kind.policy
      const events = await each.events(id)
      const claims = events.filter(({ type }) => type === 'claimed')
      expect(claims.map(({ actor: by }) => by)).toEqual([`worker:${dialect === undefined ? 'stranger' : 'knows'}`])
      if (dialect === undefined) continue
      expect(events.filter(({ type }) => type !== 'heartbeat').map(({ type }) => type)).toEqual([
        ...['enqueued', 'claimed', 'started', 'succeeded'],
      ])
      expect(deriveDialect(dialect, log(events, dialect)).violations).toEqual([])
    }
  })

  it('001:86 001:87 001:90 a worker of both kinds says start, and each revision, for the jobs that want it', async () => {
    const each = actor()
    const other = defineSpec({ type: fresh('other'), queue: each.queue })
    const { pawl } = each
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push((await pawl.enqueue(n % 2 === 0 ? other : each.spec, { n })).id)
    const gate = Promise.withResolvers<void>()
    let begun = 0
    const run = async () => {
      begun += 1
      await gate.promise
    }
    const jobs = [other, each.spec].map((spec) => implementJob(spec, run))
    const worker = pawl.work(jobs, { concurrency: 2, poll: 20 })
    await eventually('two of them have begun', () => begun === 2)
    // Nothing is held beyond what runs: of two lanes none says which types it gives.
    expect(worker.held).toBe(2)
    gate.resolve()
    for (const id of ids) await each.until(id, 'succeeded')
    await worker.stop()
    for (const id of ids) {
      const { spec, attempt } = await each.job(id)
      expect(attempt).toBe(1)
      if (spec.kind.type === other.type) continue
      expect(deriveDialect('001', await each.log(id)).violations).toEqual([])
      expect((await each.log(id)).filter(({ type }) => type === 'started')).toHaveLength(1)
    }
  })
}

/** In virtual time, in which handlers take no longer than they are told: what a worker holds does not depend on the machine. */
export function mixedQueueInVirtualTime(): void {
  it('001:61 a job bound by who enqueued it is begun, not left to its lease, by a worker that goes away', async () => {
    const idle = defineJob({ type: fresh('idle'), queue: fresh('queue'), run: () => undefined })
    await using testing = await openTesting([idle])
    const { pawl } = testing
    const bound = defineSpec({ ...strict, type: fresh('type'), queue: fresh('queue') })
    // The worker's own definition is bound to nothing: what it holds it may only know by the job.
    const loose = defineSpec({ type: bound.type, queue: bound.queue })
    const gate = Promise.withResolvers<void>()
    const job = implementJob(loose, (input) => (input === 'busy' ? gate.promise : 'done'))
    const worker = pawl.work([job], { concurrency: 1 })
    // A worker holds what it will begin soon, once it has seen how fast that goes.
    for (const { id } of await pawl.enqueueMany(loose, new Array(4).fill('quick')))
      await testing.waitForState(id, 'succeeded')
    await pawl.enqueue(loose, 'busy')
    await eventually('it is busy', () => worker.running === 1)
    const ids = (await pawl.enqueueMany(bound, new Array(5).fill('bound'))).map(({ id }) => id)
    await eventually('it holds some that it has not begun', () => worker.held > worker.running)
    const stopped = worker.stop({ drain: '20s' })
    gate.resolve()
    await stopped
    const states = await Promise.all(ids.map(async (id) => (await pawl.get(id))?.state))
    expect(states.filter((state) => state !== 'queued' && state !== 'succeeded')).toEqual([])
    expect(states).toContain('succeeded')
  })
}
