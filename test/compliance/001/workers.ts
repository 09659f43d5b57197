/** Document 001: the worker of the library, held to the contract. */
import { expect, it } from 'vitest'
import { validateJob } from '../../../src/core/contract/validate-job.ts'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { PermanentError } from '../../../src/core/thrown.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import type { Stage } from '../stage.ts'
import { contractOn } from './contract.ts'

export function workers(stage: () => Stage): void {
  const { actor, at } = contractOn(stage)

  it('001:87 001:91 the library’s own worker speaks the contract: results, errors, steps and progress', async () => {
    const each = actor()
    const job = implementJob(each.spec, async (input, ctx) => {
      ctx.count('pages', 2)
      const doubled = await ctx.step('double', () => (input as { n: number }).n * 2)
      await ctx.checkpoint({ doubled })
      if (doubled > 10) throw new PermanentError('too much', { code: 'E_MUCH' })
      return doubled
    })
    await using _ = each.pawl.work([job])
    const good = await each.enqueue({}, { n: 3 })
    const bad = await each.enqueue({}, { n: 30 })
    expect(await each.pawl.result(good.id, { timeout: '15s' })).toBe(6)
    await each.until(bad.id, 'failed')
    for (const { id } of [good, bad]) {
      expect(validateJob(await each.view(id))).toEqual([])
      expect(deriveDialect('001', await each.log(id)).violations).toEqual([])
    }
    expect((await each.job(bad.id)).attempt).toBe(1)
    expect(await each.view(bad.id)).toMatchObject({ status: 'failed', error: { code: 'E_MUCH' } })
  })

  it('001:86 a worker keeps its lease while it speaks, and every word is about the revision it says', async () => {
    const each = actor({ leaseMs: 20_000, heartbeatMs: 50, missedHeartbeats: 300 })
    const beats = async (id: string) => (await each.log(id)).filter(({ type }) => type === 'heartbeat').length
    const job = implementJob(each.spec, async (_, ctx) => {
      for (let n = 0; (await beats(ctx.job.id)) < 3; n += 1) await ctx.step(`step-${n}`, () => n)
      return 'done'
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'succeeded')
    const entries = await each.log(id)
    expect(entries.filter(({ type }) => type === 'started')).toHaveLength(1)
    expect(deriveDialect('001', entries).violations).toEqual([])
  })

  it('001:32 a worker that dies: stalled, requeued and worked again by another (lease shortened)', async () => {
    const each = actor({ leaseMs: 1_500, heartbeatMs: 300 })
    const { job } = await at.claimed(each)
    // Nobody reaps on this stage: this one does, as the ticker of another process.
    const reaper = await stage().another({ ticker: { everyMs: 20 } })
    const survivor = implementJob(each.spec, () => 'done')
    await using _ = each.pawl.work([survivor], { poll: 20 })
    await each.until(job.id, 'succeeded')
    await reaper.close()
    const types = (await each.log(job.id)).map(({ type }) => type)
    expect(types.filter((type) => type !== 'heartbeat')).toEqual([
      ...['enqueued', 'claimed', 'stalled', 'requeued', 'claimed', 'started', 'succeeded'],
    ])
  })
}
