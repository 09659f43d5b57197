import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../../src/core/command.ts'
import { decide, decideTick } from '../../../src/core/decide.ts'
import type { Event } from '../../../src/core/event.ts'
import { derive, evolve } from '../../../src/core/evolve.ts'
import { idText } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import type { Policy } from '../../../src/core/policy.ts'
import { OWNER_COMMANDS } from '../../../src/core/verb.ts'
import { decodeEnqueued, type EnqueuedEvent, encodeEnqueued } from '../../../src/store/codec/enqueued.ts'
import { baseOf, decodeEvents, encodeEvents } from '../../../src/store/codec/events.ts'
import { decodeRecord, encodeRecord } from '../../../src/store/codec/record.ts'
import { original, storable } from '../../../src/store/codec/text.ts'

const POLICY: Policy = {
  dialect: undefined,
  onDuplicate: undefined,
  leaseMs: 30_000,
  heartbeat: true,
  heartbeatMs: 10_000,
  missedHeartbeats: 2,
  attemptMs: 300_000,
  deadlineMs: undefined,
  startWithinMs: undefined,
  parkAfterMs: 60_000,
  cancelGraceMs: 5_000,
  compensateWithinMs: 60_000,
  maxAttempts: 3,
  maxStalls: 2,
  budget: 'separate',
  retry: { baseMs: 500, factor: 2, maxMs: 60_000, jitter: 'full' },
  throttled: { baseMs: 5_000, factor: 2, maxMs: 600_000, jitter: 'full' },
  errors: {},
  retryFailures: true,
  onExhausted: 'dead_lettered',
  onInvalid: 'dead_lettered',
  onAttemptTimeout: 'fail',
  onStall: 'requeue',
  onNotStarted: 'timed_out',
  onWaitTimeout: 'resume',
  admission: false,
  idempotent: true,
  dedupe: 'live',
}

/** Any text at all: lone surrogates, U+0000, the escape's own mark. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('\u0000', '\u0001', '\ud800', '\udc00', 'a', '"', '\\u0000', '😀'))
    .map((units) => units.join('')),
)
const word = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9 ]{0,10}[a-z]$/),
  fc.constantFrom('naïve', '"quoted"', '日本 😀', '\\u0000'),
)
const dictionary = <T>(value: fc.Arbitrary<T>) => fc.dictionary(word, value, { maxKeys: 3, noNullPrototype: true })
const body = (name: string) =>
  record({ name: fc.constant(name), size: fc.nat(), digest: fc.option(word, { nil: undefined }) })
const counter = fc.oneof(fc.integer(), fc.constant(-0), fc.double({ noNaN: true, noDefaultInfinity: true }))
/** Plain objects, as JSON and core make them. */
const record = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T>(model, { noNullPrototype: true })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const policy: fc.Arbitrary<Policy> = record({
  // Most have time enough to live: what is over is claimed by nobody.
  deadlineMs: maybe(fc.constantFrom(60_000, 10_000_000, 10_000_000)),
  startWithinMs: maybe(fc.constantFrom(60_000, 10_000_000, 10_000_000)),
  maxAttempts: fc.constantFrom(1, 2, 3),
  admission: fc.boolean(),
  onExhausted: fc.constantFrom('failed' as const, 'dead_lettered' as const),
  onStall: fc.constantFrom('requeue' as const, 'retry' as const, 'timed_out' as const),
  idempotent: fc.boolean(),
}).map((some) => ({ ...POLICY, ...some }))

const enqueue = record({
  type: fc.constant('enqueue' as const),
  id: fc.nat().map((n) => idText(n + 1)),
  kind: record({ tenant: word, queue: word, type: word, policy }),
  priority: fc.integer({ min: 0, max: 9 }),
  actor: fc.constantFrom('producer', 'producer:api'),
  requestId: word,
  runAt: maybe(fc.nat({ max: 20_000 })),
  alias: maybe(word),
  input: maybe(body('input')),
  contextPtr: maybe(word),
  topic: maybe(word),
  adapterId: maybe(word),
  env: maybe(dictionary(word)),
  labels: maybe(dictionary(word)),
  parentId: maybe(fc.constant(idText(7))),
  workflowId: maybe(word),
  stepIndex: maybe(fc.nat()),
  dedupeKey: maybe(word),
  flow: maybe(record({ keys: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }), fair: maybe(word) })),
  correlationId: maybe(word),
  traceparent: maybe(word),
  cause: maybe(word),
})

