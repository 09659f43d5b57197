/** Document 000, part A: the types, fields and indexes of its events. */
import { expect, it } from 'vitest'
import { LONG_LOG } from '../../../src/core/compact.ts'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { log } from '../../../src/core/dialects/history.ts'
import { derive } from '../../../src/core/evolve.ts'
import { retention } from '../../../src/engine/retention.ts'
import { SETTLED_MS } from '../../../src/engine/shortening.ts'
import { silentLog } from '../../../src/system/log.ts'
import { realTimers } from '../../../src/system/timers.ts'
import { EngineFixture, kindOf } from '../../engine/engine-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { fault, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, STATES, strict } from './jobs.ts'

const SCHEMA = ['id', 'job_id', 'type', 'ts', 'actor', 'correlation_id', 'cause', 'payload', 'version']

export function events(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:49 each event has its type', async () => {
    const each = actor()
    const types = async (state: keyof typeof STATES) =>
      (await each.log(await STATES[state](each))).map(({ type }) => type)
    const begun = ['job_claimed', 'job_started', 'job_heartbeat', 'job_lease_renewed']
    expect(await types('succeeded')).toEqual([...begun, 'job_succeeded'])
    expect(await types('failed')).toEqual([...begun, 'job_failed'])
    expect(await types('cancelled')).toEqual([...begun, 'job_cancelled'])
    expect(await types('dead_lettered')).toEqual(['job_dead_lettered'])
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'heartbeat', fence })
    expect((await each.log(job.id)).slice(begun.length).map(({ type }) => type)).toEqual([
      'job_heartbeat',
      'job_lease_renewed',
    ])
  })

  it('000A:50 the minimal schema, nothing missing, and nothing else but where it stands in the log', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'heartbeat', fence })
    await each.must(job.id, { type: 'fail', fence, fault: fault('invalid_url') })
    const entries = await each.log(job.id)
    expect(entries.map(({ type }) => type)).toEqual(expect.arrayContaining(['job_heartbeat', 'job_lease_renewed']))
    for (const entry of entries) {
      const several = entry['moves'] === undefined ? [] : ['move', 'moves']
      expect(Object.keys(entry).sort()).toEqual(['after_rev', 'rev', ...several, ...SCHEMA].sort())
      expect(entry).toMatchObject({ version: 1, actor: expect.any(String), correlation_id: expect.any(String) })
    }
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
  })

  it('000A:51 events are found by job, by type and time, by correlation', async () => {
    const each = actor()
    const correlationId = fresh('correlation')
    const { job, fence } = await each.running({ correlationId })
    await each.must(job.id, { type: 'complete', fence })
    const events = await each.events(job.id)
    const to = (events.at(-1)?.at ?? 0) + 1
    const { pawl } = each
    const byType = await pawl.events({ by: 'type', types: ['succeeded'], from: events[0]?.at ?? 0, to, limit: 500 })
    expect(byType.events.filter(({ jobId }) => jobId === job.id)).toEqual(events.slice(-1))
    const byCorrelation = await pawl.events({ by: 'correlation', correlationId, limit: 500 })
    expect(byCorrelation.events).toEqual(events)
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort((a, b) => a - b))
  })

  it('verbose events do not last on this store: a compacted log keeps its transitions and folds to the same job', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    for (let n = 1; n <= LONG_LOG; n += 1) await each.must(job.id, { type: 'progress', fence, counters: { pages: 1 } })
    await each.must(job.id, { type: 'complete', fence })
    const before = await each.events(job.id)
    await stage().another({ retention: { everyMs: 500, compact: true } })
    // The last moments are left alone, so that no log is shortened earlier, however quick the machine.
    const isShortened = async () => {
      const events = await each.events(job.id)
      return events.some(({ type }) => type === 'compacted') && events
    }
    const after = await eventually('the log to be shortened', isShortened, { withinMs: 3 * SETTLED_MS, everyMs: 200 })
    const moves = (events: typeof before) => events.filter(({ seq }) => seq !== undefined)
    expect(moves(after)).toEqual(moves(before))
    expect(after.length).toBeLessThan(before.length)
    expect((await each.job(job.id)).counters).toEqual({ pages: LONG_LOG })
    expect((await each.pawl.verify({ queues: [each.queue] })).discrepancies).toEqual([])
  })
}

export function eventsInVirtualTime(): void {
  it('000A:51 verbose payloads do not last: a compacted log keeps its transitions and folds to the same job', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running({ kind: kindOf(strict) })
    for (let n = 1; n <= LONG_LOG; n += 1)
      await fixture.must(job.id, { type: 'progress', fence, counters: { pages: 1 } })
    await fixture.must(job.id, { type: 'complete', fence })
    const log = async () => (await fixture.engine.events({ by: 'job', id: job.id, afterRev: 0, limit: 100 })).events
    const before = await log()
    fixture.clock.advance(2 * SETTLED_MS)
    await retention(
      { store: fixture.store, engine: fixture.engine, timers: realTimers, log: silentLog },
      { compact: true },
    ).runOnce()
    const after = await log()
    const moves = (events: typeof before) => events.filter(({ seq }) => seq !== undefined)
    expect(moves(after)).toEqual(moves(before))
    expect(after.filter(({ type }) => type === 'progressed')).toEqual([])
    expect(derive(after).counters).toEqual({ pages: LONG_LOG })
  })

  it('000A:51 verbose payloads have a time to live, by type: then they are gone, and the log is told as before', async () => {
    const fixture = new EngineFixture()
    const day = 24 * 60 * 60 * 1_000
    const kinds = ['verbose', 'brief'].map((type) => ({ ...kindOf(strict), type }))
    const ids: string[] = []
    for (const kind of kinds) {
      const { job, fence } = await fixture.running({ kind, input: '"verbose"' })
      await fixture.must(job.id, { type: 'complete', fence })
      ids.push(job.id)
    }
    const told = async (id: string) => log(await fixture.log(id), '000A')
    const before = await told(ids[0] ?? '')
    const options = { bodiesMs: 2 * day, bodiesMsByType: { brief: day } }
    const service = retention(
      { store: fixture.store, engine: fixture.engine, timers: realTimers, log: silentLog },
      options,
    )
    const kept = async () => {
      await service.runOnce()
      const { items } = await fixture.store.load(ids.map((id) => ({ id, bodies: ['input'] })))
      return items.map((item) => item?.bodies['input'] !== undefined)
    }
    expect(await kept()).toEqual([true, true])
    fixture.clock.advance(day + 1)
    expect(await kept()).toEqual([true, false])
    fixture.clock.advance(day)
    expect(await kept()).toEqual([false, false])
    expect(await told(ids[0] ?? '')).toEqual(before)
    expect(deriveDialect('000A', before).violations).toEqual([])
  })
}
