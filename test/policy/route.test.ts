import { describe, expect, it } from 'vitest'
import type { Present } from '../../src/core/admission.ts'
import { compile } from '../../src/policy/policy.ts'
import { asksWhoIsThere, routed, routeSchema } from '../../src/policy/route.ts'
import { job } from './job.ts'
import { routing } from './policy-of.ts'

const routeOf = (words: object) => routeSchema.parse({ id: 'r', ...words })
const worker = (pool: string | undefined, ...can: readonly string[]): Present => ({ pool, can })

describe('routes', () => {
  it('are taken by topic, tenant and condition, the first as they are written', () => {
    const policy = routing(
      { id: 'big', topics: ['job.code.>'], when: 'has(job.labels.size) && job.labels.size == "big"', pool: 'gpu' },
      { id: 'acme', topics: ['job.code.>'], tenants: ['acme'], pool: 'acme' },
      { id: 'code', topics: ['job.code.*'], pool: 'code' },
    )
    const over = (words: Parameters<typeof job>[0]) => policy.judge(job({ topic: 'job.code.llm', ...words })).route?.id
    expect(over({})).toBe('code')
    expect(over({ tenant: 'acme' })).toBe('acme')
    expect(over({ tenant: 'acme', labels: { size: 'big' } })).toBe('big')
    expect(over({ topic: 'job.code.llm.fast' })).toBeUndefined()
  })

  it('that take nobody deny, and so do those that cannot be told', () => {
    expect(
      routing({ id: 'chat', topics: ['job.chat.*'], pool: 'chat' }).judge(job({ topic: 'job.video' })),
    ).toMatchObject({
      decision: 'deny',
      rule: 'no_route',
      reason: 'No route takes topic job.video.',
    })
    const untold = routing({ id: 'odd', when: 'job.env.x == "y"', pool: 'a' }, { id: 'rest' })
    expect(untold.judge(job())).toMatchObject({ decision: 'deny', rule: 'odd' })
    expect(routing({ id: 'rest' }).judge(job())).toMatchObject({ decision: 'allow', route: { id: 'rest' } })
    expect(routing().judge(job())).toMatchObject({ decision: 'allow', route: undefined })
  })

  it('choose the first pool with a live worker who can, and one that knows the adapter before that', () => {
    const rule = routeOf({ pool: ['a', 'b', 'c'], requires: ['gpu'] })
    const chosen = (present: readonly Present[] | undefined, adapter?: string) => routed(rule, adapter, present)
    const to = (pool: string) => ({ route: { pool, capabilities: ['gpu'] } })
    expect(chosen(undefined)).toEqual(to('a'))
    expect(chosen([])).toEqual(to('a'))
    expect(chosen([worker('a'), worker('c', 'gpu'), worker('b', 'gpu')])).toEqual(to('b'))
    expect(chosen([worker('b', 'gpu'), worker('c', 'gpu', 'llama')], 'llama')).toEqual(to('c'))
    expect(chosen([worker('b', 'gpu'), worker('c', 'llama')], 'llama')).toEqual(to('b'))
    expect(asksWhoIsThere(rule)).toBe(true)
    expect(asksWhoIsThere(routeOf({ pool: 'a' }))).toBe(false)
  })

  it('turn away what nobody can do, where they say so and it is known who is there', () => {
    const rule = routeOf({ pool: 'code', requires: ['gpu'], nobody: 'deny' })
    expect(asksWhoIsThere(rule)).toBe(true)
    expect(routed(rule, undefined, [worker('code')])).toEqual({ nobody: 'No live worker in pool code can do gpu.' })
    expect(routed(rule, undefined, undefined)).toEqual({ route: { pool: 'code', capabilities: ['gpu'] } })
    expect(routed(rule, undefined, [worker('code', 'gpu')])).toEqual({ route: { pool: 'code', capabilities: ['gpu'] } })
    const anywhere = routeOf({ requires: ['gpu'], nobody: 'deny' })
    expect(routed(anywhere, undefined, [])).toEqual({ nobody: 'No live worker can do gpu.' })
  })

  it('make another policy, and have ids of their own', () => {
    expect(routing({ id: 'rest' }).hash).not.toBe(routing().hash)
    const text = 'rules: [{id: a, decision: allow}]\nroutes:\n  - {id: a}\n  - {id: b, pool: [], requires: []}\n'
    expect(compile([{ name: 'p.yaml', text }])).toMatchObject({ faults: [{ line: 4 }, { line: 4 }] })
    const twice = 'rules: [{id: a, decision: allow}]\nroutes:\n  - {id: a}\n'
    expect(compile([{ name: 'p.yaml', text: twice }])).toMatchObject({
      faults: [{ line: 3, field: 'routes[0].id', rule: 'is the id of a rule or route already, at p.yaml:1' }],
    })
  })
})
