import { describe, expect, it } from 'vitest'
import { given, NONCE } from '../given.ts'

describe('soft cancel', () => {
  it('ends a job that nobody owns at once', () => {
    const history = given()
    history.when({ type: 'cancel', mode: 'soft', reason: 'changed my mind' }).gives('cancelled', 'cancelled')
    expect(history.record.cancel).toMatchObject({
      mode: 'soft',
      by: 'test',
      reason: 'changed my mind',
      acknowledgedAt: undefined,
    })
  })

  it('overtakes a failure, which is recorded all the same', () => {
    const history = given().starts().does({ type: 'cancel', mode: 'soft' })
    const fault = { code: 'E_DISK', message: 'disk full' }
    history.when({ type: 'fail', fence: 'mine', fault }).gives('cancelled', 'cancelled')
    expect(history.record).toMatchObject({ error: undefined, lastFailure: { ...fault, stage: 'exec', attempt: 1 } })
    expect(history.events.at(-1)?.payload).toMatchObject({ failure: fault })
  })

  it('is requested, delivered with the next heartbeat, acknowledged and stopped', () => {
    const history = given().starts().after(10)
    history.when({ type: 'cancel', mode: 'soft' }).gives('running', 'cancel_requested')
    expect(history.record.cancel).toMatchObject({ requestedAt: history.now, deliveredAt: undefined })
    history.after(10).does({ type: 'heartbeat', fence: 'mine' })
    expect(history.record.cancel?.deliveredAt).toBe(history.now)
    history.after(10).does({ type: 'heartbeat', fence: 'mine' })
    expect(history.record.cancel?.deliveredAt).toBe(history.now - 10)
    history.after(10).when({ type: 'cancel', mode: 'soft', fence: 'mine' }).gives('cancelled', 'cancelled')
    expect(history.record.cancel?.acknowledgedAt).toBe(history.now)
  })

  it.each([
    { type: 'fail', fence: 'mine', fault: { code: 'aborted', message: '' } },
    { type: 'release', fence: 'mine', reason: 'shutdown' },
    { type: 'wait', fence: 'mine', name: 'ok' },
  ] as const)('wins over $type', (words) => {
    given().starts().does({ type: 'cancel', mode: 'soft' }).when(words).gives('cancelled', 'cancelled')
  })

  it('comes too late for a handler that finishes anyway', () => {
    const outcome = given().starts().does({ type: 'cancel', mode: 'soft' }).when({ type: 'complete', fence: 'mine' })
    outcome.gives('succeeded', 'succeeded')
    expect(outcome.last.reason).toBe('cancel_came_too_late')
    expect(outcome.history.record.cancel).toBeDefined()
  })

  it('turns hard after the grace', () => {
    const history = given({ cancelGrace: '5s' }).starts().does({ type: 'cancel', mode: 'soft' })
    expect(history.record.nextTickAt).toBe(history.now + 5_000)
    history.after(5_000).ticks().gives('cancelled', 'cancelled')
    expect(history.record.cancel?.mode).toBe('hard')
  })

  it('is never run again when its worker dies', () => {
    const history = given({ cancelGrace: '1d' }).starts().does({ type: 'cancel', mode: 'soft' }).after(60_000)
    history.ticks().gives('cancelled', 'stalled', 'cancelled')
    const orphan = given().starts().does({ type: 'cancel', mode: 'soft' }).after(60_000).does({ type: 'stall' })
    expect(orphan.record.readyAt).toBeUndefined()
    orphan.when({ type: 'claim', workerId: 'w2', nonce: NONCE }).refused('NOT_READY')
    orphan.ticks().gives('cancelled', 'cancelled')
  })

  it('is a replay when it is already requested or done', () => {
    given().starts().does({ type: 'cancel', mode: 'soft' }).when({ type: 'cancel', mode: 'soft' }).replayed()
    given().does({ type: 'cancel', mode: 'soft' }).when({ type: 'cancel', mode: 'hard' }).replayed()
  })

  it('is a replay while the steps are undone because of it, whether or not a worker is at it', () => {
    const history = given()
      .starts()
      .does(
        { type: 'record', fence: 'mine', step: { name: 'pay', compensate: true } },
        { type: 'cancel', mode: 'soft' },
        { type: 'release', fence: 'mine', reason: 'shutdown' },
      )
    expect(history.record).toMatchObject({ state: 'queued', phase: 'compensate' })
    history.when({ type: 'cancel', mode: 'soft' }).replayed()
    history.claims().when({ type: 'cancel', mode: 'soft' }).replayed()
  })
})

describe('hard cancel', () => {
  it('ends an owned job at once; the owner’s next word is refused and noted', () => {
    const history = given().starts()
    const { fence } = history
    history.when({ type: 'cancel', mode: 'hard' }).gives('cancelled', 'cancelled')
    const outcome = history.when({ type: 'complete', fence })
    outcome.refused('STALE_FENCE')
    expect(outcome.decision).toMatchObject({ annotation: { generation: 0, attempt: 1, command: 'complete' } })
  })

  it('escalates a soft one', () => {
    const history = given().starts().does({ type: 'cancel', mode: 'soft' })
    history.when({ type: 'cancel', mode: 'hard' }).gives('cancelled', 'cancelled')
    expect(history.record.cancel).toMatchObject({ mode: 'hard', acknowledgedAt: undefined })
  })

  it('keeps what the job left behind', () => {
    const history = given()
      .starts()
      .does(
        { type: 'progress', fence: 'mine', counters: { urls_total: 3 } },
        { type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 9 } },
        { type: 'cancel', mode: 'hard' },
      )
    expect(history.record).toMatchObject({ counters: { urls_total: 3 }, checkpoint: { size: 9 } })
  })
})
