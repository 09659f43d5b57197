/** JobResults of document 002: what each stands for, and one that came too late as it was told. */
import { describe, expect, it } from 'vitest'
import { commandOfResult, lateResultOf } from '../../src/core/dialects/job-result.ts'
import type { Annotation } from '../../src/core/event.ts'

const fence = '0.1.0123456789abcdef'

describe('a JobResult', () => {
  it.each([
    [
      { status: 'SUCCEEDED', result_ptr: 'mem://r', execution_ms: 7 },
      { type: 'complete', resultPtr: 'mem://r', executionMs: 7 },
    ],
    [
      { status: 'FAILED', error_code: 'E_1', error_message: 'no' },
      { type: 'fail', fault: { code: 'E_1', message: 'no' } },
    ],
    [{ status: 'FAILED' }, { type: 'fail', fault: { code: 'FAILED', message: '' } }],
    [
      { status: 'TIMEOUT', error_message: 'slow' },
      { type: 'fail', fault: { code: 'E_TIMEOUT', message: 'slow' } },
    ],
    [
      { status: 'CANCELLED', error_message: 'enough' },
      { type: 'cancel', mode: 'soft', reason: 'enough' },
    ],
    [
      { status: 'DENIED', error_message: 'unsafe' },
      { type: 'deadLetter', reason: 'policy_violation', message: 'unsafe' },
    ],
  ] as const)('%j is the command it stands for', (result, command) => {
    expect(commandOfResult({ ...result, fence })).toMatchObject({ ...command, fence })
  })

  it('that came too late is told as it came', () => {
    const noted = (outcome: Annotation['outcome']): Annotation => ({
      jobId: 'pj_1',
      generation: 0,
      attempt: 1,
      command: 'complete',
      at: 1,
      actor: 'worker:w1',
      requestId: 'r',
      correlationId: 'c',
      outcome,
    })
    const told = (word: Annotation) => lateResultOf(word, [])
    const none = { resultPtr: undefined, result: undefined, error: undefined, executionMs: undefined }
    expect(told(noted(undefined))).toBeUndefined()
    expect(told(noted({ ...none, state: 'succeeded', resultPtr: 'mem://r', executionMs: 3 }))).toEqual({
      status: 'SUCCEEDED',
      result_ptr: 'mem://r',
      worker_id: 'w1',
      execution_ms: 3,
    })
    const failed = { ...none, state: 'failed' } as const
    expect(told(noted({ ...failed, error: { code: 'E_1', message: 'no' } }))).toMatchObject({
      status: 'FAILED',
      error_code: 'E_1',
    })
    expect(told(noted({ ...failed, error: { code: 'E_TIMEOUT', message: '' } }))).toMatchObject({
      status: 'TIMEOUT',
    })
  })
})
