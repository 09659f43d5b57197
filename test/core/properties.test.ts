/** Any program of commands, sensible or not: what must hold holds after every one of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../src/core/command.ts'
import { decide, decideTick } from '../../src/core/decide.ts'
import type { Event } from '../../src/core/event.ts'
import { derive, evolve } from '../../src/core/evolve.ts'
import { isForward, recordBreaches, stepBreaches } from '../../src/core/invariants.ts'
import type { Job } from '../../src/core/job.ts'
import type { PolicyInput } from '../../src/core/resolve.ts'
import { kindOf, T0 } from './given.ts'

const policies: readonly PolicyInput[] = [
  {},
  { retry: { attempts: 2, stalls: 1, base: 10, max: 100 }, lease: '1s', deadline: '1m', startWithin: '20s' },
  { retry: { attempts: 3, budget: 'shared' }, onExhausted: 'failed', admission: true, parkAfter: 0 },
  {
    onStall: 'retry',
    onTimeout: 'timed_out',
    onWaitTimeout: 'timed_out',
    onNotStarted: 'timed_out',
    timeout: '2s',
    startWithin: '5s',
  },
  { dialect: '002' },
  { dialect: '004' },
]

const fault = fc.record({
  code: fc.constantFrom('E_5XX_ORIGIN', 'bad_request', 'captcha', 'validation_failed', 'E_TIMEOUT'),
  message: fc.string(),
})
const words = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ type: 'claim', workerId: 'w', nonce: '0123456789abcdef' }) },
  { weight: 4, arbitrary: fc.constant({ type: 'start' }) },
  { weight: 2, arbitrary: fc.constant({ type: 'heartbeat' }) },
  fc.record({ type: fc.constant('progress'), counters: fc.constant({ n: 1 }) }),
  fc.constant({ type: 'checkpoint', body: { name: 'checkpoint', size: 1 } }),
  fc.record({
    type: fc.constant('record'),
    step: fc.record({ name: fc.constantFrom('a', 'b'), compensate: fc.boolean() }),
  }),
  fc.constant({ type: 'complete' }),
  { weight: 3, arbitrary: fc.record({ type: fc.constant('fail'), fault }) },
  fc.record({
    type: fc.constant('wait'),
    name: fc.constantFrom('x', 'y'),
    timeoutMs: fc.option(fc.nat(90_000), { nil: undefined }),
  }),
  fc.record({ type: fc.constant('signal'), name: fc.constantFrom('x', 'y') }),
  fc.constant({ type: 'release', reason: 'handed_back' }),
  fc.record({ type: fc.constant('reschedule'), priority: fc.nat(9) }),
  fc.constant({ type: 'stall' }),
  fc.constant({ type: 'requeue' }),
  fc.record({ type: fc.constant('cancel'), mode: fc.constantFrom('soft', 'hard') }),
  fc.constant({ type: 'expire' }),
  fc.constant({ type: 'deadLetter', reason: 'timeout', stage: 'exec' }),
  fc.constant({ type: 'compensated' }),
  fc.constant({ type: 'admit', rule: 'r', policyHash: 'h' }),
  fc.constant({ type: 'reopen' }),
  { weight: 4, arbitrary: fc.constant({ type: 'tick' }) },
)
const step = fc.record({ words, afterMs: fc.oneof(fc.nat(50), fc.nat(40_000)), stale: fc.integer({ min: 0, max: 9 }) })

const OWNED: ReadonlySet<string> = new Set([
  'start',
  'heartbeat',
  'progress',
  'checkpoint',
  'record',
  'complete',
  'fail',
  'wait',
  'release',
  'compensated',
])

describe('any history', () => {
  it('folds to its record, goes forward only, and is untouched by refusals', () => {
    fc.assert(
      fc.property(fc.constantFrom(...policies), fc.array(step, { maxLength: 40 }), (policy, steps) => {
        let now = T0
        let requests = 0
        const first = decide(
          undefined,
          { type: 'enqueue', id: 'pj_1', kind: kindOf(policy), priority: 5, actor: 'a', requestId: 'r' },
          now,
        )
        if (first.kind !== 'accepted') throw new Error('not enqueued')
        let job: Job = first.job
        const log: Event[] = [...first.events]
        for (const { words, afterMs, stale } of steps) {
          now += afterMs
          const asked = { actor: 'a', requestId: `r${requests++}` }
          const fence = stale === 0 ? '0.1.fedcba9876543210' : (job.lease?.fence ?? job.lastClaim?.fence ?? 'none')
          const command = { ...asked, ...words, ...(OWNED.has(words.type) ? { fence } : {}) } as Command
          const before = structuredClone(job)
          const decision = words.type === 'tick' ? decideTick(job, now, asked) : decide(job, command, now)
          expect(job).toEqual(before)
          if (decision?.kind !== 'accepted') continue
          let next = job
          for (const event of decision.events) {
            const after = evolve(next, event)
            expect(stepBreaches(next, event, after)).toEqual([])
            expect(recordBreaches(after)).toEqual([])
            if (after.state !== next.state) expect(isForward(next, after)).toBe(true)
            next = after
          }
          expect(next).toEqual(decision.job)
          job = next
          log.push(...decision.events)
        }
        expect(derive(log)).toEqual(job)
        expect(log.filter((event) => event.seq !== undefined).map((event) => event.seq)).toEqual(
          Array.from({ length: job.seq }, (_, i) => i + 1),
        )
      }),
      { numRuns: 1_500 },
    )
  })
})
