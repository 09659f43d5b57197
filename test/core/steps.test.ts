import { describe, expect, it } from 'vitest'
import { leaseEndsAt, livedUntil } from '../../src/core/steps.ts'
import { given } from './given.ts'

const MINUTE = 60_000

describe('a clock that is set forward', () => {
  it('ends no lease: its owner speaks, and is heard at the new hour', () => {
    const history = given()
      .starts()
      .after(10_000)
      .skips(10 * MINUTE)
    const { now } = history
    expect(history.isDue).toBe(false)
    history.when({ type: 'stall' }).refused('NOT_DUE')
    history.does({ type: 'progress', fence: 'mine', counters: { n: 1 } }, { type: 'heartbeat', fence: 'mine' })
    expect(history.record).toMatchObject({ updatedAt: now, lease: { expiresAt: now + 31_000 } })
    history.after(30_000).does({ type: 'complete', fence: 'mine' })
    expect(history.state).toBe('succeeded')
  })

  it('gives nobody more than the lease had left', () => {
    const history = given()
      .starts()
      .after(10_000)
      .skips(10 * MINUTE)
      .after(20_999)
    expect(history.isDue).toBe(false)
    expect(leaseEndsAt(history.record, history.steps)).toBe(history.now + 1)
    history.after(1).when({ type: 'complete', fence: 'mine' }).refused('LEASE_EXPIRED')
    expect(history.isDue).toBe(true)
    history.ticks().accepted()
    expect(history.record).toMatchObject({ state: 'queued', stalls: 1 })
  })

  it('is over for a lease that has been renewed since: one that ends then has ended', () => {
    const history = given()
      .starts()
      .skips(10 * MINUTE)
      .does({ type: 'heartbeat', fence: 'mine' })
      .after(31_000)
    history.when({ type: 'complete', fence: 'mine' }).refused('LEASE_EXPIRED')
    expect(history.isDue).toBe(true)
  })

  it('twice adds both up', () => {
    const history = given()
      .starts()
      .after(10_000)
      .skips(MINUTE)
      .after(10_000)
      .skips(2 * MINUTE)
      .after(10_999)
    expect(history.isDue).toBe(false)
    history.does({ type: 'complete', fence: 'mine' })
  })

  it('cuts no attempt short, however often its lease was renewed since', () => {
    const history = given({ timeout: '2m' })
      .starts()
      .after(20_000)
      .skips(10 * MINUTE)
    for (let beats = 0; beats < 4; beats += 1) history.does({ type: 'heartbeat', fence: 'mine' }).after(24_999)
    expect(history.isDue).toBe(false)
    history.when({ type: 'expire' }).refused('NOT_DUE')
    history.after(4)
    expect(history.isDue).toBe(true)
    history.ticks().accepted()
    expect(history.record).toMatchObject({ state: 'retrying', lastFailure: { code: 'E_TIMEOUT' } })
  })

  it('neither hardens a cancel nor passes the deadline of what is owned', () => {
    const policy = { deadline: '5m', cancelGrace: '10s' } as const
    const history = given(policy)
      .starts()
      .does({ type: 'cancel', mode: 'soft' })
      .skips(10 * MINUTE)
    expect(history.isDue).toBe(false)
    history.does({ type: 'heartbeat', fence: 'mine' }).after(9_999)
    expect(history.isDue).toBe(false)
    history.after(1).ticks().accepted()
    expect(history.state).toBe('cancelled')
  })

  it('is the new hour for what nobody owns: waits, retries and deadlines', () => {
    const waiting = given().starts().does({ type: 'wait', fence: 'mine', name: 'go', timeoutMs: MINUTE }).skips(MINUTE)
    expect(livedUntil(waiting.record, waiting.now, waiting.steps)).toBe(waiting.now)
    waiting.ticks().accepted()
    expect(waiting.state).toBe('queued')
    const queued = given({ deadline: '5m' }).skips(5 * MINUTE)
    queued.ticks().accepted()
    expect(queued.state).toBe('timed_out')
    given({ retry: { base: '1m', jitter: 'none' } })
      .starts()
      .fails()
      .skips(MINUTE)
      .claims()
  })

  it('before a claim is nothing to whoever claims', () => {
    const history = given()
      .after(1_000)
      .skips(10 * MINUTE)
      .after(1)
      .starts()
      .after(31_000)
    history.when({ type: 'complete', fence: 'mine' }).refused('LEASE_EXPIRED')
  })

  it('says nothing about the lease of a job that has none', () => {
    expect(() => leaseEndsAt(given().record, [])).toThrow('is owned')
  })
})
