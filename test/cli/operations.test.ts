/** What is done to many on a store of its own, where nobody runs but the command line itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { folder, json, pawl } from './pawl.ts'

const home = folder()
const env = { PAWL_URL: home.at('jobs.db'), USER: 'ann' }
const run = (...words: readonly string[]) => pawl(words, { env })
const told = <T = Record<string, unknown>>(...words: readonly string[]) => json<T>(words, { env })

const spec = defineJob({ type: 'mail.send', queue: 'mail', async run() {} })

beforeAll(async () => {
  await using store = await open(env.PAWL_URL, { ticker: false, retention: false })
  for (const [n, tenant] of ['default', 'default', 'rival'].entries()) {
    const { id } = await store.enqueue(spec, { n }, { tenant, labels: { n: String(n) } })
    const stamp = { actor: 'a', requestId: 'r' }
    await store.engine.settle([{ id, command: { type: 'deadLetter', reason: 'timeout', stage: 'exec', ...stamp } }])
  }
  for (const n of [1, 2]) await store.enqueue(spec, { n }, { delay: '1h', labels: { campaign: 'spring' } })
})
afterAll(() => home[Symbol.dispose]())

describe('pawl operations', () => {
  it('redrives with another input, of every tenant, and shows what was done', async () => {
    const done = await told<{ operations: string[] }>('dead', 'redrive', '--patch', '{"more":1}', '--yes')
    expect(done).toMatchObject({ matched: 3, reopened: 3, refused: [], counts: [{ count: 2 }, { count: 1 }] })
    expect(done.operations).toHaveLength(2)
    const [id = ''] = done.operations
    expect(await told('operations', 'show', id)).toMatchObject({
      id,
      action: 'redrive',
      by: 'cli:ann',
      state: 'succeeded',
      isEdited: true,
      report: { matched: 2, done: 2 },
    })
    expect((await run('operations', 'show', id)).stdout).toContain('2 of 2 done, 0 refused; asked for by cli:ann.')
    const { operations } = await told<{ operations: object[] }>('operations', 'ls')
    expect(operations).toMatchObject([{ dryRun: false }, { dryRun: true }])
    expect((await run('operations', 'ls')).stdout).toContain('redrive (dry run)')
    const { jobs } = await told<{ jobs: { id: string }[] }>('jobs', 'ls', '--state', 'queued', '--label', 'n=1')
    expect(await told('jobs', 'show', jobs[0]?.id ?? '')).toMatchObject({ input: { n: 1, more: 1 } })
  })

  it('cancels what matches, and purges what has ended', async () => {
    const cancelled = await told('jobs', 'cancel', '--query', 'label.campaign:spring', '--reason', 'over', '--yes')
    expect(cancelled).toMatchObject({ matched: 2, cancelled: 2 })
    const { jobs } = await told<{ jobs: { id: string }[] }>('jobs', 'ls', '--state', 'cancelled')
    expect(await told('jobs', 'show', jobs[0]?.id ?? '')).toMatchObject({ cancel: { by: 'cli:ann', reason: 'over' } })
    expect(await told('jobs', 'purge', '--state', 'cancelled', '--dry-run')).toMatchObject({ matched: 2, purged: 0 })
    expect(await told('jobs', 'purge', '--state', 'cancelled', '--yes')).toMatchObject({ matched: 2, purged: 2 })
    expect((await run('jobs', 'ls', '--state', 'cancelled')).stdout).toContain('No jobs match.')
  })

  it('says what is wrong', async () => {
    const bad = await run('jobs', 'cancel', '--query', 'stat:queued', '--yes')
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('Did you mean state:queued?')])
    expect((await run('jobs', 'purge', '--yes')).stderr).toContain('is empty')
    expect((await run('jobs', 'purge', '--state', 'cancled', '--yes')).stderr).toContain('Did you mean cancelled?')
    expect((await run('operations', 'show', 'pj_zz')).code).toBe(3)
    expect((await run('operations', 'cancel', 'pj_zz')).code).toBe(3)
    expect((await run('dlq', 'redrive', '--queue', 'a b,c', '--yes')).code).toBe(2)
  })
})
