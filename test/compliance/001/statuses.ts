/** Document 001: its six statuses and their fields. */
import { expect, it } from 'vitest'
import { STATUSES as OURS } from '../../../src/core/contract/rules.ts'
import { validateJob } from '../../../src/core/contract/validate-job.ts'
import { view } from '../../../src/core/dialects/view.ts'
import type { Stage } from '../stage.ts'
import { contractOn, OPERATIONS, SHORT, STATUSES } from './contract.ts'

export function statuses(stage: () => Stage): void {
  const { actor, contract, at, about } = contractOn(stage)
  const recordOf = async (status: (typeof STATUSES)[number]) => {
    const each = actor(status === 'stalled' ? SHORT : {})
    const { job } = await at[status](each)
    return { record: await each.view(job.id) }
  }

  it.each([
    ['001:27', 'queued'],
    ['001:28', 'claimed'],
    ['001:29', 'running'],
    ['001:30', 'succeeded'],
    ['001:31', 'failed'],
    ['001:32', 'stalled'],
  ] as const)('%s %s is what its record says, and the validator has nothing against it', async (_, status) => {
    const { record } = await recordOf(status)
    expect(record).toMatchObject({ status })
    expect(validateJob(record)).toEqual([])
  })

  it.each([
    ['001:36', 'queued', 'owner', 'MUST be absent'],
    ['001:37', 'queued', 'lease', 'MUST be absent'],
    ['001:38', 'queued', 'result', 'MUST be absent'],
    ['001:38', 'queued', 'error', 'MUST be absent'],
    ['001:40', 'claimed', 'owner', 'MUST be present'],
    ['001:41', 'claimed', 'lease', 'MUST be present'],
    ['001:42', 'claimed', 'result', 'MUST be absent'],
    ['001:42', 'claimed', 'error', 'MUST be absent'],
    ['001:44', 'running', 'owner', 'MUST be present'],
    ['001:45', 'running', 'lease', 'MUST be present'],
    ['001:46', 'running', 'result', 'MUST be absent'],
    ['001:46', 'running', 'error', 'MUST be absent'],
    ['001:48', 'succeeded', 'result', 'MUST be present'],
    ['001:49', 'succeeded', 'error', 'MUST be absent'],
    ['001:50', 'succeeded', 'owner', 'SHOULD be absent'],
    ['001:50', 'succeeded', 'lease', 'SHOULD be absent'],
    ['001:52', 'failed', 'error', 'MUST be present'],
    ['001:53', 'failed', 'result', 'MUST be absent'],
    ['001:54', 'failed', 'owner', 'SHOULD be absent'],
    ['001:54', 'failed', 'lease', 'SHOULD be absent'],
    ['001:56', 'stalled', 'owner', 'MUST be absent'],
    ['001:57', 'stalled', 'lease', 'MUST be absent'],
    ['001:58', 'stalled', 'result', 'MUST be absent'],
    ['001:58', 'stalled', 'error', 'MUST be absent'],
  ] as const)('%s while %s, %s %s', async (_, status, field, demand) => {
    const { record } = await recordOf(status)
    const [level, , presence] = demand.split(' ')
    expect(Object.hasOwn(record, field)).toBe(presence === 'present')
    const broken = { ...record, [field]: presence === 'present' ? undefined : ANY[field] }
    expect(validateJob(broken)).toMatchObject([{ field, level }])
  })

  it.each([[42], ['text'], [{ deep: [1, null, { a: true }] }], [null], [undefined]])(
    '001:30 001:48 result is the result itself: %j',
    async (result) => {
      const each = actor()
      const { job, fence } = await at.running(each)
      await contract().complete({ ...about(job), fence, result })
      expect((await each.view(job.id))['result']).toEqual(result ?? null)
    },
  )

  it('001:30 001:48 of a large result there is a pointer, and so where payloads are not read', async () => {
    const each = actor()
    const { job, fence } = await at.running(each)
    await contract().complete({ ...about(job), fence, result: 'x'.repeat(100_000) })
    expect((await each.view(job.id))['result']).toBe(`pawl:/jobs/${job.id}/output`)
    const small = await at.succeeded(actor())
    expect(view(small.job, '001')['result']).toBe(`pawl:/jobs/${small.job.id}/output`)
  })

  it('001:27 a queued job is eligible to be claimed; 001:28 a claimed one belongs to one worker', async () => {
    const each = actor()
    const { job } = await at.queued(each)
    expect((await each.claim('w1'))?.job.id).toBe(job.id)
    expect(await each.claim('w2')).toBeUndefined()
  })

  it('001:23 there are the six statuses of the document and no others', () => {
    expect([...OURS].sort()).toEqual([...STATUSES].sort())
  })

  it('001:24 there are the eight operations of the document and no others', () => {
    expect(Object.keys(contract()).sort()).toEqual([...OPERATIONS].sort())
  })
}

/** Any value of a field that must not be there. */
const ANY = {
  owner: { worker_id: 'w9' },
  lease: { expires_at: '2026-01-01T00:00:00.000Z' },
  result: 1,
  error: { message: 'no' },
}
