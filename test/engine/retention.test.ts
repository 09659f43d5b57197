import { describe, expect, it } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import type { Word } from '../../src/engine/engine.ts'
import { retention } from '../../src/engine/retention.ts'
import { RETENTION_DEFAULTS } from '../../src/engine/retention-options.ts'
import { type OpenOptions, open, openOn } from '../../src/open.ts'
import type { Store } from '../../src/store/store.ts'
import { silentLog } from '../../src/system/log.ts'
import type { Service } from '../../src/system/service.ts'
import { realTimers } from '../../src/system/timers.ts'
import { Between } from './between.ts'
import { EngineFixture } from './engine-fixture.ts'

/** What retention asks of its store. */
interface Asked {
  events: number
  finds: number
  removed: number
  shortened: number
}

function watched(): {
  readonly fixture: EngineFixture
  readonly asked: Asked
  readonly service: (options?: object) => Service
} {
  const fixture = new EngineFixture()
  const asked: Asked = { events: 0, finds: 0, removed: 0, shortened: 0 }
  const store: Store = {
    ...new Between().wrap(fixture.store),
    async events(query) {
      expect(['job', 'tally', 'keys'], 'it looks at the logs of single jobs only').toContain(query.by)
      const page = await fixture.store.events(query)
      asked.events += page.events.length
      return page
    },
    find(query) {
      asked.finds += 1
      return fixture.store.find(query)
    },
    commit(changes) {
      for (const { kind } of changes) asked[kind === 'purge' ? 'removed' : 'shortened'] += 1
      return fixture.store.commit(changes)
    },
  }
  const service = (options = {}) =>
    retention({ store, engine: fixture.engine, timers: realTimers, log: silentLog }, options)
  return { fixture, asked, service }
}

/** Ended, with so many words of progress said in one breath. */
async function talkative(fixture: EngineFixture, events: number): Promise<Job> {
  const { job, fence } = await fixture.running()
  const words = Array.from({ length: events }, (_, n): Word => {
    const command = { type: 'progress', fence, counters: { n: 1 }, actor: 'worker:w', requestId: `p${n}` } as const
    return { id: job.id, command }
  })
  expect((await fixture.engine.settle(words)).every(({ ok }) => ok)).toBe(true)
  await fixture.must(job.id, { type: 'complete', fence })
  return job
}

describe('a round of retention', () => {
  it('reads so many events of long logs and no more; the next one goes on, and none is read twice', async () => {
    const { fixture, asked, service } = watched()
    const [jobs, each] = [70, 1_000]
    for (let n = 0; n < jobs; n += 1) await talkative(fixture, each)
    fixture.clock.advance(60_000)
    const shortening = service()
    await shortening.runOnce()
    expect(asked.events).toBeGreaterThanOrEqual(50_000)
    expect(asked.events).toBeLessThan(60_000)
    expect(asked.shortened).toBeLessThan(jobs)
    await shortening.runOnce()
    expect(asked.shortened).toBe(jobs)
    expect(asked.events).toBe(jobs * (each + 4))
    await shortening.runOnce()
    expect(asked.events, 'nothing is looked at again').toBe(jobs * (each + 4))
  })

  it('finds nothing to do in three questions, however long the logs of those that go on are', async () => {
    const { fixture, asked, service } = watched()
    const { job, fence } = await fixture.running()
    for (let n = 0; n < 50; n += 1) await fixture.must(job.id, { type: 'progress', fence, counters: { n: 1 } })
    for (let n = 0; n < 50; n += 1) await fixture.enqueue()
    fixture.clock.advance(60_000)
    await service().runOnce()
    expect(asked).toEqual({ events: 0, finds: 3, removed: 0, shortened: 0 })
  })

  it('removes so many and no more, and comes back soon for the rest', async () => {
    const { fixture, asked, service } = watched()
    for (let n = 0; n < 130; n += 1) await fixture.must((await fixture.enqueue()).id, { type: 'cancel', mode: 'soft' })
    fixture.clock.advance(RETENTION_DEFAULTS.endedMs + 1)
    const removing = service({ batch: 5 })
    await removing.runOnce()
    expect(asked.removed).toBe(100)
    await removing.runOnce()
    expect(asked.removed).toBe(130)
  })
})

describe('settings of retention', () => {
  it.each([
    [{ bodiesMs: '7d' }, 'retention.bodiesMs must be a duration'],
    [{ succeededMs: -1 }, 'retention.succeededMs must be a duration'],
    [{ endedMs: Number.NaN }, 'retention.endedMs must be a duration'],
    [{ everyMs: 0 }, 'retention.everyMs must be a whole number'],
    [{ batch: 1.5 }, 'retention.batch must be a whole number'],
    [{ compact: 'no' }, 'retention.compact must be true or false'],
    [{ verboseMsByType: { mail: -1 } }, 'retention.verboseMsByType.mail must be a duration'],
    [{ bodiesMsByType: 7 }, 'retention.bodiesMsByType must be an object'],
    [{ bodiesEvenOf: 'failed' }, 'retention.bodiesEvenOf must be a list'],
    [{ bodiesEvenOf: ['failed', 'succeeded'] }, 'retention.bodiesEvenOf[1] must be one of'],
    [{ bodyMs: 7 }, 'retention.bodyMs is none of'],
  ])('%o is refused before anything is opened', async (retention, said) => {
    const asked = { retention } as OpenOptions
    await expect(open('file-in/a/folder/that/is/not/there.db', asked)).rejects.toThrow(said)
    expect(() => openOn(new EngineFixture().store, asked)).toThrow(said)
  })
})
