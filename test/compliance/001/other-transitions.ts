/** Document 001: no transition but its own. */
import { expect, it } from 'vitest'
import { defineSpec } from '../../../src/library/define-job.ts'
import type { Stage } from '../stage.ts'
import { contractOn, FROM, SHORT, STATUSES, strict } from './contract.ts'

/** What each operation leads to, once. */
const REPEATED: Readonly<Record<string, string>> = { start: 'running', complete: 'succeeded', fail: 'failed' }

export function otherTransitions(stage: () => Stage): void {
  const { actor, contract, at, about, stalled, operations, NAMES, codeOf } = contractOn(stage)

  it.each(STATUSES)('001:61 from %s nothing else is allowed', async (status) => {
    const each = actor(status === 'stalled' ? SHORT : {})
    const held = await at[status](each)
    for (const name of NAMES) {
      if (FROM[name]?.includes(status)) continue
      const before = await each.job(held.job.id)
      // The owner's own word again, whose outcome the record shows, is a repetition.
      if (REPEATED[name] === status) {
        expect(await operations[name](held)).toEqual({ job: before, replayed: true })
        continue
      }
      expect([name, await codeOf(operations[name](held))]).toEqual([
        name,
        expect.stringMatching(/^(ILLEGAL_TRANSITION|STALE_FENCE|ENDED|DIALECT_FORBIDS)$/),
      ])
      expect(await each.job(held.job.id)).toEqual(before)
    }
    if (status !== 'queued' && status !== 'stalled') expect(await each.claim('w9')).toBeUndefined()
  })

  it.each(['complete', 'fail'] as const)(
    '001:74 001:76 %s of a claimed job is refused: it has not started',
    async (name) => {
      const each = actor()
      const held = await at.claimed(each)
      const refusal = await operations[name](held).catch((error: Error) => error)
      expect(refusal).toMatchObject({ code: 'DIALECT_FORBIDS', message: expect.stringContaining('Say start first') })
      const { job } = await operations.start(held)
      expect((await operations[name]({ ...held, job })).job.state).toBe(name === 'complete' ? 'succeeded' : 'failed')
    },
  )

  it('001:61 a lost lease never ends it: it is requeued, however often', async () => {
    const each = actor(SHORT)
    const { id } = await each.enqueue()
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      const { job } = await each.claimed()
      expect(job).toMatchObject({ id, attempt })
      const { job: queued } = await contract().requeueStalled(about(await stalled(job)))
      expect(queued.state).toBe('queued')
    }
    const words = (await each.log(id)).map(({ type }) => type)
    expect(words.filter((type) => type === 'claimed')).toHaveLength(6)
    expect(words).not.toContain('failed')
  })

  it.each([
    ['deadline', { deadline: '1h' }],
    ['startWithin', { startWithin: '1h' }],
    ['retry.stalls', { retry: { stalls: 3 } }],
    ['onStall', { onStall: 'retry' }],
    ['admission', { admission: true }],
  ] as const)('001:61 a policy that would need another transition is refused: %s', (field, policy) => {
    expect(() => defineSpec({ type: 't', ...strict, ...policy })).toThrow(
      expect.objectContaining({
        violations: [{ field, rule: expect.stringContaining('document 001 cannot tell it') }],
      }),
    )
  })

  it('001:61 what the document does not have is refused: cancel, release, wait, reopen, dead letters', async () => {
    const each = actor()
    const { job, fence } = await at.running(each)
    const expectedRev = job.rev
    await each.refused(job.id, { type: 'cancel', mode: 'hard', expectedRev }, 'DIALECT_FORBIDS')
    await each.refused(job.id, { type: 'release', fence, reason: 'handed_back', expectedRev }, 'DIALECT_FORBIDS')
    await each.refused(job.id, { type: 'wait', fence, name: 'x', expectedRev }, 'DIALECT_FORBIDS')
    const letter = { type: 'deadLetter', reason: 'timeout', stage: 'exec', expectedRev } as const
    await each.refused(job.id, letter, 'DIALECT_FORBIDS')
    const failed = await at.failed(each)
    await each.refused(failed.job.id, { type: 'reopen', expectedRev: failed.job.rev }, 'DIALECT_FORBIDS')
  })
}
