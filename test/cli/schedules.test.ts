/** `pawl schedules …` on a store of its own. */
import { afterAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { folder, json, pawl } from './pawl.ts'

const home = folder()
const env = { PAWL_URL: home.at('jobs.db'), USER: 'ann' }
const run = (...words: readonly string[]) => pawl(['schedules', ...words], { env })
const told = <T = Record<string, unknown>>(...words: readonly string[]) => json<T>(['schedules', ...words], { env })

afterAll(() => home[Symbol.dispose]())

describe('pawl schedules', () => {
  it('makes, shows, stops, runs and removes', async () => {
    {
      await using store = await open(env.PAWL_URL, { ticker: false, retention: false })
      await store.schedule('in-code', { every: '1h' }, defineJob({ type: 'report', queue: 'reports', async run() {} }))
    }
    const made = await run(
      'add',
      'nightly',
      'report',
      '--cron',
      '30 2 * * *',
      '--time-zone',
      'Europe/Berlin',
      '-p',
      'n:=1',
      '--limit-key',
      'site',
      '--fair',
      'ann',
    )
    expect(made.code).toBe(0)
    expect(made.stdout + made.stderr).toContain('30 2 * * * Europe/Berlin, next 20')
    const { schedules } = await told<{ schedules: readonly Record<string, unknown>[] }>('ls')
    expect(schedules).toMatchObject([
      { name: 'in-code', source: 'code', everyMs: 3_600_000 },
      { name: 'nightly', source: 'hand', input: { n: 1 }, flow: { keys: ['site'], fair: 'ann' }, paused: false },
    ])
    expect((await told<{ next: readonly string[] }>('next', 'nightly', '-n', '3')).next).toHaveLength(3)
    expect(await told('pause', 'nightly')).toEqual({ schedule: 'nightly', paused: true })
    expect(await told('resume', 'nightly')).toEqual({ schedule: 'nightly', resumed: true })
    expect(await told('run', 'nightly')).toMatchObject({ id: expect.stringMatching(/^pj_/) })
    expect(await told('rm', 'nightly')).toEqual({ schedule: 'nightly', removed: true })
    expect((await run('rm', 'nightly')).code).toBe(3)
    expect((await run('add', 'x', 'report', '--every', '1h', '--catch-up', 'latst')).stderr).toContain(
      'Did you mean latest?',
    )
    expect((await run('add', 'x', 'report')).stderr).toContain('either cron, or every')
  })
})
