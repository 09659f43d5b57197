import { describe, expect, it } from 'vitest'
import { compiled, EXPRESSION_BOUNDS, Untellable } from '../../src/policy/expression.ts'
import { JobFacts } from '../../src/policy/facts.ts'
import { job } from './job.ts'

const holds = (text: string, words = {}) => compiled(text).holds(new JobFacts(job(words)))

describe('a condition', () => {
  it.each([
    ['job.tenant == "acme"', true],
    ['job.type == "mail.send" && job.priority < 5', true],
    ['job.topic.startsWith("job.chat.") || job.queue == "mail"', true],
    ['has(job.env.sandbox) && job.env.sandbox == "true"', true],
    ['has(job.labels.team)', false],
    ['job.env.exists(name, name.startsWith("sand"))', true],
    ['"sandbox" in job.env', true],
    ['job.workflowId == "" && job.stepIndex == -1', true],
    ['job.inputSize > 1000000', false],
    ['[job.tenant, "other"].exists(name, name == "acme")', true],
    ['job.tenant in ["acme", "globex"] ? job.generation == 0 : false', true],
    ['size(job.env) == 1 && size(job.type) > 3', true],
    ['job.dialect == ""', true],
  ])('%s is %s', (text, expected) => {
    expect(
      holds(text, {
        tenant: 'acme',
        type: 'mail.send',
        topic: 'job.chat.simple',
        priority: 3,
        env: { sandbox: 'true' },
      }),
    ).toBe(expected)
  })

  it('cannot be told where it asks for a key that is not there, or divides by nothing', () => {
    expect(() => holds('job.env.nobody == "x"')).toThrow(/nobody/)
    expect(() => holds('1 / job.inputSize == 1', {})).toThrow()
  })

  it.each([
    'job.env[job.contextPtr] == "x"',
    'job.labels[job.contextPtr + job.id] == "x"',
    'int(job.contextPtr) > 1',
    'uint(job.contextPtr) > 1u',
    'double(job.contextPtr) > 1.0',
    'bool(job.contextPtr)',
    'job.contextPtr.substring(900) == ""',
    '["a"].exists(each, job.env[job.contextPtr] == each)',
  ])('says what is wrong and where, and nothing of what the job has: %s', (text) => {
    const told = () => holds(text, { contextPtr: 'https://files.test/a?sig=SECRET' })
    expect(told).toThrow(/./)
    expect(told).not.toThrow(/SECRET|files/)
    expect(told).toThrow(Untellable)
  })

  it('sees what is written in a job and nothing of JavaScript', () => {
    expect(() => compiled('job.constructor == ""')).toThrow(/constructor/)
    expect(holds('has(job.env.constructor) || has(job.labels.__proto__) || "toString" in job.env')).toBe(false)
  })
})

describe('a text that is no condition', () => {
  it.each([
    ['job.tpye == "x"', /tpye/],
    ['job.type', /is string; a condition is true or false/],
    ['job.type ==', /./],
    ['job.priority == "high"', /./],
    ['env.sandbox == "true"', /env/],
    ['job.type.matches("a+")', /matches.*startsWith/],
    ['job.type.matches("(a+)+$")', /matches/],
    ['[job.type].map(x, x).size() == 1', /map/],
    ['["a"].join("") == "a"', /join/],
    ['cel.bind(x, job.type, x == "a")', /bind/],
    ['dyn(job.type) == 1', /dyn/],
    ['timestamp("2020-01-01T00:00:00Z") == timestamp("2020-01-01T00:00:00Z")', /timestamp/],
  ])('%s is refused by name', (text, why) => {
    expect(() => compiled(text)).toThrow(why)
  })
})

describe('a hostile text', () => {
  const nested = (depth: number) =>
    `${Array.from({ length: depth }, (_, i) => `job.env.exists(v${i}, `).join('')}true${')'.repeat(depth)}`

  it('is refused where it is long, deep or has many parts', () => {
    expect(() => compiled(`job.type == "${'a'.repeat(EXPRESSION_BOUNDS.length)}"`)).toThrow(/letters/)
    expect(() => compiled(`${'('.repeat(500)}true${')'.repeat(500)}`)).toThrow()
    expect(() => compiled(Array.from({ length: 301 }, () => 'true').join('||'))).toThrow()
    expect(() => compiled(`${'!'.repeat(1_000)}true`)).toThrow()
    expect(() => compiled(`job.priority in [${Array.from({ length: 101 }, (_, i) => i).join(',')}]`)).toThrow()
  })

  it('is refused where it would take exponential time', () => {
    expect(holds(nested(2), { env: { a: '1' } })).toBe(true)
    expect(() => compiled(nested(3))).toThrow(/more than 2 deep/)
    const wide = `job.env.all(a, job.env.all(b, ${Array.from({ length: 12 }, () => 'a == b').join('||')}))`
    expect(() => compiled(wide)).toThrow(/steps/)
  })

  it('is refused where it would take exponential room', () => {
    expect(() => compiled('[job.type + job.type].exists(x, [x + x].exists(y, y + y == "a"))')).toThrow(
      /comprehension and \+/,
    )
    expect(compiled('job.tenant + "." + job.type == "a.b"').text).toContain('+')
  })

  it('counts a list that is written out by its members, and any other by as many as it may have', () => {
    const five = Array.from({ length: 5 }, (_, i) => i).join(',')
    expect(
      compiled(`[${five}].all(a, [${five}].all(b, ${Array.from({ length: 20 }, () => 'a == b').join('||')}))`).text,
    ).toBeTruthy()
  })
})
