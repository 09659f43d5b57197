/** Document 001: repetitions. */
import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { contractOn, SHORT } from './contract.ts'

export function requestId(stage: () => Stage): void {
  const { actor, contract, at, operations, NAMES, judged, codeOf } = contractOn(stage)

  it.each(NAMES)('001:90 %s without a request_id is refused', async (name) => {
    const each = actor()
    const from = name === 'start' || name === 'stall' ? 'claimed' : 'running'
    const held = await at[from](each)
    expect(await codeOf(operations[name](held, { requestId: '' }))).toBe('INVALID')
    expect(await each.job(held.job.id)).toEqual(held.job)
    expect(judged(held.job, name, held.job, { request_id: undefined })).toContainEqual(
      expect.objectContaining({ field: 'request_id', level: 'MUST' }),
    )
  })

  it.each(NAMES)('001:91 001:101 %s again, same request_id: success, and nothing changes', async (name) => {
    const each = actor(name === 'requeueStalled' || name === 'stall' ? SHORT : {})
    const from = name === 'start' || name === 'stall' ? 'claimed' : name === 'requeueStalled' ? 'stalled' : 'running'
    const held = await at[from](each)
    const requestId = fresh('once')
    const first = await eventually(name, () => operations[name](held, { requestId }))
    const events = await each.events(held.job.id)
    const again = await operations[name](held, { requestId })
    expect(again).toEqual({ job: first.job, replayed: true })
    expect(await each.events(held.job.id)).toEqual(events)
    expect(judged(first.job, name, again.job, { idempotent_retry: true })).toEqual([])
  })

  it('001:91 claimNext again, same request_id: the same claim, no extra attempt', async () => {
    const each = actor()
    await each.enqueue()
    await each.enqueue()
    const requestId = fresh('claim')
    const first = await each.claim('w1', requestId)
    const again = await each.claim('w1', requestId)
    expect(again).toMatchObject({ fence: first?.fence, job: { id: first?.job.id, attempt: 1, rev: first?.job.rev } })
  })

  it('001:91 enqueue again, same request_id: the same record', async () => {
    const each = actor()
    const requestId = fresh('enqueue')
    const first = await contract().enqueue({ kind: each.spec, input: 1, requestId })
    const again = await contract().enqueue({ kind: each.spec, input: 1, requestId })
    expect(again).toMatchObject({ replayed: true, job: { id: first.job.id, rev: first.job.rev } })
  })

  it('001:91 a request_id that meant something else is no repetition', async () => {
    const each = actor()
    const held = await at.running(each)
    const requestId = fresh('reused')
    const beaten = await operations.complete(held, { requestId })
    expect(await codeOf(operations.complete({ ...held, job: beaten.job }, { requestId, result: 43 }))).toBe(
      'REQUEST_ID_REUSED',
    )
  })

  it.each(['complete', 'fail'] as const)(
    '001:92 %s again under another id, same outcome: no duplicate terminal write',
    async (name) => {
      const each = actor()
      const held = await at.running(each)
      const first = await operations[name](held)
      const again = await operations[name]({ ...held, job: first.job })
      expect(again).toEqual({ job: first.job, replayed: true })
    },
  )
}
