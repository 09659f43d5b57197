import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('expire', () => {
  it('ends any live job at its deadline', () => {
    for (const prepare of [
      (h: ReturnType<typeof given>) => h,
      (h: ReturnType<typeof given>) => h.claims(),
      (h: ReturnType<typeof given>) => h.starts(),
    ]) {
      const history = prepare(given({ deadline: '10s' }))
      expect(history.record.nextTickAt).toBe(1_010_000)
      history.after(10_000).ticks().gives('timed_out', 'timed_out')
      expect(history.record.error).toMatchObject({ code: 'E_TIMEOUT' })
    }
    given({ deadline: '10s', admission: true }).after(10_000).ticks().gives('timed_out', 'timed_out')
    given({ deadline: '10s', retry: { base: '1m', max: '1m', jitter: 'none' } })
      .starts()
      .fails()
      .after(10_000)
      .ticks()
      .gives('timed_out', 'timed_out')
  })

  it('makes a slow attempt fail softly, to be tried again', () => {
    const history = given({ timeout: '5s' }).starts().after(5_000)
    history.ticks().gives('retrying', 'retry_scheduled')
    expect(history.record).toMatchObject({
      failures: 1,
      executionMs: 5_000,
      lastFailure: { code: 'E_TIMEOUT', class: 'transient' },
    })
    given({ timeout: '5s', onTimeout: 'timed_out' }).starts().after(5_000).ticks().gives('timed_out', 'timed_out')
    given({ onTimeout: 'timed_out' })
      .starts()
      .when({ type: 'fail', fence: 'mine', fault: { code: 'E_TIMEOUT', message: 'too long' } })
      .gives('timed_out', 'timed_out')
    const spent = given({ timeout: '5s', retry: { attempts: 1 } })
      .starts()
      .after(5_000)
    spent.ticks().gives('dead_lettered', 'dead_lettered')
    expect(spent.record.deadLetter?.reason).toBe('timeout')
  })

  it('ends what is not started in time', () => {
    given({ startWithin: '3s' }).after(3_000).ticks().gives('timed_out', 'timed_out')
    given({ startWithin: '3s' }).claims().after(3_000).ticks().gives('queued', 'stalled', 'requeued')
    given({ startWithin: '3s', onNotStarted: 'timed_out' })
      .claims()
      .after(3_000)
      .ticks()
      .gives('timed_out', 'timed_out')
    expect(given({ startWithin: '3s' }).starts().record.startBy).toBeUndefined()
    const later = given({ startWithin: '3s', admission: true })
      .after(60_000)
      .does({ type: 'admit', rule: 'r', policyHash: 'h' })
    expect(later.record.startBy).toBe(later.now + 3_000)
  })

  it('comes later for a job that is put off', () => {
    const later = given({ startWithin: '3s' }).does({ type: 'reschedule', runAt: 1_060_000 })
    expect(later.record.startBy).toBe(1_063_000)
    const snoozed = given({ startWithin: '3s' })
      .claims()
      .does({ type: 'release', fence: 'mine', reason: 'snoozed', runAt: 1_060_000 })
    expect(snoozed.record.startBy).toBe(1_063_000)
    const sooner = given({ startWithin: '3s' }, { runAt: 1_060_000 }).does({ type: 'reschedule', runAt: 1_000_000 })
    expect(sooner.record.startBy).toBe(1_063_000)
  })

  it('is refused before the time has come', () => {
    const history = given({ deadline: '10s' }).after(9_999)
    expect(history.isDue).toBe(false)
    history.when({ type: 'expire' }).refused('NOT_DUE')
  })
})
