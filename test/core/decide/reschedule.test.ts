import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('reschedule', () => {
  it('puts what waits to run earlier, or into another lane', () => {
    const history = given({}, { runAt: 9_000_000 })
    history.when({ type: 'reschedule', runAt: 5 }).gives('queued', 'rescheduled')
    expect(history.record.readyAt).toBe(history.now)
    history.does({ type: 'reschedule', priority: 0 })
    expect(history.record).toMatchObject({ priority: 0, readyAt: history.now })
  })
})
