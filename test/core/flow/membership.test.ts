import { describe, expect, it } from 'vitest'
import { isUneventful } from '../../../src/core/flow/decide.ts'
import { heardOf } from '../../../src/core/flow/heard.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import { flowNameOf, placeMoveOf, toldKey, weighedBy } from '../../../src/core/flow/membership.ts'
import { HEARD_MS } from '../../../src/core/flow/numbers.ts'
import { given, type Words } from '../given.ts'

const FLOW = { keys: ['host', 'all'], fair: undefined }
const limited = (words: Readonly<Record<string, unknown>> = {}) => given({}, { flow: FLOW, ...words })
const said = (words: Words) => ({ actor: 'worker:w1', requestId: 'r', ...words }) as never

describe('the flow of a job', () => {
  it('has everything in its name that can stop it', () => {
    const name = (words = {}) => flowNameOf(limited(words).record)
    expect(flowNameOf(given().record)).toBeUndefined()
    expect(name()).toBe(name())
    expect(flowNameOf({ ...limited().record, needs: 'mail' })).not.toBe(name())
    for (const words of [
      { priority: 1 },
      { flow: { ...FLOW, fair: 'c' } },
      { flow: { ...FLOW, keys: ['all', 'host'] } },
    ])
      expect(name(words)).not.toBe(name())
  })

  it('weighs as whoever it is for, else as its first key', () => {
    expect(weighedBy({ keys: ['a'], fair: 'c' })).toBe('c')
    expect(weighedBy({ keys: ['a'], fair: undefined })).toBe('a')
  })

  it('tells its first key, the one that its type marks, or the one that is named', () => {
    expect(toldKey(limited().record.spec)).toBe('host')
    expect(toldKey(given({ limits: [{}, { adaptive: true }] }, { flow: FLOW }).record.spec)).toBe('all')
    expect(toldKey(limited().record.spec, 'all')).toBe('all')
    expect(toldKey(limited().record.spec, 'nobody')).toBeUndefined()
    expect(toldKey(given().record.spec)).toBeUndefined()
  })
})

describe('what a commit does with a place', () => {
  const queued = limited()
  const before = queued.record
  const owned = limited().claims()
  const running = limited().starts()

  it('holds who comes, comes back, or is to run at another time', () => {
    expect(placeMoveOf(undefined, before)).toBe('hold')
    expect(placeMoveOf(running.record, before)).toBe('hold')
    expect(placeMoveOf(before, { ...before, readyAt: 7 })).toBe('hold')
    expect(placeMoveOf(before, { ...before, priority: 1 })).toBe('hold')
    expect(placeMoveOf(before, { ...before, needs: 'mail' })).toBe('hold')
  })

  it('lets who is owned keep its slots, and takes them from who goes', () => {
    expect(placeMoveOf(before, owned.record)).toBe('own')
    expect(placeMoveOf(owned.record, running.record)).toBe('stay')
    expect(placeMoveOf(running.record, running.does({ type: 'complete', fence: 'mine' }).record)).toBe('leave')
    expect(placeMoveOf(before, undefined)).toBe('leave')
  })

  it('changes nothing where nothing changes for the job', () => {
    expect(placeMoveOf(before, { ...before, rev: before.rev + 1 })).toBe('stay')
    expect(placeMoveOf(undefined, undefined)).toBe('stay')
  })
})

describe('what a key hears', () => {
  const job = limited().starts().record
  const fail = (fault: object) => heardOf(job, said({ type: 'fail', fence: 'f', fault: { message: '', ...fault } }))

  it('is how the attempt ended, when it was claimed, and who says so', () => {
    expect(heardOf(job, said({ type: 'complete', fence: 'f' }))).toEqual({
      key: 'host',
      input: {
        type: 'succeeded',
        claimedAt: job.lease?.grantedAt,
        cause: { job: 'pj_1', attempt: 1, code: undefined, actor: 'worker:w1', requestId: 'r' },
      },
    })
    expect(fail({ code: 'captcha', key: 'all' })).toMatchObject({
      key: 'all',
      input: { type: 'throttled', cause: { code: 'captcha' } },
    })
    expect(fail({ code: 'E_429_RATE', retryAfterMs: 5 })).toMatchObject({
      input: { type: 'retry_after', retryAfterMs: 5 },
    })
    expect(fail({ code: 'E_5XX_ORIGIN' })).toMatchObject({ input: { type: 'unavailable' } })
  })

  it('needs no look where a success finds the key open, without strikes, and heard of within the hour or never pushed back', () => {
    const record = atRest('host')
    const succeeded = { type: 'succeeded' } as const
    expect(isUneventful(record, { type: 'throttled' }, HEARD_MS)).toBe(false)
    expect(isUneventful(record, succeeded, HEARD_MS)).toBe(true)
    expect(isUneventful({ ...record, state: 'slow' }, succeeded, 0)).toBe(false)
    expect(isUneventful({ ...record, strikes: 1 }, succeeded, 0)).toBe(false)
    const rotated = { ...record, session: 1, since: 500 }
    expect(isUneventful(rotated, succeeded, 500 + HEARD_MS - 1)).toBe(true)
    expect(isUneventful(rotated, succeeded, 500 + HEARD_MS)).toBe(false)
    expect(isUneventful({ ...rotated, heardAt: 600 }, succeeded, 500 + HEARD_MS)).toBe(true)
  })

  it('is nothing where the end says nothing about others, or nobody is there to hear', () => {
    expect(fail({ code: 'invalid_url' })).toBeUndefined()
    expect(fail({ code: 'captcha', key: 'nobody' })).toBeUndefined()
    expect(heardOf(job, said({ type: 'release', fence: 'f', reason: 'shutdown' }))).toBeUndefined()
    expect(heardOf(limited().record, said({ type: 'complete', fence: 'f' }))).toBeUndefined()
    expect(heardOf(given().starts().record, said({ type: 'complete', fence: 'f' }))).toBeUndefined()
  })
})
