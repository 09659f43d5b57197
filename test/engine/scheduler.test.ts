import { Cron } from 'croner'
import { describe, expect, it, vi } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import type { Definition } from '../../src/core/schedule.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { JobTypes } from '../../src/engine/job-types.ts'
import { scheduler } from '../../src/engine/scheduler.ts'
import { Schedules } from '../../src/engine/schedules.ts'
import { linesTo, silentLog } from '../../src/system/log.ts'
import type { Service } from '../../src/system/service.ts'
import { realTimers } from '../../src/system/timers.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

const MINUTE = 60_000
const TENANT = kindOf().tenant

const definition = (over: Partial<Definition> = {}): Definition => ({
  name: 'minutely',
  timing: { cron: '* * * * *', timeZone: 'Europe/Berlin' },
  catchUp: 'skip',
  cap: 100,
  jitterMs: 0,
  type: kindOf().type,
  queue: undefined,
  priority: 5,
  input: '{"n":1}',
  source: 'code',
  ...over,
})

const schedulerOn = (engine: Pick<Engine, 'settings' | 'now' | 'enqueue'>, log = silentLog): Service =>
  scheduler({ engine, timers: realTimers, log })

/** Dies after the job was enqueued, before the schedule has moved on. */
const dying = (engine: Engine): Pick<Engine, 'settings' | 'now' | 'enqueue'> => ({
  now: () => engine.now(),
  enqueue: (requests) => engine.enqueue(requests),
  settings: (operations) =>
    operations.some(({ op }) => op === 'put') ? Promise.reject(new Error('killed')) : engine.settings(operations),
})

/** At a full minute, with a type that somebody has announced. */
async function benchWith(over: Partial<Definition> = {}): Promise<EngineFixture> {
  const bench = new EngineFixture()
  bench.clock.advance(MINUTE - (bench.clock.now() % MINUTE))
  await bench.engine.load([])
  await new JobTypes(bench.engine).announce([kindOf()])
  await new Schedules(bench.engine).define(TENANT, definition(over))
  return bench
}

