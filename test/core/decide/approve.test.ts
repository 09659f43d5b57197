import { describe, expect, it } from 'vitest'
import { type Addressed, approvalAmiss, sentenceOf } from '../../../src/core/admission.ts'
import type { Command } from '../../../src/core/command.ts'
import { decide } from '../../../src/core/decide.ts'
import { explain } from '../../../src/core/explain.ts'
import { jobHashOf } from '../../../src/core/job-hash.ts'
import { now as phrase } from '../../../src/core/now.ts'
import { isRetry } from '../../../src/core/successor.ts'
import { judgeAt } from '../../../src/core/timers.ts'
import { given } from '../given.ts'

const ASK = { type: 'askApproval', rule: 'ask', policyHash: 'h', expiresMs: 1_000, reason: 'risky' } as const
const AROUND = { now: 0, paused: undefined, workers: undefined, held: undefined }

const asked = (words: object = {}) => given({ admission: true }).does({ ...ASK, ...words })
const approve = (jobHash: string, words: object = {}) =>
  ({ type: 'approve', policyHash: 'h', jobHash, reason: 'seen', ...words }) as const

const ADDRESSED: Addressed = {
  letsIn: true,
  rule: 'ask',
  policyHash: 'h',
  reason: undefined,
  terms: undefined,
  approval: undefined,
}

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

  it('is for the input that was asked about: one that a duplicate has brought since is asked about anew', () => {
    const history = asked()
    const replace = { type: 'replace', input: { name: 'replaced', size: 9, digest: 'd' } } as const
    const hash = jobHashOf(history.record)
    history.does(approve(hash)).does(replace)
    expect(judgeAt(history.record)).toBe(history.record.updatedAt)
    const word: Addressed = { ...ADDRESSED, approval: { expiresMs: 1_000, fourEyes: false } }
    const said = () => sentenceOf(history.record, word, history.now, undefined)
    expect(said()).toMatchObject({ type: 'askApproval' })
    history.does({ ...said() })
    const again = jobHashOf(history.record)
    expect(again).not.toBe(hash)
    history.when(approve(hash)).refused('NOT_APPROVABLE')
    // The very same text again, as far as sizes and digests tell, is another input.
    history.does(replace).when(approve(again)).refused('NOT_APPROVABLE')
    expect(jobHashOf(history.record)).not.toBe(again)
  })

  it('is not touched by a duplicate that moves its time, or that comes next', () => {
    const flow = { keys: ['k'], fair: undefined }
    for (const words of [{ runAt: 9_000_000 }, { input: { name: 'next', size: 1 }, flow }]) {
      const history = asked()
      history.does(approve(jobHashOf(history.record))).does({ type: 'replace', ...words })
      expect(judgeAt(history.record)).toBe(history.record.approval?.given?.at)
      expect(sentenceOf(history.record, ADDRESSED, history.now, undefined).type).toBe('admit')
    }
  })

  it('wants other eyes than those of whoever brought the newest input, too', () => {
    const history = given({ admission: true }).does({
      type: 'replace',
      input: { name: 'replaced', size: 1 },
      actor: 'producer:eve',
    })
    history.does({ ...ASK, notBy: 'producer:ann' })
    const hash = jobHashOf(history.record)
    for (const actor of ['admin:eve', 'admin:ann']) history.when(approve(hash, { actor })).refused('NOT_APPROVABLE')
    history.does(approve(hash, { actor: 'admin:bob' }))
  })

  it('is nobody’s to give where anybody may have asked for it', () => {
    for (const notBy of ['operator', 'producer:bus']) {
      const history = asked({ notBy })
      history.when(approve(jobHashOf(history.record), { actor: 'admin:ann' })).refused('NOT_APPROVABLE')
    }
    const word: Addressed = { ...ADDRESSED, approval: { expiresMs: 1_000, fourEyes: true } }
    const fresh = given({ admission: true })
    expect(sentenceOf(fresh.record, word, fresh.now, 'producer:bus')).toMatchObject({
      type: 'deny',
      reason: expect.stringContaining('producer:bus'),
    })
    fresh.does({ type: 'replace', input: { name: 'replaced', size: 1 }, actor: 'operator' })
    expect(sentenceOf(fresh.record, word, fresh.now, 'producer:ann')).toMatchObject({ type: 'deny' })
  })

  it('is nobody’s to give where a schedule or a worker speaks for somebody: it is denied at once, and says so', () => {
    const word: Addressed = { ...ADDRESSED, approval: { expiresMs: 1_000, fourEyes: true } }
    const fresh = given({ admission: true })
    for (const actor of ['schedule:nightly', 'worker:w1', 'worker', 'system:reconciler']) {
      expect(sentenceOf(fresh.record, word, fresh.now, actor)).toMatchObject({
        type: 'deny',
        reason: expect.stringContaining(`${actor} is a name that anybody may be behind`),
      })
      const history = asked({ notBy: actor })
      history.when(approve(jobHashOf(history.record), { actor: 'admin:ann' })).refused('NOT_APPROVABLE')
    }
    expect(sentenceOf(fresh.record, word, fresh.now, 'producer:worker-team')).toMatchObject({ type: 'askApproval' })
  })

  it('is nobody’s to give where the record does not say who has brought its input', () => {
    const word: Addressed = { ...ADDRESSED, approval: { expiresMs: 1_000, fourEyes: true } }
    const history = given({ admission: true })
    history.does({ type: 'replace', input: { name: 'replaced', size: 1 }, actor: 'producer:eve' })
    history.does({ ...ASK, notBy: 'producer:ann' })
    const { record } = history
    const older = { ...record, newer: record.newer && { ...record.newer, by: undefined } }
    expect(sentenceOf(older, { ...word, policyHash: 'another' }, history.now, 'producer:ann')).toMatchObject({
      type: 'deny',
      reason: expect.stringContaining('does not say who has brought its input'),
    })
    const words = { actor: 'admin:bob', policyHash: 'h', jobHash: jobHashOf(record) }
    expect(approvalAmiss(record, words, history.now)).toBeUndefined()
    expect(approvalAmiss(older, words, history.now)).toContain('does not say who has brought its input')
  })

  it('looks past retries that are new jobs: those are the word of who has ended the one before', () => {
    const history = given({ dialect: '002', retry: { attempts: 3 } }, { actor: 'producer:ann' }).starts()
    const [born] = history.events
    expect(born && isRetry(born)).toBe(false)
    const { decision } = history.when({ type: 'fail', fence: 'mine', fault: { code: 'E_5XX_ORIGIN', message: 'x' } })
    const { successor } = decision.kind === 'accepted' ? decision : {}
    const next = decide(undefined, { ...successor, id: 'pj_2' } as Command, history.now)
    expect(next.kind === 'accepted' && next.events.map(isRetry)).toEqual([true])
    expect(isRetry({ type: 'requeued', cause: 'retry' })).toBe(false)
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
