import { describe, expect, it } from 'vitest'
import { isMereRenewal, stillHere } from '../../../src/core/decide/heartbeat.ts'
import type { Job } from '../../../src/core/job.ts'
import { given } from '../given.ts'

const jobOf = ({ job }: ReturnType<typeof given>): Job => {
  if (job === undefined) throw new Error('there is a job')
  return job
}

describe('heartbeat', () => {
  it('keeps a lease alive, from claimed as from running', () => {
    const history = given().claims().after(30_000).does({ type: 'heartbeat', fence: 'mine' }).after(30_000)
    history.does({ type: 'start', fence: 'mine' }).after(900).does({ type: 'heartbeat', fence: 'mine' })
    expect(history.record.lease).toMatchObject({ beats: 2, expiresAt: history.now + 31_000 })
  })

  it('is a mere renewal until a cancel is asked for, and then never again', () => {
    const history = given().starts()
    expect(isMereRenewal(jobOf(history))).toBe(true)
    history.does({ type: 'cancel', mode: 'soft' })
    expect(isMereRenewal(jobOf(history))).toBe(false)
    history.does({ type: 'heartbeat', fence: 'mine' })
    expect(history.job?.cancel?.deliveredAt).toBeDefined()
    expect(isMereRenewal(jobOf(history))).toBe(false)
  })

  it('said by a fence alone is the owner’s, of the revision at hand, which is what document 001 wants to hear', () => {
    const history = given({ dialect: '001' }).claims('w7')
    const said = stillHere(jobOf(history), history.fence, 'b1')
    expect(said).toMatchObject({ actor: 'worker:w7', requestId: 'b1', fence: history.fence, expectedRev: 2 })
    history.when({ ...said }).gives('claimed', 'heartbeat')
  })

  it('is nobody’s where nobody owns the job', () => {
    const history = given()
    expect(stillHere(jobOf(history), '0.1.0123456789abcdef', 'b1').actor).toBe('worker')
    history.when({ ...stillHere(jobOf(history), '0.1.0123456789abcdef', 'b1') }).refused('STALE_FENCE')
  })
})
