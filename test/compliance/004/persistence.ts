/** Document 004: its log, and what a job has made. */
import { expect, it } from 'vitest'
import { retention } from '../../../src/engine/retention.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import { silentLog } from '../../../src/system/log.ts'
import { realTimers } from '../../../src/system/timers.ts'
import { EngineFixture, kindOf } from '../../engine/engine-fixture.ts'
import { fault } from '../actor.ts'
import { disorder } from '../order.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SOON } from './jobs.ts'

export function persistence(stage: () => Stage): void {
  const { actor } = jobsOn(stage)

  it('004:74 the event log is append-only', async () => {
    const each = actor({ retry: SOON })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
    const before = await each.events(job.id)
    const again = await each.begin(await each.claimed())
    await each.must(job.id, { type: 'complete', fence: again.fence })
    const after = await each.events(job.id)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(disorder(after)).toEqual([])
  })

  it('004:78 what a job that succeeded has made is stored, and can be read', async () => {
    const each = actor()
    const documents = [{ url: 'https://example.org', text: 'hello' }]
    const job = implementJob(each.spec, async (_, ctx) => {
      await ctx.artifact('documents', 's3://bucket/documents.jsonl')
      return { documents }
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    expect(await each.pawl.result(id, { timeout: '15s' })).toEqual({ documents })
    expect((await each.job(id)).artifacts).toEqual({ documents: 's3://bucket/documents.jsonl' })
  })
}

export function persistenceInVirtualTime(): void {
  it.each([
    ['nobody has asked for retention', {}, [true, false]],
    ['somebody has asked for it', { succeededMs: 86_400_000, compact: true }, [false, false]],
  ] as const)('004:74 its log is kept whole while %s', async (_, options, kept) => {
    const fixture = new EngineFixture()
    const ids: string[] = []
    for (const kind of [kindOf({ dialect: '004' }), kindOf()]) {
      const { job, fence } = await fixture.running({ kind })
      for (let n = 0; n < 3; n += 1) await fixture.must(job.id, { type: 'progress', fence, counters: { n } })
      await fixture.must(job.id, { type: 'complete', fence })
      ids.push(job.id)
    }
    const before = await fixture.engine.events({ by: 'job', id: String(ids[0]), afterRev: 0, limit: 100 })
    fixture.clock.advance(40 * 86_400_000)
    const service = retention(
      { store: fixture.store, engine: fixture.engine, timers: realTimers, log: silentLog },
      options,
    )
    await service.runOnce()
    const found = (await fixture.store.load(ids.map((id) => ({ id })))).items
    expect(found.map((item) => item !== undefined)).toEqual(kept)
    const after = await fixture.engine.events({ by: 'job', id: String(ids[0]), afterRev: 0, limit: 100 })
    if (kept[0]) expect(after.events).toEqual(before.events)
  })
}
