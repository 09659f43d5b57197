import { describe, expect, it } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import { besideRecord, differences, outcomeOf } from '../../src/policy/outcome.ts'
import { given } from '../core/given.ts'
import { job } from './job.ts'
import { policyOf, routing } from './policy-of.ts'

const ALLOW = { id: 'all', decision: 'allow' }
const APPROVE = { id: 'ask', decision: 'require_approval', expires: '1h' }
const LIMIT = { id: 'gpu', decision: 'throttle', key: 'gpu', limit: { concurrency: 1 } }
const narrowed = (constrain: object) => ({ id: 'narrow', decision: 'constrain', constrain })
const sent = (topic: string) => ({ id: 'away', decision: 'redirect', topic })

const changed = (was: readonly object[], now: readonly object[]) =>
  differences(outcomeOf(policyOf(ALLOW, ...was).judge(job())), outcomeOf(policyOf(ALLOW, ...now).judge(job()))).map(
    ({ what }) => what,
  )

describe('what two policies come to', () => {
  it.each<[string, readonly object[], readonly object[]]>([
    ['topic', [sent('job.a')], [sent('job.b')]],
    ['keys', [LIMIT], [{ ...LIMIT, limit: { concurrency: 2 } }]],
    ['keys', [LIMIT], [{ ...LIMIT, key: 'cpu' }]],
    ['timeout', [narrowed({ timeout: '1m' })], [narrowed({ timeout: '2m' })]],
    ['attempts', [narrowed({ attempts: 1 })], [narrowed({ attempts: 2 })]],
    ['labels', [narrowed({ labels: { a: 'b' } })], [narrowed({ labels: { a: 'c' } })]],
    ['approval', [APPROVE], [{ ...APPROVE, fourEyes: true }]],
    ['approval', [APPROVE], [{ ...APPROVE, expires: '2h' }]],
    ['rule', [APPROVE], [{ ...APPROVE, id: 'other' }]],
    ['rule', [{ id: 'no', decision: 'deny' }], [{ id: 'never', decision: 'deny' }]],
  ])('differs in its %s alone', (what, was, now) => {
    expect(changed(was, now)).toEqual([what])
    expect(changed(was, was)).toEqual([])
  })

  it('differs in its route alone', () => {
    const over = (pool: string) => outcomeOf(routing({ id: 'r', pool }).judge(job()))
    expect(differences(over('a'), over('b'))).toMatchObject([{ what: 'route' }])
    expect(differences(over('a'), over('a'))).toEqual([])
  })
})

describe('what a policy comes to beside what became of a job', () => {
  const admitted = (words: object = {}): Job =>
    given({ admission: true }).does({ type: 'admit', rule: 'all', policyHash: 'h', ...words }).record
  const beside = (record: Job, ...rules: readonly object[]) => {
    const asked = { ...record, spec: record.recast?.asked ?? record.spec }
    const both = besideRecord(record, asked, policyOf(ALLOW, ...rules).judge(asked))
    return both && differences(both.was, both.now)
  }

  it('is open of what nobody has let in or turned away', () => {
    expect(beside(given({ admission: true }).record)).toBeUndefined()
  })

  it('is nothing where the same would be made of it, and else each part that a record tells', () => {
    const labels = { tier: 'free' }
    const same = [LIMIT, narrowed({ labels, attempts: 1, timeout: '1m' })]
    const throttles = [{ key: 'gpu', rule: 'gpu', limit: { concurrency: 1 } }]
    const made = admitted({
      terms: { attemptMs: 60_000, maxAttempts: 1 },
      recast: { redirect: undefined, labels, throttles },
    })
    expect(beside(admitted())).toEqual([])
    expect(beside(made, ...same)).toEqual([])
    expect(beside(made)?.map(({ what }) => what)).toEqual(['keys', 'timeout', 'attempts', 'labels'])
    expect(beside(admitted(), sent('job.b'))).toEqual([{ what: 'topic', was: undefined, now: 'job.b' }])
    expect(beside(admitted(), APPROVE)).toEqual([{ what: 'decision', was: 'let in', now: 'to be approved' }])
    expect(beside(admitted(), { id: 'no', decision: 'deny' })?.[0]).toEqual({
      what: 'decision',
      was: 'let in',
      now: 'turned away',
    })
  })

  it('tells another rule that turns it away', () => {
    const { record } = given({ admission: true }).does({ type: 'deny', rule: 'no', policyHash: 'h' })
    expect(beside(record, { id: 'no', decision: 'deny' })).toEqual([])
    expect(beside(record, { id: 'never', decision: 'deny' })).toEqual([{ what: 'rule', was: 'no', now: 'never' }])
    expect(beside(record)?.[0]).toMatchObject({ what: 'decision', was: 'turned away', now: 'let in' })
  })
})
