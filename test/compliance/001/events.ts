/** Document 001: its audit log. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import type { Job } from '../../../src/core/job.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { contractOn, SHORT } from './contract.ts'

export function events(stage: () => Stage): void {
  const { actor, contract, at, about, operations } = contractOn(stage)

  it('001:104 each heartbeat is an entry, whoever sends it and however fast', async () => {
    const each = actor()
    const { job, fence } = await at.claimed(each)
    const beat = async () => {
      const [answer] = await stage().pawl.engine.heartbeat([{ id: job.id, fence, requestId: fresh('beat') }])
      if (answer?.ok !== true) throw new Error('the lease is live')
      return answer.rev
    }
    expect(await beat()).toBe(job.rev + 1)
    expect(await beat()).toBe(job.rev + 2)
    await contract().start({ ...about({ ...job, rev: job.rev + 2 } as Job), fence })
    for (const n of [4, 5, 6]) expect(await beat()).toBe(job.rev + n)
    const entries = await each.log(job.id)
    expect(entries.map(({ type, rev }) => [type, rev])).toEqual([
      ...[
        ['enqueued', 1],
        ['claimed', 2],
        ['heartbeat', 3],
        ['heartbeat', 4],
        ['started', 5],
      ],
      ...[
        ['heartbeat', 6],
        ['heartbeat', 7],
        ['heartbeat', 8],
      ],
    ])
  })

  it('001:104 each transition appends an event with from, to, at, actor and request', async () => {
    const each = actor()
    const { job } = await at.succeeded(each)
    const entries = await each.log(job.id)
    expect(entries.map(({ from_status, to_status }) => [from_status, to_status])).toEqual([
      [undefined, 'queued'],
      ['queued', 'claimed'],
      ['claimed', 'running'],
      ['running', 'succeeded'],
    ])
    for (const entry of entries) {
      const said = { at: expect.stringMatching(/Z$/), actor: expect.any(String), request_id: expect.any(String) }
      expect(entry).toMatchObject(said)
    }
    expect(deriveDialect('001', entries)).toMatchObject({ status: 'succeeded', violations: [] })
  })

  it('001:105 the vocabulary is canonical', async () => {
    const each = actor(SHORT)
    const { job } = await at.stalled(each)
    const queued = await contract().requeueStalled(about(job))
    const claimed = await each.claimed()
    expect(claimed.job.id).toBe(queued.job.id)
    const types = (await each.log(job.id)).map(({ type }) => type)
    expect(types).toEqual(['enqueued', 'claimed', 'stalled', 'requeued', 'claimed'])
    const other = actor()
    const failed = await at.failed(other)
    expect((await other.log(failed.job.id)).map(({ type }) => type)).toEqual([
      'enqueued',
      'claimed',
      'started',
      'failed',
    ])
    const beating = await at.running(other)
    await operations.heartbeat(beating)
    expect((await other.log(beating.job.id)).at(-1)).toMatchObject({ type: 'heartbeat', to_status: 'running' })
  })
}
