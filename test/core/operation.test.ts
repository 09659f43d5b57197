import { describe, expect, it } from 'vitest'
import { type Job, STATES } from '../../src/core/job.ts'
import { ACTIONS, isWithin, mostStatesOf, songOf, statesFor } from '../../src/core/operation.ts'
import { isReserved } from '../../src/core/reserved.ts'
import { HISTORIES } from './sample.ts'

describe('to which jobs an operation is done', () => {
  it('is, where no state is asked for: dead letters, what lives, what has ended', () => {
    expect(statesFor('redrive', undefined)).toEqual(['dead_lettered'])
    expect(statesFor('cancel', undefined)).toEqual(
      STATES.filter((state) => HISTORIES[state]().record?.endedAt === undefined),
    )
    expect(statesFor('purge', undefined)).toEqual(
      STATES.filter((state) => HISTORIES[state]().record?.endedAt !== undefined),
    )
  })

  it.each(ACTIONS)('leaves out states in which one cannot %s', (action) => {
    expect(statesFor(action, STATES)).toEqual(mostStatesOf(action))
    const others = STATES.filter((state) => !mostStatesOf(action).includes(state))
    expect(statesFor(action, others)).toEqual([])
  })

  it('is nothing of pawl’s own, and nothing that whoever asks may not touch', () => {
    const job = (queue: string): Job => {
      const { record } = HISTORIES.queued()
      if (record === undefined) throw new Error('there is one')
      return { ...record, spec: { ...record.spec, kind: { ...record.spec.kind, queue } } }
    }
    expect(isWithin({ queues: undefined }, job('mail'))).toBe(true)
    expect(isWithin({ queues: ['mail'] }, job('mail'))).toBe(true)
    expect(isWithin({ queues: ['crawl'] }, job('mail'))).toBe(false)
    expect(isWithin({ queues: undefined }, job('pawl.operations'))).toBe(false)
    expect([isReserved('pawl.operations'), isReserved('pawl'), isReserved('mail')]).toEqual([true, false, false])
  })
})

describe('canaries', () => {
  const jobs = (...states: readonly (keyof typeof HISTORIES | 'gone')[]) =>
    states.map((state) => (state === 'gone' ? undefined : HISTORIES[state]().record))

  it.each([
    ['while one runs and none has ended badly', ['succeeded', 'running'], { sung: false }],
    ['when all have succeeded', ['succeeded', 'succeeded'], { sung: true, silent: [] }],
    ['as soon as one has ended badly', ['running', 'dead_lettered'], { sung: true, silent: ['b'] }],
    ['where one is gone', ['succeeded', 'gone'], { sung: true, silent: ['b'] }],
    ['where one was cancelled', ['cancelled', 'succeeded'], { sung: true, silent: ['a'] }],
  ] as const)('%s', (_, states, expected) => {
    expect(songOf(['a', 'b'], jobs(...states))).toEqual(expected)
  })

  it('have sung where there are none', () => {
    expect(songOf([], [])).toEqual({ sung: true, silent: [] })
  })
})
