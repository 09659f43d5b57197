import { describe, expect, it } from 'vitest'
import { routeSchema } from '../../src/policy/route.ts'
import { Snapshot } from '../../src/policy/snapshot.ts'
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
      { id: 'gpu', decision: 'throttle', key: 'gpu', limit: { rate: '5/s' } },
      { id: 'gpu-too', decision: 'throttle', key: 'gpu' },
      { id: 'at-once', decision: 'constrain', constrain: { concurrency: 3, labels: { tier: 'free' } } },
      { id: 'ask', decision: 'require_approval', expires: '1h' },
      { id: 'ask-another', decision: 'require_approval', expires: '2h', fourEyes: true },
    )
    expect(policy.judge(job())).toMatchObject({
      decision: 'require_approval',
      rule: 'ask',
      approval: { expiresMs: 3_600_000, fourEyes: true },
      constraint: { timeout: 30_000, attempts: 2 },
      redirects: [{ from: 'mail.send', to: 'job.slow', rule: 'elsewhere' }],
      throttles: [
        { key: 'gpu', rule: 'gpu', limit: { rate: { most: 5, perMs: 1_000 } } },
        { key: 'rule,at-once', rule: 'at-once', limit: { concurrency: 3 } },
      ],
    })
    expect(policy.judge(job()).constraint).toEqual({ timeout: 30_000, attempts: 2, labels: { tier: 'free' } })
  })

  describe('sends a job to another topic', () => {
    const to = (from: string, topic: string) => ({ id: `from-${from}`, topics: [from], decision: 'redirect', topic })

    it('judges it again there: what that forbids or asks for holds, and nothing is let in that nobody allows there', () => {
      const there = [{ id: 'cheap', topics: ['b'], decision: 'constrain', constrain: { attempts: 1 } }]
      const found = policyOf(to('a', 'b'), ...there).judge(job({ topic: 'a' }))
      expect(found).toMatchObject({ decision: 'redirect', rule: 'from-a', constraint: { attempts: 1 } })
      expect(policyOf(to('a', 'b')).judge(job({ topic: 'a' }))).toMatchObject({ decision: 'deny', rule: 'no_rule' })
      const closed = policyOf(ALLOW, to('a', 'b'), { id: 'no-b', topics: ['b'], decision: 'deny' })
      expect(closed.judge(job({ topic: 'a' }))).toMatchObject({ decision: 'deny', rule: 'no-b' })
      const asked = policyOf(ALLOW, to('a', 'b'), { id: 'ask-b', topics: ['b'], decision: 'require_approval' })
      expect(asked.judge(job({ topic: 'a' }))).toMatchObject({ decision: 'require_approval', rule: 'ask-b' })
      const seen = { id: 'seen', topics: ['b'], when: 'job.topic == "b" && job.type == "mail.send"', decision: 'allow' }
      expect(policyOf(to('a', 'b'), seen).judge(job({ topic: 'a' })).decision).toBe('redirect')
    })

    it('may send it on from there, neither in a circle nor without end; to where it is already nobody is sent', () => {
      const on = policyOf(ALLOW, to('a', 'b'), to('b', 'c'))
      expect(on.judge(job({ topic: 'a' })).redirects.map(({ to: topic }) => topic)).toEqual(['b', 'c'])
      const circle = policyOf(ALLOW, to('a', 'b'), to('b', 'a'))
      expect(circle.judge(job({ topic: 'a' }))).toMatchObject({ decision: 'deny', rule: 'from-b' })
      expect(circle.judge(job({ topic: 'a' })).reason).toBe('It would be sent in a circle: a → b → a.')
      const long = policyOf(ALLOW, ...Array.from({ length: 12 }, (_, i) => to(`t${i}`, `t${i + 1}`)))
      expect(long.judge(job({ topic: 't0' })).reason).toMatch(/more than 8 times/)
      expect(long.judge(job({ topic: 't4' })).redirects).toHaveLength(8)
      const all = policyOf(ALLOW, { id: 'all', topics: ['>'], decision: 'redirect', topic: 'cheap' })
      expect(all.judge(job({ topic: 'cheap' })).redirects).toEqual([])
      expect(all.judge(job({ topic: 'dear' })).redirects).toHaveLength(1)
    })

    it('routes it by where it comes to', () => {
      const policy = new Snapshot(policyOf(ALLOW, to('a', 'b')).rules, [
        routeSchema.parse({ id: 'first', topics: ['a'], pool: 'one' }),
        routeSchema.parse({ id: 'second', topics: ['b'], pool: 'two' }),
      ])
      expect(policy.judge(job({ topic: 'a' })).route?.id).toBe('second')
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
      { decision: 'throttle', key: 'x' },
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
