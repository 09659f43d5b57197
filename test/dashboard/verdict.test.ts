/** The sentence above the machine, and what needs a person: rules about data, in their order. */
import { describe, expect, it } from 'vitest'
import type { Queue, State, TrafficAnswer, Worker } from '../../dashboard/src/api/wire.ts'
import { type Around, verdictOf } from '../../dashboard/src/places/verdict.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const ago = (ms: number) => new Date(NOW - ms).toISOString()
const MINUTE = 60_000

const traffic = (claimedAgoMs: number | undefined, sinceMs = 60 * MINUTE): TrafficAnswer => ({
  at: ago(0),
  from: ago(15 * MINUTE),
  since: ago(sinceMs),
  stepMs: 15_000,
  changes: [],
  deploys: [],
  steps: claimedAgoMs === undefined ? [] : [{ at: ago(claimedAgoMs), events: { claimed: 1 } }],
  failures: [],
  ended: [],
  lastSuccess: [],
})
const queue = (name: string, readyMs?: number, about: Partial<Queue> = {}): Queue => ({
  queue: name,
  paused: false,
  counts: {},
  ...(readyMs === undefined ? {} : { readySince: ago(readyMs) }),
  ...about,
})
const worker = (about: Partial<Worker>): Worker => ({ workerId: 'w', seenAt: ago(0), present: true, ...about })
const counted = (state: State, count: number) => ({ queue: 'q', type: 't', state, count })

const WELL: Around = {
  counts: [],
  terminal: ['succeeded', 'dead_lettered'],
  queues: [queue('mail')],
  workers: [worker({ queues: ['mail'] })],
  traffic: traffic(1_000),
  brokenKeys: [],
  missed: [],
  trouble: undefined,
  now: NOW,
}
const verdict = (about: Partial<Around>) => verdictOf({ ...WELL, ...about })
const needs = (about: Partial<Around>) => verdict(about).needs.map(({ text }) => text)

describe('the verdict', () => {
  it('is that work flows, where nobody is needed', () => {
    expect(verdict({})).toMatchObject({ sentence: 'Work flows.', needs: [] })
  })

  it('has needs in their order: the store first, schedules last, each with a number and a way to it', () => {
    const all = verdict({
      trouble: 'the store does not answer',
      queues: [
        queue('alone', 2_000),
        queue('late', 6 * MINUTE),
        queue('shut', 2_000, { paused: true, pausedSince: ago(61 * MINUTE) }),
      ],
      workers: [worker({ queues: ['late'] })],
      counts: [counted('pending', 3), counted('dead_lettered', 2)],
      brokenKeys: ['shop.example'],
      missed: ['nightly'],
    })
    expect(all.needs.map(({ text, href }) => [text, href])).toEqual([
      ['the store does not answer', '/'],
      ['queue alone has no worker', '/queues'],
      ['1 queue behind by over 5 min', '/queues'],
      ['3 to decide on', '/approvals'],
      ['key shop.example is broken', '/limits?state=broken'],
      ['2 dead letters', '/dead-letters'],
      ['1 queue paused over 1 h', '/queues'],
      ['schedule nightly missed a time', '/schedules/nightly'],
    ])
    expect(all.sentence).toBe('Work flows. Eight things need a person.')
    expect(verdict({ missed: ['a'] }).sentence).toBe('Work flows. One thing needs a person.')
  })

  it('asks for nobody where a queue is pawl’s own, paused, empty, or served', () => {
    const queues = [queue('pawl.operations', 2_000), queue('shut', 2_000, { paused: true }), queue('mail', 2_000)]
    expect(needs({ queues: [...queues, queue('empty')] })).toEqual([])
  })

  it('counts workers that are there and name the queue, and no others', () => {
    const queues = [queue('mail', 2_000)]
    expect(needs({ queues, workers: [worker({ queues: ['mail'], present: false })] })).toEqual([
      'queue mail has no worker',
    ])
    expect(needs({ queues, workers: [worker({ queues: ['other'] }), worker({})] })).toEqual([
      'queue mail has no worker',
    ])
    expect(needs({ queues: [...queues, queue('other', 1)], workers: [] })).toEqual(['2 queues have no worker'])
  })

  it('is that work stands still, where jobs are ready and none was claimed for a minute', () => {
    const still = 'Work stands still: jobs are ready, and no worker has claimed any for a minute.'
    const queues = [queue('mail', 2 * MINUTE)]
    expect(verdict({ queues, traffic: traffic(undefined) }).sentence).toBe(still)
    expect(verdict({ queues, traffic: traffic(2 * MINUTE) }).sentence).toBe(still)
    expect(verdict({ queues, traffic: traffic(MINUTE) }).sentence).toBe('Work flows.')
    // What is paused stands still because somebody wants it, and what has just become ready has not waited.
    const paused = [queue('mail', 2 * MINUTE, { paused: true })]
    expect(verdict({ queues: paused, traffic: traffic(undefined) }).sentence).toBe('Work flows.')
    expect(verdict({ queues: [queue('mail', 1_000)], traffic: traffic(undefined) }).sentence).toBe('Work flows.')
    // Who has just begun to count has not seen a minute of it.
    expect(verdict({ queues, traffic: traffic(undefined, MINUTE) }).sentence).toBe('Work flows.')
  })
})