const fault = record({
  code: fc.constantFrom('E_TIMEOUT', 'E_PARSE', 'E_403_WAF', 'odd'),
  message: word,
  context: maybe(dictionary(word)),
  body: maybe(body('error/1')),
})

const claim = fc.constant({ type: 'claim', workerId: 'w1', nonce: '0123456789abcdef' })
const words = fc.oneof(
  { withCrossShrink: true },
  claim,
  claim,
  claim,
  claim,
  fc.constant({ type: 'start' }),
  fc.constant({ type: 'start' }),
  fc.constantFrom(
    { type: 'start' },
    { type: 'heartbeat' },
    { type: 'compensated' },
    { type: 'requeue' },
    { type: 'expire' },
  ),
  record({
    type: fc.constant('progress'),
    progress: maybe(record({ done: counter, total: maybe(counter), message: maybe(word), etaAt: maybe(fc.nat()) })),
    counters: maybe(dictionary(counter)),
  }),
  record({ type: fc.constant('checkpoint'), body: body('checkpoint') }),
  record({
    type: fc.constant('record'),
    step: maybe(record({ name: word, body: maybe(body('step/x')), compensate: fc.boolean() })),
    artifact: maybe(record({ name: word, ptr: word })),
  }),
  record({
    type: fc.constant('complete'),
    result: maybe(body('output')),
    stats: maybe(dictionary(counter)),
    executionMs: maybe(fc.nat({ max: 50 })),
  }),
  record({ type: fc.constant('complete'), resultPtr: word }),
  record({ type: fc.constant('fail'), fault, executionMs: maybe(fc.nat({ max: 50 })) }),
  record({ type: fc.constant('wait'), name: fc.constant('go'), timeoutMs: maybe(fc.constantFrom(10, 100_000)) }),
  record({ type: fc.constant('signal'), name: fc.constantFrom('go', 'other'), body: maybe(body('signal/1')) }),
  fc.constantFrom(
    { type: 'release', reason: 'snoozed' },
    { type: 'cancel', mode: 'soft' },
    { type: 'cancel', mode: 'hard' },
  ),
  fc.constantFrom({ type: 'reschedule', priority: 1 }, { type: 'reopen' }, { type: 'stall' }),
  record({ type: fc.constant('admit'), rule: word, policyHash: word }),
  record({ type: fc.constant('deny'), rule: word, policyHash: word, reason: maybe(word) }),
  record({ type: fc.constant('deadLetter'), reason: fc.constant('policy_violation'), stage: fc.constant('exec') }),
  fc.constant({ type: 'tick' }),
)

const step = record({
  words,
  afterMs: fc.constantFrom(0, 1, 600, 40_000),
  envelope: record({
    actor: fc.constantFrom('worker:w1', 'operator:ann'),
    correlationId: maybe(word),
    traceparent: maybe(word),
    cause: maybe(word),
  }),
  implied: fc.boolean(),
})

