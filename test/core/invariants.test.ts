import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { derive, evolve } from '../../src/core/evolve.ts'
import { INVARIANTS, recordBreaches, stepBreaches } from '../../src/core/invariants.ts'
import type { Job } from '../../src/core/job.ts'
import { given } from './given.ts'
import { HISTORIES } from './sample.ts'

describe('the invariants', () => {
  it('are all numbered', () => {
    expect(Object.keys(INVARIANTS)).toEqual(Array.from({ length: 16 }, (_, i) => `I${i + 1}`))
  })

  const names = (job: Job, change: object): readonly string[] =>
    recordBreaches({ ...job, ...change } as Job).map(({ invariant }) => invariant)

  it('see what is wrong with a record', () => {
    const running = HISTORIES.running().record
    expect(recordBreaches(running)).toEqual([])
    expect(names(running, { owner: undefined })).toEqual(['I5'])
    expect(names(running, { runAt: 1 })).toEqual(['I5'])
    expect(names(running, { phase: 'compensate' })).toEqual(['I5'])
    expect(names(running, { needs: running.spec.kind.type })).toEqual([])
    expect(names(running, { needs: 'another.type' })).toEqual(['I5'])
    const foreign = { ...running.spec, kind: { ...running.spec.kind, tenant: 'another' } }
    expect(names(running, { recast: { asked: foreign } })).toEqual(['I5'])
    expect(names(running, { failures: 8 })).toEqual(['I10'])
    expect(names(running, { stalls: 5 })).toEqual(['I10'])
    expect(names(running, { generation: 1 })).toEqual(['I1'])
    for (const timer of ['nextTickAt', 'readyAt', 'deadlineAt', 'startBy'])
      expect(names(HISTORIES.failed().record, { [timer]: 1 })).toEqual(['I5'])
    const shared = given({ retry: { budget: 'shared', attempts: 2 } }).record
    expect(names(shared, { failures: 1, stalls: 2 })).toEqual(['I10'])
  })

  it('see what is wrong with a step', () => {
    const history = given().starts()
    const before = history.record
    const event = history.when({ type: 'complete', fence: 'mine' }).last
    const after = evolve(before, event)
    const wrong = (e: object, a: object = {}) =>
      stepBreaches(before, { ...event, ...e } as Event, { ...after, ...a } as Job).map(({ invariant }) => invariant)
    expect(wrong({}, { spec: { ...after.spec } })).toEqual(['I5'])
    expect(wrong({})).toEqual([])
    expect(wrong({ rev: 9 })).toContain('I7')
    expect(wrong({ seq: 9 })).toContain('I3')
    expect(wrong({ seq: undefined })).toContain('I3')
    const [born] = history.events as [Event]
    const newborn = stepBreaches(undefined, { ...born, rev: 2, seq: 2 } as Event, derive([born]))
    expect(newborn.map(({ invariant }) => invariant)).toEqual(['I7', 'I3'])
    expect(wrong({ from: 'queued' })).toContain('I3')
    expect(wrong({ actor: '' })).toContain('I16')
    expect(wrong({}, { state: 'claimed' })).toContain('I2')
    expect(wrong({}, { generation: -1 })).toContain('I2')
    expect(wrong({}, { attempt: 0 })).toEqual(['I2', 'I6'])
    expect(wrong({}, { attempt: 2 })).toEqual(['I6'])
    expect(wrong({}, { updatedAt: 0 })).toContain('I3')
    const needy = { ...before, needs: before.spec.kind.type } as Job
    expect(stepBreaches(needy, event, after)).toMatchObject([{ invariant: 'I5' }])
    const routed = { ...before, needs: 'pool\tcode' } as Job
    expect(stepBreaches(routed, event, { ...after, needs: 'pool\tother' } as Job)).toMatchObject([{ invariant: 'I5' }])
    expect(stepBreaches(routed, event, { ...after, needs: `${before.spec.kind.type}\npool\tcode` } as Job)).toEqual([])
    expect(wrong({}, { state: 'running', lease: { ...before.lease, fence: 'x' } })).toContain('I1')
    const ended = after
    const again = stepBreaches(
      ended,
      { ...event, from: 'succeeded', to: 'failed', rev: ended.rev + 1, seq: ended.seq + 1 } as Event,
      { ...ended, state: 'failed', rev: ended.rev + 1, seq: ended.seq + 1 } as never,
    )
    expect(again.map(({ invariant }) => invariant)).toEqual(['I2', 'I4'])
  })

  it('know what compaction stands for', () => {
    const history = given().starts().does({ type: 'heartbeat', fence: 'mine' })
    const beat = history.events.at(-1) as Event
    const before = derive(history.events.slice(0, -1))
    const three = { ...beat, rev: 6, payload: { ...beat.payload, count: 3 } } as Event
    expect(stepBreaches(before, three, evolve(before, three))).toEqual([])
    const compacted = {
      ...beat,
      type: 'compacted',
      rev: 5,
      payload: { count: 2, counters: {}, artifacts: {}, compensations: [], steps: 0 },
    } as never as Event
    expect(stepBreaches(before, compacted, evolve(before, compacted))).toEqual([])
  })
})
