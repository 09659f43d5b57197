import { describe, expect, it } from 'vitest'
import { definition, openWorkerFixture } from './worker-fixture.ts'

describe('a job bound to document 001', () => {
  it('is told the revision with every word, heartbeats in between', async () => {
    await using fixture = openWorkerFixture()
    const strict = definition(
      async (_, ctx) => {
        await ctx.step('first', () => 1)
        ctx.progress({ done: 1 })
        await fixture.time.sleep(200_000)
        await ctx.checkpoint({ half: true })
        await fixture.time.sleep(200_000)
        ctx.count('seen')
        return 'done'
      },
      { dialect: '001', lease: '1m', heartbeat: '10s', timeout: '1h' },
    )
    const id = await fixture.enqueue(strict)
    fixture.work([strict])
    await fixture.time.advance(500_000)
    expect(fixture.lines.filter(({ level }) => level === 'warn')).toEqual([])
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1, stalls: 0, counters: { seen: 1 } })
  })

  it('fails once and for all', async () => {
    await using fixture = openWorkerFixture()
    const strict = definition(
      () => {
        throw new Error('no')
      },
      { dialect: '001' },
    )
    const id = await fixture.enqueue(strict)
    fixture.work([strict])
    await fixture.time.advance(1_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'failed', error: { code: 'Error' } })
  })

  it('cannot wait: that is a fault of its handler', async () => {
    await using fixture = openWorkerFixture()
    const strict = definition((_, ctx) => ctx.waitFor('x'), { dialect: '001' })
    const id = await fixture.enqueue(strict)
    fixture.work([strict])
    await fixture.time.advance(1_000)
    expect(await fixture.load(id)).toMatchObject({
      state: 'failed',
      error: { code: 'DIALECT_FORBIDS', stage: 'commit' },
    })
  })

  it.each(['000A', '000B', '001', '002', '003', '004'] as const)(
    'like one of %s, ends where its input is unreadable',
    async (dialect) => {
      await using fixture = openWorkerFixture()
      const {
        tenant = 'default',
        queue,
        type,
        policy,
      } = definition(() => {}, { dialect, lease: '60s', heartbeat: '20s' })
      const job = { ...definition(() => {}), policy }
      const kind = { tenant, queue, type, policy }
      const [answer] = await fixture.engine.enqueue([{ actor: 'test', kind, priority: 5, input: '{' }])
      if (answer?.ok === true && answer.job.state === 'pending')
        await fixture.engine.settle([{ id: answer.job.id, command: ADMIT }])
      fixture.work([job])
      await fixture.time.advance(1_000)
      const found = await fixture.load(answer?.ok === true ? answer.job.id : '')
      expect(['failed', 'dead_lettered']).toContain(found.state)
      expect(found.error).toMatchObject({ code: 'parse_error', stage: 'input' })
    },
  )
})

const ADMIT = { type: 'admit', rule: 'all', policyHash: 'p1', actor: 'scheduler', requestId: 'admit' } as const