async function jobs(bench: EngineFixture): Promise<readonly Job[]> {
  const found: Job[] = []
  let cursor: string | undefined
  do {
    const page = await bench.store.find({ order: 'oldest', limit: 500, cursor })
    found.push(...page.jobs)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

const slotOf = ({ runAt }: Job): number => runAt ?? 0

const scheduleOf = (bench: EngineFixture, name = 'minutely') => new Schedules(bench.engine).find(TENANT, name)

describe('schedulers', () => {
  it('make one job of each slot: eight of them, that are killed and started anew, for a day', async () => {
    const bench = await benchWith()
    const begin = bench.clock.now()
    let state = 7
    const dice = (sides: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return (state >>> 16) % sides
    }
    const engines = Array.from({ length: 8 }, () => bench.another())
    for (let minute = 0; minute < 1_440; minute += 1) {
      bench.clock.advance(MINUTE)
      const rounds = engines.map((engine, i) => {
        if (dice(50) === 0) engines[i] = bench.another()
        return dice(5) === 0 ? undefined : schedulerOn(dice(8) === 0 ? dying(engine) : engine).runOnce()
      })
      await Promise.all(rounds)
    }
    bench.clock.advance(1)
    await schedulerOn(bench.engine).runOnce()
    const slots = (await jobs(bench)).map(slotOf)
    expect(slots).toHaveLength(1_440)
    expect(new Set(slots).size).toBe(1_440)
    expect(slots.every((slot) => slot % MINUTE === 0 && slot > begin)).toBe(true)
    expect(await scheduleOf(bench)).toMatchObject({ missed: 0, last: begin + 1_440 * MINUTE })
  })

  it('label the jobs, keep their input, and run them within the jitter', async () => {
    const bench = await benchWith({ jitterMs: 30_000 })
    bench.clock.advance(MINUTE)
    const slot = bench.clock.now()
    await schedulerOn(bench.engine).runOnce()
    const [job] = await jobs(bench)
    expect(job?.spec).toMatchObject({ labels: { schedule: 'minutely' } })
    expect(slotOf(job as Job)).toBeGreaterThanOrEqual(slot)
    expect(slotOf(job as Job)).toBeLessThan(slot + 30_000)
    const { items } = await bench.store.load([{ id: (job as Job).id, bodies: ['input'] }])
    expect(items[0]?.bodies['input']).toBe('{"n":1}')
  })

  it.each([
    ['skip', 1, 59],
    ['latest', 2, 58],
    ['all', 11, 49],
  ] as const)('after an hour away: %s makes %i jobs and misses %i', async (catchUp, made, missed) => {
    const bench = await benchWith({ catchUp, cap: 10 })
    bench.clock.advance(60 * MINUTE + 1)
    await schedulerOn(bench.engine).runOnce()
    expect(await jobs(bench)).toHaveLength(made)
    expect(await scheduleOf(bench)).toMatchObject({ missed })
  })

  it('make nothing while paused, and nothing of a schedule that was removed; an edit holds at once', async () => {
    const bench = await benchWith()
    const schedules = new Schedules(bench.engine)
    await schedules.setPaused(TENANT, 'minutely', true)
    bench.clock.advance(5 * MINUTE)
    await schedulerOn(bench.engine).runOnce()
    expect(await scheduleOf(bench)).toMatchObject({ missed: 5 })
    await schedules.setPaused(TENANT, 'minutely', false)
    await schedules.define(TENANT, definition({ timing: { everyMs: 60 * MINUTE, anchor: 0 } }))
    bench.clock.advance(5 * MINUTE)
    await schedulerOn(bench.engine).runOnce()
    await schedules.define(TENANT, definition())
    expect(await schedules.remove(TENANT, 'minutely')).toBe(true)
    bench.clock.advance(5 * MINUTE)
    await schedulerOn(bench.engine).runOnce()
    expect(await jobs(bench)).toEqual([])
    expect(await schedules.remove(TENANT, 'minutely')).toBe(false)
    expect(await schedules.setPaused(TENANT, 'minutely', true)).toBeUndefined()
  })

  it('do not run an instant again under its name, whatever it has become', async () => {
    const bench = await benchWith()
    bench.clock.advance(MINUTE)
    await schedulerOn(dying(bench.engine)).runOnce()
    expect(await jobs(bench)).toHaveLength(1)
    const schedules = new Schedules(bench.engine)
    const there = await scheduleOf(bench)
    await schedules.define(TENANT, definition({ input: '{"n":2}' }))
    expect((await scheduleOf(bench))?.next).toBe(there?.next)
    await schedulerOn(bench.engine).runOnce()
    expect(await jobs(bench)).toHaveLength(1)
    expect((await scheduleOf(bench))?.next).toBe(bench.clock.now() + MINUTE)
  })

  it('look after many, page by page', async () => {
    const bench = await benchWith()
    const schedules = new Schedules(bench.engine)
    for (let n = 0; n < 501; n += 1) await schedules.define(TENANT, definition({ name: `s${n}` }))
    bench.clock.advance(MINUTE)
    await schedulerOn(bench.engine).runOnce()
    expect(await jobs(bench)).toHaveLength(502)
    expect(await schedules.all(TENANT)).toHaveLength(502)
    expect(await schedules.count(TENANT, 100)).toBeGreaterThanOrEqual(100)
    const page = await schedules.page(TENANT, 'minutely', 2)
    expect(page.schedules.map(({ name }) => name)).toEqual(['s0', 's1'])
    expect(page.cursor).toBe('s1')
  })
})

describe('slots that cannot become jobs', () => {
  it('wait for a type that nobody has announced, and lose no slot of those that are made up for', async () => {
    const bench = await benchWith({ type: 'unheard.of', catchUp: 'all' })
    const lines: string[] = []
    bench.clock.advance(2 * MINUTE)
    await schedulerOn(
      bench.engine,
      linesTo(
        (line) => lines.push(line),
        () => 0,
      ),
    ).runOnce()
    expect(JSON.stringify(lines)).toContain('Nobody has announced type unheard.of')
    expect(await jobs(bench)).toEqual([])
    await new JobTypes(bench.engine).announce([{ ...kindOf(), type: 'unheard.of' }])
    bench.clock.advance(10 * MINUTE)
    await schedulerOn(bench.another()).runOnce()
    expect(await jobs(bench)).toHaveLength(12)
  })

  it('do not walk through the slots of a type that nobody has announced', async () => {
    const timing = { cron: '* * * * * *', timeZone: 'UTC' }
    const bench = await benchWith({ type: 'unheard.of', catchUp: 'all', cap: 10_000, timing })
    bench.clock.advance(60 * MINUTE)
    const walked = vi.spyOn(Cron.prototype, 'nextRun')
    await schedulerOn(bench.engine).runOnce()
    expect(walked.mock.calls.length).toBe(0)
    walked.mockRestore()
    expect(await scheduleOf(bench)).toMatchObject({ missed: 0 })
  })

  it('give up a slot whose job no store takes, and say so', async () => {
    const bench = await benchWith({ input: '"x"' })
    const lines: string[] = []
    const refusing = {
      now: () => bench.engine.now(),
      settings: (operations: Parameters<Engine['settings']>[0]) => bench.engine.settings(operations),
      enqueue: (requests: Parameters<Engine['enqueue']>[0]) =>
        bench.engine.enqueue(requests.map((request) => ({ ...request, priority: 77 as never }))),
    }
    bench.clock.advance(MINUTE)
    await schedulerOn(
      refusing,
      linesTo(
        (line) => lines.push(line),
        () => 0,
      ),
    ).runOnce()
    expect(lines.join('')).toContain('INVALID')
    expect(await scheduleOf(bench)).toMatchObject({ missed: 1, last: undefined })
  })
})
