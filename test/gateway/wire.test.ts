/** A record that has travelled is the record that was sent, but for its fences; whatever users named their own things. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, decideTick } from '../../src/core/decide.ts'
import { READING_NAMES } from '../../src/core/dialects/registry.ts'
import { view } from '../../src/core/dialects/view.ts'
import type { Event } from '../../src/core/event.ts'
import { withoutNonce } from '../../src/core/fence.ts'
import { type Job, STATES } from '../../src/core/job.ts'
import type { Policy } from '../../src/core/policy.ts'
import {
  eventFromWire,
  eventToWire,
  jobFromWire,
  jobToWire,
  type Wire,
  withoutNonces,
} from '../../src/gateway/contract/wire.ts'
import { kindOf, T0 } from '../core/given.ts'
import { HISTORIES } from '../core/sample.ts'
import { scaled } from '../support/scale.ts'

/** Over the wire: as text, as everything is. */
const travelled = (wire: Wire): Wire => JSON.parse(JSON.stringify(wire)) as Wire

const withHiddenFences = (job: Job): unknown => ({
  ...job,
  recent: [],
  lease: job.lease && { ...job.lease, fence: withoutNonce(job.lease.fence), lastBeatId: undefined },
  lastClaim: job.lastClaim && { ...job.lastClaim, fence: withoutNonce(job.lastClaim.fence) },
})

function expectSame(job: Job): void {
  const wire = travelled(jobToWire(job, true))
  const arrived = jobFromWire(wire, wire['policy'] as Policy)
  for (const name of READING_NAMES) expect(view(arrived, name)).toEqual(view(job, name))
  expect(arrived).toEqual(withHiddenFences(job))
  // The command line tells what it was told.
  expect(travelled(jobToWire(arrived, true))).toEqual(wire)
}

const eventWithHiddenFence = (event: Event): unknown => {
  const shown = withoutNonces(event)
  return shown.type === 'claimed'
    ? { ...shown, payload: { ...shown.payload, fence: withoutNonce(shown.payload.fence) } }
    : shown
}

describe('a record', () => {
  it.each(STATES)('that is %s arrives as it left', (state) => expectSame(HISTORIES[state]().record))

  /** Names that the wire has meanings for, and others. */
  const named = fc.constantFrom('at', 'updatedAt', 'since', 'until', 'now', 'when', 'policy', 'fence', 'errors', 'a')
  const valued = fc.oneof(fc.constant('2020-01-01T00:00:00.000Z'), fc.string({ maxLength: 20 }))
  const words = fc.dictionary(named, valued, { maxKeys: 8 })
  const numbers = fc.dictionary(named, fc.integer({ min: -1e12, max: 1e12 }), { maxKeys: 8 })
  const steps = fc.array(
    fc.oneof(
      fc.constant({ type: 'tick' }),
      fc.record({ type: fc.constant('progress'), counters: numbers }),
      fc.record({ type: fc.constant('record'), artifact: fc.record({ name: named, ptr: fc.constant('s3://x') }) }),
      fc.record({ type: fc.constant('record'), step: fc.record({ name: named, compensate: fc.boolean() }) }),
      fc.record({ type: fc.constant('wait'), name: named, key: fc.option(valued.filter(Boolean), { nil: undefined }) }),
      fc.record({ type: fc.constant('signal'), name: named, key: fc.constant('2020-01-01T00:00:00Z') }),
      fc.record({ type: fc.constant('cancel'), mode: fc.constant('soft'), reason: valued }),
      fc.record({
        type: fc.constant('fail'),
        fault: fc.record({ code: named, message: valued, context: words }),
      }),
      fc.record({ type: fc.constant('complete'), stats: numbers }),
      fc.constant({ type: 'reopen' }),
      fc.constant({ type: 'claim', workerId: '2020-01-01T00:00:00Z', nonce: '0123456789abcdef' }),
      fc.constant({ type: 'start' }),
    ),
    { maxLength: 25 },
  )

  it('with any history, and all of its events, arrive as they left', () => {
    fc.assert(
      fc.property(words, words, steps, (labels, env, program) => {
        const kind = kindOf({ retry: { attempts: 5, base: 1, max: 1 }, errors: { at: 'transient' } })
        const alias = '2020-01-01T00:00:00Z'
        const stamp = { actor: 'a', requestId: 'r' } as const
        const first = decide(
          undefined,
          { ...stamp, type: 'enqueue', id: 'pj_1', kind, priority: 5, labels, env, alias, topic: 'at' },
          T0,
        )
        if (first.kind !== 'accepted') throw new Error('not enqueued')
        let job = first.job
        const events = [...first.events]
        for (const [n, said] of program.entries()) {
          const now = T0 + n * 10
          const fence = job.lease?.fence ?? 'none'
          const requestId = `${fence}/${n}`
          const decision =
            said.type === 'tick'
              ? decideTick(job, now, { actor: 'a', requestId })
              : decide(job, { ...said, fence, actor: 'a', requestId } as never, now)
          if (decision?.kind !== 'accepted') continue
          job = decision.job
          events.push(...decision.events)
          expectSame(job)
        }
        for (const event of events)
          expect(eventFromWire(travelled(eventToWire(event)))).toEqual(eventWithHiddenFence(event))
      }),
      { numRuns: scaled(300, 20_000) },
    )
  })
})
