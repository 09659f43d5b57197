import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('reopen', () => {
  it('gives fresh budgets and a fresh deadline, and keeps the attempt', () => {
    const history = given({ deadline: '10s', startWithin: '5s', retry: { attempts: 1 } })
      .starts()
      .fails()
      .after(50_000)
    history.when({ type: 'reopen', runAt: history.now + 1_000 }).gives('queued', 'reopened')
    expect(history.record).toMatchObject({
      generation: 1,
      attempt: 1,
      failures: 0,
      stalls: 0,
      error: undefined,
      deadlineAt: history.now + 10_000,
      startBy: history.now + 6_000,
    })
    history.after(1_000).claims()
    expect(history.fence.startsWith('1.2.')).toBe(true)
  })

  it('leads to where admission begins, where that applies', () => {
    given({ admission: true })
      .does({ type: 'cancel', mode: 'soft' })
      .when({ type: 'reopen', reason: 'again' })
      .gives('pending', 'reopened')
  })
})
