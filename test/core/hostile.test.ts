/** Bad input gets a refusal that names the field: never a throw, never a silent default, never a changed job. */
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import type { Kind } from '../../src/core/job.ts'
import { COMMANDS } from '../../src/core/verb.ts'
import { given, kindOf, T0, type Words } from './given.ts'
import { WORDS } from './sample.ts'

const long = (n: number) => 'x'.repeat(n)
const kind = kindOf()
const enqueue = { type: 'enqueue', id: 'pj_2', kind, priority: 5 } as const

/** Words, and the field that a refusal must name. */
const CASES: readonly (readonly [Words, string])[] = [
  [{ ...enqueue, id: '' }, 'id'],
  [{ ...enqueue, id: long(10_000) }, 'id'],
  [{ ...enqueue, id: 'pj_0' }, 'id'],
  [{ ...enqueue, id: 'pj_vvvvvvvvvvv' }, 'id'],
  [{ ...enqueue, id: 7 }, 'id'],
  [{ ...enqueue, kind: undefined }, 'kind'],
  [{ ...enqueue, kind: { ...kind, tenant: '' } }, 'kind.tenant'],
  [{ ...enqueue, kind: { ...kind, queue: '__proto__' } }, 'kind.queue'],
  [{ ...enqueue, kind: { ...kind, type: 'a\u0000b' } }, 'kind.type'],
  [{ ...enqueue, kind: { ...kind, type: '\ud800' } }, 'kind.type'],
  [{ ...enqueue, kind: { ...kind, policy: null } }, 'kind.policy'],
  [{ ...enqueue, kind: { ...kind, type: '.' } }, 'kind.type'],
  [{ ...enqueue, kind: { ...kind, queue: '..' } }, 'kind.queue'],
  [{ ...enqueue, kind: { ...kind, queue: 'a,b' } }, 'kind.queue'],
  [{ ...enqueue, kind: { ...kind, queue: 7 } }, 'kind.queue'],
  [{ ...enqueue, priority: 10 }, 'priority'],
  [{ ...enqueue, priority: -1 }, 'priority'],
  [{ ...enqueue, priority: 1.5 }, 'priority'],
  [{ ...enqueue, runAt: Number.NaN }, 'runAt'],
  [{ ...enqueue, runAt: -1 }, 'runAt'],
  [{ ...enqueue, runAt: 1e300 }, 'runAt'],
  [{ ...enqueue, alias: 'pj_1' }, 'alias'],
  [{ ...enqueue, alias: long(10_000) }, 'alias'],
  [{ ...enqueue, alias: 5 }, 'alias'],
  [{ ...enqueue, alias: '.' }, 'alias'],
  [{ ...enqueue, alias: '..' }, 'alias'],
  [{ ...enqueue, input: 'text' }, 'input'],
  [{ ...enqueue, input: { name: 'input', size: -1 } }, 'input.size'],
  [{ ...enqueue, input: { name: 'input', size: 1, digest: '' } }, 'input.digest'],
  [{ ...enqueue, contextPtr: long(2_049) }, 'contextPtr'],
  [{ ...enqueue, topic: '' }, 'topic'],
  [{ ...enqueue, env: [] }, 'env'],
  [{ ...enqueue, env: JSON.parse('{"__proto__":"x"}') }, 'env.__proto__'],
  [{ ...enqueue, labels: { a: 1 } }, 'labels.a'],
  [{ ...enqueue, labels: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`l${i}`, 'x'])) }, 'labels'],
  [{ ...enqueue, stepIndex: -1 }, 'stepIndex'],
  [{ ...enqueue, dedupeKey: long(513) }, 'dedupeKey'],
  [{ type: 'admit', rule: '', policyHash: 'h' }, 'rule'],
  [{ type: 'deny', rule: 'r', policyHash: 'h', reason: long(2_001) }, 'reason'],
  [{ type: 'claim', workerId: '', nonce: '0123456789abcdef' }, 'workerId'],
  [{ type: 'claim', workerId: '..', nonce: '0123456789abcdef' }, 'workerId'],
  [{ type: 'claim', workerId: 'w', nonce: 'short' }, 'nonce'],
  [{ type: 'claim', workerId: 'w' }, 'nonce'],
  [{ type: 'start' }, 'fence'],
  [{ type: 'heartbeat', fence: long(10_000) }, 'fence'],
  [{ type: 'progress', fence: 'f', progress: { done: Number.NaN } }, 'progress.done'],
  [{ type: 'progress', fence: 'f', progress: { done: 1, total: 'x' } }, 'progress.total'],
  [{ type: 'progress', fence: 'f', progress: { done: 1, message: 7, etaAt: -1 } }, 'progress.message'],
  [{ type: 'progress', fence: 'f', progress: null }, 'progress'],
  [{ type: 'progress', fence: 'f', counters: { a: Number.POSITIVE_INFINITY } }, 'counters.a'],
  [{ type: 'progress', fence: 'f', counters: JSON.parse('{"__proto__":1}') }, 'counters.__proto__'],
  [{ type: 'checkpoint', fence: 'f' }, 'body'],
  [{ type: 'record', fence: 'f' }, 'step'],
  [{ type: 'record', fence: 'f', note: { kind: 'mood', name: 'n' } }, 'note.kind'],
  [{ type: 'record', fence: 'f', note: { kind: 'node_started', name: '' } }, 'note.name'],
  [{ type: 'record', fence: 'f', step: { name: '', compensate: true } }, 'step.name'],
  [{ type: 'record', fence: 'f', step: { name: 's', compensate: 'yes', body: 1 } }, 'step.compensate'],
  [{ type: 'record', fence: 'f', artifact: { name: '__proto__', ptr: 'p' } }, 'artifact.name'],
  [{ type: 'record', fence: 'f', artifact: { name: 'a', ptr: '' } }, 'artifact.ptr'],
  [{ type: 'record', fence: 'f', undone: '' }, 'undone'],
  [{ type: 'complete', fence: 'f', result: { name: 'output', size: 1 }, resultPtr: 'p' }, 'resultPtr'],
  [{ type: 'complete', fence: 'f', executionMs: -5 }, 'executionMs'],
  [{ type: 'complete', fence: 'f', stats: { a: '1' } }, 'stats.a'],
  [{ type: 'fail', fence: 'f' }, 'fault'],
  [{ type: 'fail', fence: 'f', fault: { code: '', message: '' } }, 'fault.code'],
  [{ type: 'fail', fence: 'f', fault: { code: 'x', message: '', class: 'fatal' } }, 'fault.class'],
  [{ type: 'fail', fence: 'f', fault: { code: 'x', message: '', stage: 'lunch' } }, 'fault.stage'],
  [{ type: 'fail', fence: 'f', fault: { code: 'x', message: '', retryAfterMs: 1e18 } }, 'fault.retryAfterMs'],
  [
    { type: 'fail', fence: 'f', fault: { code: 'x', message: '', context: { a: long(513) }, body: {} } },
    'fault.context.a',
  ],
  [{ type: 'wait', fence: 'f', name: '' }, 'name'],
  [{ type: 'wait', fence: 'f', name: 'n', timeoutMs: Number.NEGATIVE_INFINITY }, 'timeoutMs'],
  [{ type: 'wait', fence: 'f', name: 'n', onTimeout: 'maybe' }, 'onTimeout'],
  [{ type: 'wait', fence: 'f', name: 'n', key: '', memo: '' }, 'memo'],
  [{ type: 'signal', name: '__proto__' }, 'name'],
  [{ type: 'signal', name: 'n', key: '', body: 'x' }, 'key'],
  [{ type: 'release', fence: 'f', reason: 'tired' }, 'reason'],
  [{ type: 'reschedule' }, 'runAt'],
  [{ type: 'reschedule', priority: 11 }, 'priority'],
  [{ type: 'stall', fence: '' }, 'fence'],
  [{ type: 'cancel' }, 'mode'],
  [{ type: 'deadLetter', reason: 'because', stage: 'exec' }, 'reason'],
  [{ type: 'deadLetter', reason: 'timeout', stage: 'nowhere', message: 5 }, 'stage'],
  [{ type: 'compensated', fence: 'f', executionMs: Number.NaN }, 'executionMs'],
  [{ type: 'reopen', runAt: 'now' }, 'runAt'],
]

