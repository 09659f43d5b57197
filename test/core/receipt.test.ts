import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { impliedRequestId, receiptOf } from '../../src/core/receipt.ts'
import { given, type History, type Words } from './given.ts'

/** What a store finds when it looks for the events a request has caused. */
const caused = (history: History, requestId: string): readonly Event[] =>
  history.events.filter((event) => event.requestId === requestId)

describe('a request id that comes again', () => {
  it.each([
    ['progress', { type: 'progress', fence: 'mine', progress: { done: 1 } }],
    ['checkpoint', { type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 1 } }],
    ['record', { type: 'record', fence: 'mine', artifact: { name: 'a', ptr: 'p' } }],
    ['heartbeat', { type: 'heartbeat', fence: 'mine' }],
  ] as const)('replays %s while the lease lives, by the record alone', (_, words) => {
    const history = given()
      .starts()
      .does({ ...words, requestId: 'once' } as Words)
    const { rev } = history.record
    history
      .after(5)
      .when({ ...words, requestId: 'once' } as Words)
      .replayed()
    expect(history.record.rev).toBe(rev)
  })

  it.each([
    ['cancel', { type: 'cancel', mode: 'soft' }],
    ['signal', { type: 'signal', name: 'x' }],
    ['reschedule', { type: 'reschedule', priority: 2 }],
    ['deadLetter', { type: 'deadLetter', reason: 'timeout', stage: 'exec' }],
  ] as const)('replays %s by the events it caused, with the answer of then', (_, words) => {
    const history = given().does({ ...words, requestId: 'once' } as Words)
    const then = receiptOf(caused(history, 'once'))
    const outcome = history.after(5).when({ ...words, requestId: 'once' } as Words, caused(history, 'once'))
    outcome.replayed()
    expect(outcome.decision).toMatchObject({ receipt: then })
  })

  it('replays an outcome after the lease is gone', () => {
    const history = given().starts()
    const { fence } = history
    const words = {
      type: 'fail',
      fence,
      fault: { code: 'x', message: 'm' },
      requestId: impliedRequestId(fence, 'fail'),
    } as const
    history.does(words)
    history.when(words).refused('STALE_FENCE')
    history.when(words, caused(history, words.requestId)).replayed()
  })

  it('is nobody’s but the owner’s', () => {
    const history = given().starts().does({ type: 'heartbeat', fence: 'mine', requestId: 'beat' })
    history.when({ type: 'heartbeat', fence: '0.1.fedcba9876543210', requestId: 'beat' }).refused('STALE_FENCE')
  })

  it('is refused for another command or other words', () => {
    const history = given()
      .starts()
      .does({ type: 'progress', fence: 'mine', progress: { done: 1 }, requestId: 'once' })
    history
      .when({ type: 'progress', fence: 'mine', progress: { done: 2 }, requestId: 'once' })
      .refused('REQUEST_ID_REUSED')
    history
      .when({ type: 'checkpoint', fence: 'mine', body: { name: 'c', size: 1 }, requestId: 'once' })
      .refused('REQUEST_ID_REUSED')
  })

  it('tells other words apart wherever they stand, and takes maps in any order', () => {
    const history = given()
      .starts()
      .does({ type: 'progress', fence: 'mine', counters: { kind: 1, actor: 2 }, requestId: 'once' })
    history.when({ type: 'progress', fence: 'mine', counters: { actor: 2, kind: 1 }, requestId: 'once' }).replayed()
    history
      .when({ type: 'progress', fence: 'mine', counters: { kind: 7, actor: 2 }, requestId: 'once' })
      .refused('REQUEST_ID_REUSED')
  })

  it('is not disturbed by a field that nobody knows', () => {
    given()
      .starts()
      .when({ type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 1 }, more: [1n, null] })
      .accepted()
  })

  it('remembers the last eight words of an owner', () => {
    const history = given().starts()
    for (let i = 0; i < 9; i++)
      history.does({ type: 'progress', fence: 'mine', progress: { done: i }, requestId: `p${i}` })
    expect(history.record.recent.map((receipt) => receipt.requestId)).toEqual([
      'p1',
      'p2',
      'p3',
      'p4',
      'p5',
      'p6',
      'p7',
      'p8',
    ])
  })

  it('has no receipt where nothing was caused', () => {
    expect(receiptOf([])).toBeUndefined()
  })
})
