import { describe, expect, it } from 'vitest'
import { job } from './job.ts'
import { policyOf } from './policy-of.ts'

const ALLOW = { id: 'everything', decision: 'allow' }

describe('a policy', () => {
  it('allows nothing that no rule allows', () => {
    const { decision, rule } = policyOf({ id: 'chats', topics: ['job.chat.*'], decision: 'allow' }).judge(job())
    expect({ decision, rule }).toEqual({ decision: 'deny', rule: 'no_rule' })
  })

  it('denies what one rule denies, whatever others allow, and in whichever order they stand', () => {
    const deny = { id: 'no-mail', topics: ['mail.*'], decision: 'deny', reason: 'not on Sundays' }
    for (const rules of [
      [ALLOW, deny],
      [deny, ALLOW],
    ]) {
      const policy = policyOf(...rules)
      expect(policy.judge(job())).toMatchObject({
        decision: 'deny',
        rule: 'no-mail',
        reason: 'not on Sundays',
        policyHash: policy.hash,
      })
      expect(policy.judge(job({ type: 'other' }))).toMatchObject({ decision: 'allow', rule: 'everything' })
    }
  })

  it('adds up what rules ask for: the strictest has the word, the narrowest bounds hold', () => {
    const policy = policyOf(
      ALLOW,
      { id: 'short', decision: 'constrain', constrain: { timeout: '30s', attempts: 5 } },
      { id: 'few', decision: 'constrain', constrain: { timeout: '1m', attempts: 2 } },
      { id: 'elsewhere', decision: 'redirect', topic: 'job.slow' },
      { id: 'ask', decision: 'require_approval', expires: '1h' },
      { id: 'ask-another', decision: 'require_approval', expires: '2h', fourEyes: true },
    )
    expect(policy.judge(job())).toMatchObject({
      decision: 'require_approval',
      rule: 'ask',
      approval: { expiresMs: 3_600_000, fourEyes: true },
      constraint: { timeout: 30_000, attempts: 2 },
      topic: 'job.slow',
    })
  })

  it('is for the tenants and topics that it names, pair by pair', () => {
    const tenants = ['acme', 'globex', 'initech']
    const policy = policyOf(
      ...tenants.map((tenant) => ({
        id: `for-${tenant}`,
        tenants: [tenant],
        topics: [`${tenant}.>`],
        decision: 'allow',
      })),
    )
    for (const tenant of tenants)
      for (const topic of tenants)
        expect(policy.judge(job({ tenant, topic: `${topic}.a.b` })).decision).toBe(tenant === topic ? 'allow' : 'deny')
  })

  it('never opens for a rule that cannot be told', () => {
    const when = 'job.env.stage == "prod"'
    expect(policyOf({ id: 'a', when, decision: 'allow' }).judge(job())).toMatchObject({
      decision: 'deny',
      rule: 'no_rule',
    })
    expect(policyOf(ALLOW, { id: 'a', when, decision: 'allow' }).judge(job())).toMatchObject({ decision: 'allow' })
    for (const decision of [
      { decision: 'deny' },
      { decision: 'require_approval' },
      { decision: 'redirect', topic: 'x' },
      { decision: 'constrain', constrain: { attempts: 1 } },
    ]) {
      const found = policyOf(ALLOW, { id: 'a', when, ...decision }).judge(job())
      expect(found).toMatchObject({ decision: 'deny', rule: 'a' })
      expect(found.reason).toMatch(/cannot be told: .*stage/)
    }
  })

  it('is known by what it says', () => {
    const one = policyOf(ALLOW).hash
    expect(policyOf(ALLOW).hash).toBe(one)
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect(policyOf({ ...ALLOW, when: 'true' }).hash).not.toBe(one)
    expect(policyOf({ ...ALLOW, reason: 'so' }).hash).not.toBe(one)
  })

  it('finds the rules of a topic again after more topics than it remembers', () => {
    const policy = policyOf({ id: 'a', topics: ['a.*'], decision: 'allow' })
    for (let i = 0; i < 10_001; i += 1) policy.judge(job({ topic: `b.${i}` }))
    expect(policy.judge(job({ topic: 'a.1' })).decision).toBe('allow')
    expect(policy.judge(job({ topic: 'b.1' })).decision).toBe('deny')
  })

  it('says of each rule that concerns a job whether it applies', () => {
    const policy = policyOf(
      ALLOW,
      { id: 'never', when: 'false', decision: 'deny' },
      { id: 'far', topics: ['x'], decision: 'deny' },
    )
    expect(policy.findings(job()).map(({ rule, applies }) => [rule.id, applies])).toEqual([
      ['never', false],
      ['everything', true],
    ])
  })
})
