import { describe, expect, it } from 'vitest'
import { given, NONCE } from '../given.ts'

describe('requeue', () => {
  it('is said by the ticker until the budget is spent', () => {
    const history = given({ retry: { stalls: 2 } })
    for (let lost = 1; lost <= 2; lost++) {
      history.starts().after(31_000).ticks().gives('queued', 'stalled', 'requeued')
      history.starts().does({ type: 'wait', fence: 'mine', name: 'x' }).does({ type: 'signal', name: 'x' })
    }
    history.starts().after(31_000).ticks().gives('dead_lettered', 'stalled', 'dead_lettered')
    expect(history.record).toMatchObject({
      stalls: 3,
      deadLetter: { reason: 'infrastructure_failure', lastError: { class: 'lease' } },
    })
  })

  it('fails, retries or times out where the policy says so', () => {
    given({ retry: { stalls: 0 }, onExhausted: 'failed' })
      .starts()
      .after(31_000)
      .ticks()
      .gives('failed', 'stalled', 'failed')
    const retried = given({ dialect: '004', deadline: '1d' }).starts().after(90_000)
    retried.ticks().gives('retrying', 'stalled', 'retry_scheduled')
    expect(retried.record).toMatchObject({
      failures: 0,
      stalls: 1,
      lastFailure: { code: 'timeout_soft', class: 'transient' },
    })
    const spent = given({ dialect: '004', deadline: '1d', retry: { attempts: 1 } })
      .starts()
      .after(90_000)
    spent.ticks().gives('failed', 'stalled', 'failed')
    expect(spent.record.error?.code).toBe('E_TIMEOUT')
    given({ dialect: '002' }).starts().after(31_000).ticks().gives('timed_out', 'stalled', 'timed_out')
  })

  it('is left to the ticker where the budget is spent: nobody claims the orphan', () => {
    const history = given({ retry: { stalls: 0 } })
      .starts()
      .after(31_000)
      .does({ type: 'stall' })
    history.when({ type: 'claim', workerId: 'w2', nonce: NONCE }).refused('NOT_READY')
    expect(history.record.nextTickAt).toBe(history.now)
    history.ticks().gives('dead_lettered', 'dead_lettered')
  })
})