describe('the codec', () => {
  it('gives every text back as it was', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(original(storable(a))).toBe(a)
        expect(storable(a).isWellFormed()).toBe(true)
        expect(storable(a)).not.toContain('\u0000')
        expect(storable(a) === storable(b)).toBe(a === b)
      }),
      { numRuns: 500 },
    )
  })

  it('writes the usual end of a job as it writes any other', () => {
    const kind = { tenant: 't', queue: 'q', type: 'x', policy: POLICY }
    const command = { type: 'enqueue', id: 'pj_1', kind, priority: 5, actor: 'producer', requestId: 'pj_1' } as const
    const born = decide(undefined, command, 1_000)
    if (born.kind !== 'accepted') throw new Error('an enqueue is accepted')
    const worker = { actor: 'worker:w1', requestId: 'c' }
    const claimed = decide(born.job, { ...worker, type: 'claim', workerId: 'w1', nonce: '0123456789abcdef' }, 1_005)
    if (claimed.kind !== 'accepted') throw new Error('a claim is accepted')
    const fence = claimed.job.lease?.fence ?? ''
    const words = {
      ...worker,
      type: 'complete',
      fence,
      requestId: `${fence}/complete`,
      executionMs: 7,
      startedAt: 1_006,
    } as const
    const ended = decide(claimed.job, words, 1_013)
    if (ended.kind !== 'accepted') throw new Error('a completion is accepted')
    const text = encodeEvents(ended.events, born.job.spec, baseOf(claimed.job), 'following')
    const alone = encodeEvents(ended.events, born.job.spec, baseOf(claimed.job), 'alone')
    expect(text).toBe(alone.replace(/^\[\[[^\]]*\]/, '[0'))
    expect(text).toBe('[0,["s",1,"o"],["S",7,null,[["output",0],7]]]')
    roundTripEvents(claimed.job, ended.events)
  })

  it('gives every record and every event back as core made them', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(enqueue, fc.array(step, { maxLength: 25 }), (command, steps) => {
        let now = 1_000
        const first = decide(undefined, command, now)
        if (first.kind !== 'accepted') return
        let job = roundTripFirst(first.events[0] as EnqueuedEvent, first.job)
        const log: Event[] = [...first.events]
        for (const [n, { words, afterMs, envelope, implied }] of steps.entries()) {
          now += afterMs
          const made = decided(job, words, envelope, implied, n, now)
          if (made?.kind !== 'accepted') continue
          for (const event of made.events) seen.add(event.type)
          roundTripEvents(job, made.events)
          log.push(...made.events)
          job = made.job
          expect(decodeRecord(encodeRecord(job), job.id, job.spec)).toStrictEqual(job)
        }
        expect(derive(log)).toStrictEqual(job)
      }),
      // Always the same programs, so that what they come across is always the same.
      { numRuns: 3_000, seed: 1 },
    )
    expect([...seen].sort()).toContain('dead_lettered')
    expect(seen.size, [...seen].sort().join(' ')).toBeGreaterThan(20)
  })
})

function decided(
  job: Job,
  words: object & { type: string },
  envelope: object,
  implied: boolean,
  n: number,
  now: number,
) {
  if (words.type === 'tick') return decideTick(job, now, { actor: 'system', requestId: `tick-${n}` })
  const fence = job.lease?.fence ?? job.lastClaim?.fence ?? ''
  const owned = OWNER_COMMANDS.some((type) => type === words.type) ? { fence } : {}
  const requestId = implied ? `${fence}/${words.type}` : `r${n}`
  return decide(job, { ...words, ...envelope, ...owned, requestId } as Command, now)
}

function roundTripFirst(event: EnqueuedEvent, job: Job): Job {
  const { spec } = event.payload
  const columns = { id: event.jobId, kind: spec.kind, at: event.at, priority: event.payload.priority }
  const again = decodeEnqueued(encodeEnqueued(event), columns)
  expect(again).toStrictEqual(event)
  expect(evolve(undefined, again)).toStrictEqual(job)
  return job
}

function roundTripEvents(before: Job, events: readonly Event[]): void {
  const { id, spec } = before
  const alone = encodeEvents(events, spec, baseOf(before), 'alone')
  expect(decodeEvents(alone, id, spec)).toStrictEqual(events)
  const following = encodeEvents(events, spec, baseOf(before), 'following')
  expect(decodeEvents(following, id, spec, baseOf(before))).toStrictEqual(events)
  expect(alone.isWellFormed()).toBe(true)
  expect(alone).not.toContain('\u0000')
}
