import { describe, expect, it } from 'vitest'
import { PermanentError, ThrottledError, TransientError, ValidationError } from '../../src/core/thrown.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const quickRetry = { base: 1_000, factor: 1, max: 1_000, jitter: 'none' } as const

describe('a handler that always fails', () => {
  it.each([1, 2, 3, 7, 25])('runs exactly %i times', async (attempts) => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const doomed = definition(
      async () => {
        runs += 1
        throw new Error('no')
      },
      { retry: { ...quickRetry, attempts } },
    )
    const id = await fixture.enqueue(doomed)
    fixture.work([doomed])
    await fixture.time.advance(attempts * 4_000)
    const job = await fixture.load(id)
    expect(job).toMatchObject({ state: 'dead_lettered', failures: attempts, attempt: attempts })
    expect(job.deadLetter).toMatchObject({ reason: 'exhausted_retries', attempts })
    expect(runs).toBe(attempts)
    await fixture.time.advance(120_000)
    expect(runs).toBe(attempts)
  })
})

describe('a worker that dies with its handler, again and again', () => {
  it('runs the job maxStalls + 1 times, then it is a dead letter', async () => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const fatal = definition(
      () => {
        runs += 1
        current.mortal.kill()
        return new Promise(() => {})
      },
      { retry: { stalls: 2 } },
    )
    const id = await fixture.enqueue(fatal)
    let current = fixture.work([fatal])
    for (let i = 0; i < 6; i += 1) {
      await fixture.time.advance(4_000)
      current = fixture.work([fatal])
    }
    expect(runs).toBe(3)
    const job = await fixture.load(id)
    expect(job).toMatchObject({ state: 'dead_lettered', stalls: 3, failures: 0 })
    expect(job.deadLetter?.reason).toBe('infrastructure_failure')
  })
})

describe('what a handler throws', () => {
  it.each([
    ['a permanent error ends the job', () => new PermanentError('x', { code: 'invalid_url' }), 'failed', 'invalid_url'],
    ['a validation error is a dead letter', () => new ValidationError('x'), 'dead_lettered', 'validation_failed'],
    [
      'a transient error is retried',
      () => new TransientError('x', { code: 'E_5XX_ORIGIN' }),
      'retrying',
      'E_5XX_ORIGIN',
    ],
    ['a throttled error is retried', () => new ThrottledError('x', { code: 'captcha' }), 'retrying', 'captcha'],
    ['any other error is retried', () => new TypeError('x'), 'retrying', 'TypeError'],
    [
      'a code of its own is kept',
      () => Object.assign(new Error('x'), { code: 'ECONNRESET' }),
      'retrying',
      'ECONNRESET',
    ],
    ['what is no error at all is retried', () => ({ odd: true }), 'retrying', 'thrown'],
  ] as const)('%s', async (_, thrown, state, code) => {
    await using fixture = openWorkerFixture()
    const failing = definition(async () => {
      throw thrown()
    })
    const id = await fixture.enqueue(failing)
    fixture.work([failing])
    await fixture.time.settle()
    const job = await fixture.load(id)
    expect(job.state).toBe(state)
    expect((job.error ?? job.lastFailure)?.code).toBe(code)
  })

  it('keeps code, stage, context, the stack apart, and neither secrets nor endless words', async () => {
    await using fixture = openWorkerFixture()
    const failing = definition(() => {
      const words = `postgres://ann:hunter2@db/x Bearer abcdefghijkl \u0000 ${'y'.repeat(5_000)}`
      throw new TransientError(words, { stage: 'fetch', context: { url: 'https://x.org' }, retryAfterMs: 90_000 })
    })
    const id = await fixture.enqueue(failing)
    fixture.work([failing])
    await fixture.time.settle()
    const job = await fixture.load(id)
    const failure = job.lastFailure
    expect(failure).toMatchObject({ stage: 'fetch', context: { url: 'https://x.org' }, class: 'transient' })
    expect(failure?.message).not.toMatch(/hunter2|abcdefghijkl|\u0000/)
    expect(failure?.message.length).toBeLessThanOrEqual(2_000)
    expect(job.readyAt).toBeGreaterThanOrEqual(fixture.time.now() + 90_000)
    expect(await fixture.body(id, 'error/1')).toMatchObject({
      name: 'TransientError',
      stack: expect.stringContaining('at '),
    })
  })

  it('may be an answer that JSON cannot hold, its own or a step’s', async () => {
    await using fixture = openWorkerFixture()
    const failing = definition(() => 1n)
    const stepping = definition((_, ctx) => ctx.step('big', () => 1n), {}, { type: 'stepping' })
    const [own, step] = [await fixture.enqueue(failing), await fixture.enqueue(stepping)]
    fixture.work([failing, stepping])
    await fixture.time.settle()
    expect(await fixture.load(own)).toMatchObject({ state: 'failed', error: { code: 'not_json', stage: 'output' } })
    expect(await fixture.load(step)).toMatchObject({ state: 'failed', error: { code: 'not_json', stage: 'exec' } })
  })
})

describe('a time limit', () => {
  it('aborts the handler and is a soft timeout', async () => {
    await using fixture = openWorkerFixture()
    let reason: unknown
    const slow = definition(
      (_, ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason
            reject(new Error('aborted'))
          })
        }),
      { timeout: '3s', retry: quickRetry },
    )
    const id = await fixture.enqueue(slow)
    fixture.work([slow])
    await fixture.time.advance(3_200)
    expect(reason).toMatchObject({ name: 'AttemptTimeoutError', code: 'E_TIMEOUT' })
    const job = await fixture.load(id)
    expect(job).toMatchObject({ state: 'retrying', failures: 1, lastFailure: { code: 'E_TIMEOUT' } })
  })

  it('does not let a handler that ignores it occupy its place', async () => {
    await using fixture = openWorkerFixture()
    const deaf = definition(() => new Promise(() => {}), { timeout: '3s', retry: { attempts: 1 } })
    const quick = definition(() => {}, {}, { type: 'quick' })
    const id = await fixture.enqueue(deaf)
    const { worker } = fixture.work([deaf, quick], { concurrency: 1 })
    await fixture.time.advance(1_000)
    const next = await fixture.enqueue(quick)
    await fixture.time.advance(5_000)
    expect((await fixture.load(id)).deadLetter?.reason).toBe('timeout')
    expect((await fixture.load(next)).state).toBe('succeeded')
    expect(worker.running).toBe(0)
  })
})
