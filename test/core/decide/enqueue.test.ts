import { describe, expect, it } from 'vitest'
import { type Birth, birthOf, sameCall } from '../../../src/core/decide/enqueue.ts'
import { given, kindOf } from '../given.ts'

describe('enqueue', () => {
  const words = {
    type: 'enqueue',
    id: 'pj_1',
    kind: kindOf(),
    priority: 5,
    input: { name: 'input', size: 3, digest: 'abc' },
  } as const

  it('of the same id and words is the same job, whatever has become of it', () => {
    const history = given({}, words).does({ type: 'reschedule', priority: 1 })
    history.when({ ...words, traceparent: 'other', priority: 7 }).replayed()
  })

  it('compares labels by what they say, not by their order', () => {
    const history = given({}, { ...words, labels: { kind: 'a', site: 'b' } })
    history.when({ ...words, labels: { site: 'b', kind: 'a' } }).replayed()
    history.when({ ...words, labels: { kind: 'other', site: 'b' } }).refused('ID_TAKEN')
  })

  it('of the same id and other words is refused, naming the holder', () => {
    const outcome = given({}, words).when({ ...words, input: { name: 'input', size: 4 } })
    outcome.refused('ID_TAKEN')
    expect(outcome.decision).toMatchObject({ refusal: { holder: 'pj_1' } })
    given({}, words)
      .when({ ...words, kind: { ...words.kind, type: 'other' } })
      .refused('ID_TAKEN')
    given({}, words)
      .when({ ...words, kind: { ...words.kind, queue: 'other' } })
      .refused('ID_TAKEN')
    given({}, words)
      .when({ ...words, kind: { ...words.kind, tenant: 'other' } })
      .refused('ID_TAKEN')
  })

  it('asks for no more than it says: what was left to the type may have changed', () => {
    const left = { ...words, kind: { ...words.kind, queue: 'other' }, unsaid: ['queue'] } as const
    given({}, words).when(left).replayed()
  })

  it('is the same call only with the same urgency, time and policy', () => {
    const born = given({}, words).record
    const birth = birthOf(born) as Birth
    const command = { ...words, actor: 'a', requestId: 'r' } as const
    const same = (more: object) => sameCall(born.id, birth, { ...command, ...more })
    expect(same({})).toBe(true)
    expect(same({ runAt: born.spec.createdAt - 5, correlationId: 'c', requestId: 'r2', traceparent: 't' })).toBe(true)
    expect(same({ priority: 6 })).toBe(false)
    expect(same({ runAt: born.spec.createdAt + 1 })).toBe(false)
    expect(same({ topic: 'x' })).toBe(false)
    const strict = { kind: kindOf({ retry: { attempts: 1 } }) }
    expect(same(strict)).toBe(false)
    expect(same({ ...strict, unsaid: ['policy'] })).toBe(true)
    expect(birthOf(given({}, words).does({ type: 'reschedule', priority: 1 }).record)).toBeUndefined()
  })

  it('is delayed by runAt, never into the past', () => {
    expect(given({}, { runAt: 2_000_000 }).record.readyAt).toBe(2_000_000)
    expect(given({}, { runAt: 5 }).record.readyAt).toBe(1_000_000)
    given({}, { runAt: 2_000_000 })
      .when({ type: 'claim', workerId: 'w', nonce: '0123456789abcdef' })
      .refused('NOT_READY')
  })

  it('carries correlation, and takes its request for one where none is given', () => {
    expect(given({}, { correlationId: 'c' }).record.spec.correlationId).toBe('c')
    expect(given({}, { requestId: 'r' }).events[0]).toMatchObject({ correlationId: 'r' })
  })
})
