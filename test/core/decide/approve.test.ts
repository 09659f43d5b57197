import { describe, expect, it } from 'vitest'
import { jobHashOf } from '../../../src/core/admission.ts'
import { explain } from '../../../src/core/explain.ts'
import { now as phrase } from '../../../src/core/now.ts'
import { judgeAt } from '../../../src/core/timers.ts'
import { given } from '../given.ts'

const ASK = { type: 'askApproval', rule: 'ask', policyHash: 'h', expiresMs: 1_000, reason: 'risky' } as const
const AROUND = { now: 0, paused: undefined, workers: undefined, held: undefined }

const asked = (words: object = {}) => given({ admission: true }).does({ ...ASK, ...words })
const approve = (jobHash: string, words: object = {}) =>
  ({ type: 'approve', policyHash: 'h', jobHash, reason: 'seen', ...words }) as const

describe('approve', () => {
  it('is for what was asked, in time, once, and by another where another is wanted', () => {
    const history = asked({ notBy: 'ann' })
    const hash = jobHashOf(history.record)
    const refused = (words: object, jobHash = hash) => history.when(approve(jobHash, words)).refused('NOT_APPROVABLE')
    refused({ policyHash: 'another' })
    refused({}, 'another')
    refused({ actor: 'ann' })
    given({ admission: true }).when(approve(hash)).refused('NOT_APPROVABLE')
    asked().after(1_000).when(approve(hash)).refused('NOT_APPROVABLE')
    expect(judgeAt(history.record)).toBe(history.record.approval?.expiresAt)
    history.does(approve(hash))
    expect(history.record.approval?.given).toMatchObject({ reason: 'seen' })
    expect(judgeAt(history.record)).toBe(history.record.updatedAt)
    history.when(approve(hash)).refused('NOT_APPROVABLE')
  })

  it('is no other role’s of the same name, nor anybody’s who has none, and letting in by hand is no way around', () => {
    const history = asked({ notBy: 'producer:ann' })
    const hash = jobHashOf(history.record)
    const admit = (actor: string) => ({ type: 'admit', rule: 'by_hand', policyHash: 'none', actor }) as const
    for (const actor of ['admin:ann', 'ann', 'operator']) {
      history.when(approve(hash, { actor })).refused('NOT_APPROVABLE')
      history.when(admit(actor)).refused('NOT_APPROVABLE')
    }
    expect(asked({ notBy: 'producer:ann' }).does(approve(hash, { actor: 'admin:bob' })).state).toBe('pending')
    expect(asked({ notBy: 'producer:ann' }).does(admit('admin:bob')).state).toBe('queued')
    expect(asked({ notBy: 'producer:scheduler' }).does(admit('system:scheduler')).state).toBe('queued')
  })

  it('is refused in words that make no sense', () => {
    asked()
      .when(approve('', { policyHash: '' }))
      .refused('INVALID')
    given({ admission: true })
      .when({ ...ASK, expiresMs: 0 })
      .refused('INVALID')
    const terms = (value: unknown) => ({ type: 'admit', rule: 'r', policyHash: 'h', terms: value as never }) as const
    given({ admission: true }).when(terms(7)).refused('INVALID')
    given({ admission: true })
      .when(terms({ attemptMs: 0, maxAttempts: 0 }))
      .refused('INVALID')
  })

  it('is waited for in words that people understand', () => {
    const open = asked().record
    expect(explain(open, AROUND)).toMatchObject({ way: 'pending', because: expect.stringContaining('risky') })
    expect(explain(asked({ reason: undefined, notBy: 'ann' }).record, AROUND).who).toContain('ann')
    expect(phrase(open, AROUND).before).toContain('asks for an approval')
    const given = asked().does(approve(jobHashOf(open))).record
    expect(explain(given, AROUND).who).toBe('the scheduler')
    expect(phrase(given, AROUND).before).toBe('waits to be admitted')
  })
})
