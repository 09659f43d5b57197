import { describe, expect, it } from 'vitest'
import { type Addressed, maxAttemptsOf, sentenceOf } from '../../../src/core/admission.ts'
import { recordBreaches } from '../../../src/core/invariants.ts'
import { jobHashOf } from '../../../src/core/job-hash.ts'
import { judgeAt } from '../../../src/core/timers.ts'
import { given } from '../given.ts'

const ASK = { type: 'askApproval', rule: 'ask', policyHash: 'h', expiresMs: 1_000, reason: 'risky' } as const

const asked = (words: object = {}) => given({ admission: true }).does({ ...ASK, ...words })
const approve = (jobHash: string, words: object = {}) =>
  ({ type: 'approve', policyHash: 'h', jobHash, reason: 'seen', ...words }) as const

const word = (over: Partial<Addressed> = {}): Addressed => ({
  letsIn: true,
  rule: 'r',
  policyHash: 'h',
  reason: undefined,
  terms: undefined,
  approval: { expiresMs: 1_000, fourEyes: true },
  ...over,
})

describe('what waits to be judged', () => {
  it('is pending, since it came or was told something', () => {
    const fresh = given({ admission: true }).record
    expect(judgeAt(fresh)).toBe(fresh.updatedAt)
    expect(judgeAt(given().record)).toBeUndefined()
  })

  it('is nothing else: an approval that is asked for elsewhere is a breach', () => {
    const { approval } = asked().record
    expect(recordBreaches({ ...given().record, approval })).toMatchObject([{ invariant: 'I5' }])
  })
})

describe('a sentence', () => {
  const fresh = given({ admission: true }).record
  const open = asked().record
  const approved = asked().does(approve(jobHashOf(open))).record
  const late = (open.approval?.expiresAt ?? 0) + 1
  const said = (job: typeof fresh, over: Partial<Addressed> = {}, at = open.updatedAt) =>
    sentenceOf(job, word(over), at, 'ann')

  it('denies, admits, asks, or takes an answer', () => {
    expect(said(fresh, { letsIn: false })).toMatchObject({ type: 'deny', cause: 'policy_violation' })
    expect(said(fresh, { approval: undefined })).toMatchObject({ type: 'admit' })
    expect(said(fresh)).toMatchObject({ type: 'askApproval', notBy: 'ann' })
    expect(said(fresh, { approval: { expiresMs: 1, fourEyes: false } })).toMatchObject({ notBy: undefined })
    expect(said(approved)).toMatchObject({ type: 'admit', reason: expect.stringMatching(/^Approved by /) })
    expect(said(approved, { policyHash: 'another' })).toMatchObject({ type: 'askApproval' })
    expect(said(approved, {}, late)).toMatchObject({ type: 'askApproval' })
    expect(said(open, {}, late)).toMatchObject({ type: 'deny', reason: 'Nobody approved it in time.' })
    expect(said({ ...approved, generation: 1 })).toMatchObject({ type: 'askApproval' })
    expect(said({ ...approved, priority: 0 })).toMatchObject({ type: 'askApproval' })
  })

  it('brings terms, of which only the narrower hold', () => {
    const admit = (terms: object) =>
      given({ admission: true, retry: { attempts: 7 } }).does({
        type: 'admit',
        rule: 'r',
        policyHash: 'h',
        terms: terms as never,
      })
    expect(admit({ attemptMs: undefined, maxAttempts: 2 }).record.terms).toEqual({
      attemptMs: undefined,
      maxAttempts: 2,
    })
    expect(maxAttemptsOf(admit({ maxAttempts: 2 }).record)).toBe(2)
    expect(admit({ attemptMs: 1_000 }).record.terms).toEqual({ attemptMs: 1_000, maxAttempts: undefined })
    expect(admit({ attemptMs: 1e9, maxAttempts: 100 }).record.terms).toBeUndefined()
  })
})
