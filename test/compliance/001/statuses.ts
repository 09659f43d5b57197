/** Document 001: its six statuses and their fields. */
import { expect, it } from 'vitest'
import { ACTIONS, STATUSES } from '../../../src/core/contract/rules.ts'
import { validateJob } from '../../../src/core/contract/validate-job.ts'
import { view } from '../../../src/core/dialects/view.ts'
import type { Stage } from '../stage.ts'
import { contractOn, SHORT } from './contract.ts'

export function statuses(stage: () => Stage): void {
  const { actor, contract, at, about } = contractOn(stage)

  it.each([
    ['001:27 001:35–38', 'queued'],
    ['001:28 001:39–42', 'claimed'],
    ['001:29 001:43–46', 'running'],
    ['001:30 001:47–50', 'succeeded'],
    ['001:31 001:51–54', 'failed'],
    ['001:32 001:55–58', 'stalled'],
  ] as const)('%s %s has the fields it must have, and none that it must not', async (_, status) => {
    const each = actor(status === 'stalled' ? SHORT : {})
    const { job } = await at[status](each)
    const record = await each.view(job.id)
    expect(record).toMatchObject({ status })
    expect(validateJob(record)).toEqual([])
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

  it('001:23 the six statuses and the operations of the contract', () => {
    expect([...STATUSES]).toEqual(['queued', 'claimed', 'running', 'succeeded', 'failed', 'stalled'])
    expect(Object.keys(contract()).sort()).toEqual([...ACTIONS].sort())
  })
}
