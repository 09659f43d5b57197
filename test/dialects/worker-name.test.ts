import { describe, expect, it } from 'vitest'
import { isNamedByStart, lastWorkerOf, lateWorkerOf, namedBy, poolHolder } from '../../src/core/dialects/worker-name.ts'
import type { Annotation } from '../../src/core/event.ts'
import { given, T0 } from '../core/given.ts'

const late = (actor: string, attempt = 1): Annotation => ({
  jobId: 'pj_1',
  generation: 0,
  attempt,
  command: 'complete',
  at: T0,
  actor,
  requestId: 'r',
  correlationId: 'c',
  outcome: undefined,
})

const back = { type: 'release', fence: 'mine', reason: 'shutdown' } as const

describe('which worker it was', () => {
  it('is whose claim it was, and needs no log', () => {
    const { record, events } = given().claims('w1').does({ type: 'start', fence: 'mine' }, back)
    expect([lastWorkerOf(record), isNamedByStart(record)]).toEqual(['w1', false])
    expect(lateWorkerOf(late('worker:w9'), events)).toBe('w1')
  })

  it('is nobody before the first claim', () => {
    const { record, events } = given()
    expect([lastWorkerOf(record), isNamedByStart(record), namedBy(record, events)]).toEqual([undefined, false, record])
    expect(lateWorkerOf(late('worker:w9'), events)).toBe('w9')
  })

  it('is who began with what a pool was given, and never the pool', () => {
    const start = { type: 'start', fence: 'mine', actor: 'worker:w2' } as const
    const { record, events } = given().claims(poolHolder('code')).does(start, back)
    expect([lastWorkerOf(record), isNamedByStart(record)]).toEqual([undefined, true])
    expect(namedBy(record, events).lastClaim?.owner).toEqual({ workerId: 'w2' })
    expect([lateWorkerOf(late('worker:w2'), events), lateWorkerOf(late('somebody'), events)]).toEqual([
      'w2',
      'somebody',
    ])
    const unbegun = given().claims('pool:code').does(back)
    expect(namedBy(unbegun.record, unbegun.events)).toBe(unbegun.record)
  })

  it('is not who began with an earlier attempt', () => {
    const start = { type: 'start', fence: 'mine', actor: 'worker:w2' } as const
    const { record, events } = given().claims('pool:code').does(start, back).claims('pool:code').does(back)
    expect(namedBy(record, events)).toBe(record)
    expect(lateWorkerOf(late('worker:w2', 2), events)).toBe('w2')
  })
})