describe('a bad field', () => {
  it.each(CASES)('%j is refused, naming %s', (words, field) => {
    const history = given().starts()
    const before = structuredClone(history.record)
    history.when(words).refused('INVALID', field)
    expect(history.record).toEqual(before)
  })

  it.each(COMMANDS)('of the envelope of %s is named, all at once', (type) => {
    const outcome = given().when({
      ...WORDS[type],
      type,
      actor: '',
      requestId: long(257),
      correlationId: 5,
      cause: '',
      traceparent: '\n',
      expectedRev: -1,
    })
    for (const field of ['actor', 'requestId', 'correlationId', 'cause', 'traceparent', 'expectedRev'])
      outcome.refused('INVALID', field)
  })
})

describe('no command at all', () => {
  it.each(
    [null, undefined, 7, 'cancel', [], {}, { type: 'explode' }, { type: '__proto__' }, { type: 'toString' }].map(
      (nothing) => ({ nothing }),
    ),
  )('%j is refused', ({ nothing }) => {
    const decision = decide(given().record, nothing as never, T0)
    expect(decision).toMatchObject({ kind: 'refused', refusal: { code: 'INVALID', command: undefined } })
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300])('a clock of %s is refused', (now) => {
    const command = {
      type: 'enqueue',
      id: 'pj_1',
      kind: kind as Kind,
      priority: 5,
      actor: 'a',
      requestId: 'r',
    } as const
    expect(decide(undefined, command, now)).toMatchObject({ refusal: { violations: [{ field: 'now' }] } })
  })
})
