import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/library/define-job.ts'
import { aesGcm } from '../../src/library/encryption.ts'
import { Invalid, Refused } from '../../src/library/errors.ts'
import { open, openOn } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { realClock } from '../../src/system/clock.ts'
import { openTesting } from '../../src/testing/testing.ts'

const built: unknown[] = []
const report = defineJob({
  type: 'report.build',
  queue: 'reports',
  input: z.object({ month: z.string() }),
  async run(input) {
    built.push(input)
  },
})
const plain = defineJob({ type: 'plain', async run() {} })

describe('schedules in code', () => {
  it('run by the clock, keep what they have done over deploys, and change at once', async () => {
    built.length = 0
    await using testing = await openTesting([report], { now: Date.UTC(2030, 0, 1, 0, 30) })
    const { pawl } = testing
    const define = (cron: string, month: string) => pawl.schedule('hourly', { cron }, report, { month })
    await define('0 * * * *', 'January')
    await testing.advance('2h')
    expect(built).toHaveLength(2)
    const before = await pawl.schedules.get('hourly')
    await define('0 * * * *', 'February')
    expect(await pawl.schedules.get('hourly')).toEqual({ ...before, input: '{"month":"February"}' })
    await testing.advance('1h')
    expect(built.at(-1)).toEqual({ month: 'February' })
    await define('15 4 * * *', 'March')
    expect((await pawl.schedules.next('hourly', 2)).map((at) => at.toISOString())).toEqual([
      '2030-01-01T04:15:00.000Z',
      '2030-01-02T04:15:00.000Z',
    ])
    await testing.advance('1h')
    expect(built).toHaveLength(4)
    const { jobs } = await pawl.find({ labels: { schedule: 'hourly' } })
    expect(jobs.map(({ spec }) => spec.kind.queue)).toEqual(['reports', 'reports', 'reports', 'reports'])
    const log = await pawl.events(jobs.at(0)?.id ?? '')
    expect(log[0]?.actor).toBe('schedule:hourly')
  })

  it('hold their jobs to the limits and turns of their type', async () => {
    const limited = defineJob({
      type: 'limited',
      limit: { key: ({ site }: { site: string }) => site, concurrency: 1 },
      fair: () => 'ann',
      async run() {},
    })
    await using pawl = openOn(openMemoryStore({ clock: realClock }), { ticker: false, retention: false })
    const flowOf = async (name: string) => (await pawl.get(await pawl.schedules.run(name)))?.spec.flow
    await pawl.schedule('by-type', { every: '1h' }, limited, { site: 'shop' })
    expect(await flowOf('by-type')).toEqual({ keys: ['shop'], fair: 'ann' })
    await pawl.schedules.add('by-name', { every: '1h', flow: { keys: ['forum'] } }, 'limited', { site: 'forum' })
    expect(await flowOf('by-name')).toEqual({ keys: ['forum'], fair: undefined })
    expect((await pawl.limits.get('shop'))?.taken).toBe(1)
    const twice = { every: '1h', flow: { keys: ['a', 'a'] } } as const
    await expect(pawl.schedules.add('bad', twice, 'limited')).rejects.toThrow('flow.keys')
  })

  it('that code has no more are named, and removed when asked; those made by hand stay', async () => {
    const store = openMemoryStore({ clock: realClock })
    await using pawl = openOn(store, { ticker: false, retention: false })
    await pawl.schedule('old', { every: '1h' }, plain)
    await pawl.schedule('kept', { every: '1h' }, plain)
    await pawl.schedules.add('mine', { every: '1h' }, 'plain')
    expect(await pawl.schedules.reconcile()).toEqual({ stale: [], removed: false })
    const deployed = openOn(store, { ticker: false, retention: false })
    await deployed.schedule('kept', { every: '1h' }, plain)
    expect(await deployed.schedules.reconcile()).toEqual({ stale: ['old'], removed: false })
    expect(await deployed.schedules.reconcile({ remove: true })).toEqual({ stale: ['old'], removed: true })
    expect((await deployed.schedules.list()).map(({ name }) => name)).toEqual(['kept', 'mine'])
    await expect(pawl.schedule('mine', { every: '1h' }, plain)).rejects.toThrow(/made by hand/)
  })

  it('are refused with all that is wrong about them', async () => {
    await using pawl = await open('memory:', { ticker: false })
    const refused = (work: Promise<unknown>) =>
      work.then(
        () => [],
        (error: Invalid) => error.violations.map(({ field }) => field),
      )
    expect(await refused(pawl.schedule('x', { cron: 'nonsense' }, plain))).toEqual(['cron'])
    expect(await refused(pawl.schedule('x', { cron: '0 0 * * *', timeZone: 'Nowhere' }, plain))).toEqual(['timeZone'])
    expect(await refused(pawl.schedule('x', {}, plain))).toEqual(['cron'])
    expect(await refused(pawl.schedule('x', { every: '1ms' }, plain))).toEqual(['every'])
    expect(await refused(pawl.schedule('x', { every: '1h', timeZone: 'UTC' }, plain))).toEqual(['timeZone'])
    expect(await refused(pawl.schedule('a,b', { every: '1h', cap: 0, jitter: -1 }, plain))).toEqual([
      'name',
      'cap',
      'jitter',
    ])
    expect(
      await refused(pawl.schedule('x', { every: '1h', catchUp: 'some' as never, priority: 'top' as never }, plain)),
    ).toEqual(['priority', 'catchUp'])
    await expect(pawl.schedule('x', { every: '1h' }, report, { month: 7 } as never)).rejects.toThrow(Invalid)
    await expect(pawl.schedules.pause('nowhere')).rejects.toThrow(Refused)
    await expect(pawl.schedules.run('nowhere')).rejects.toThrow(/There is no schedule nowhere/)
  })

  it('have no input where bodies are encrypted: their documents are not', async () => {
    const codec = aesGcm({ current: 'k1', keys: { k1: new Uint8Array(32) } })
    await using pawl = await open('memory:', { ticker: false, codec })
    await expect(pawl.schedule('x', { every: '1h' }, report, { month: 'May' })).rejects.toThrow(/encrypted/)
    expect(await pawl.schedule('x', { every: '1h' }, plain)).toMatchObject({ name: 'x', input: undefined })
  })
})

describe('the desk', () => {
  it('pauses, resumes, runs now and removes', async () => {
    built.length = 0
    await using testing = await openTesting([report], { now: Date.UTC(2030, 0, 1, 0, 30) })
    const { pawl } = testing
    await pawl.schedule('hourly', { every: '1h', paused: true }, report, { month: 'May' })
    await testing.advance('3h')
    expect(built).toEqual([])
    expect(await pawl.schedules.resume('hourly')).toMatchObject({ paused: false, missed: 3 })
    const id = await pawl.schedules.run('hourly')
    await testing.drain()
    expect((await pawl.get(id))?.state).toBe('succeeded')
    expect((await pawl.schedules.pause('hourly')).paused).toBe(true)
    await pawl.schedules.remove('hourly')
    expect(await pawl.schedules.list()).toEqual([])
  })

  it('says that a type is not known yet', async () => {
    await using pawl = await open('memory:', { ticker: false })
    await pawl.schedules.add('mine', { cron: '@daily' }, 'unheard.of')
    await expect(pawl.schedules.run('mine')).rejects.toThrow(/Nobody has announced type unheard.of/)
  })
})
