/** Document 000, part A: claims that come together. */
import { expect, it } from 'vitest'
import { type Actor, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, ENDED, STATES } from './jobs.ts'

export function concurrency(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:54 a claim returned once is returned again to whoever repeats it', async () => {
    const each = actor()
    await each.enqueue()
    const requestId = fresh('claim')
    const first = await each.claim('w1', requestId)
    const again = await each.claim('w1', requestId)
    expect(again?.fence).toBe(first?.fence)
    expect(again?.job).toEqual(first?.job)
    expect((await each.job(first?.job.id ?? '')).attempt).toBe(1)
  })

  it('000A:54 only what is queued is claimed', async () => {
    const each = actor()
    for (const state of ['assigned', 'running', ...ENDED] as const) await STATES[state](each)
    expect(await each.claim()).toBeUndefined()
  })

  it('000A:55 64 concurrent claimers of one job: one has it', async () => {
    const each = actor()
    const claims = await claimers(stage(), each, 1)
    expect(claims).toHaveLength(1)
  })

  it('000A:55 000A:63 64 concurrent claimers of 200 jobs: zero double claims', async () => {
    const each = actor()
    const claims = await claimers(stage(), each, 200)
    expect(claims).toHaveLength(200)
    expect(new Set(claims.map(({ id }) => id)).size).toBe(200)
    expect(new Set(claims.map(({ fence }) => fence)).size).toBe(200)
    for (const { id } of claims) expect((await each.job(id)).attempt).toBe(1)
  })
}

/** Who has claimed what, from four engines, 16 claimers in each, until nobody finds anything. */
async function claimers(stage: Stage, actor: Actor, jobs: number): Promise<readonly { id: string; fence: string }[]> {
  await actor.pawl.enqueueMany(
    actor.spec,
    Array.from({ length: jobs }, (_, n) => n),
  )
  const pawls = [actor.pawl, ...(await Promise.all([1, 2, 3].map(() => stage.another())))]
  const claimer = async (n: number) => {
    const mine: { id: string; fence: string }[] = []
    for (;;) {
      const found = await actor.claim(`w${n}`, fresh('claim'), pawls[n % pawls.length])
      if (found === undefined) return mine
      mine.push({ id: found.job.id, fence: found.fence })
    }
  }
  return (await Promise.all(Array.from({ length: 64 }, (_, n) => claimer(n)))).flat()
}
