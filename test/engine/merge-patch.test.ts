import { describe, expect, it } from 'vitest'
import { merged } from '../../src/engine/operations/merge-patch.ts'

describe('a merge patch', () => {
  // The examples of RFC 7396, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('%s with %s is %s', (target, patch, expected) => {
    expect(merged(target, patch)).toBe(expected)
  })

  it('leaves numbers alone that JavaScript cannot hold', () => {
    expect(merged('{"id":12345678901234567890,"n":1.10}', '{"m":99999999999999999999}')).toBe(
      '{"id":12345678901234567890,"n":1.10,"m":99999999999999999999}',
    )
    expect(merged('12345678901234567890', '{"a":1}')).toBe('{"a":1}')
  })

  it('takes no name for more than a name', () => {
    expect(merged('{"__proto__":{"a":1}}', '{"__proto__":{"b":2},"constructor":3}')).toBe(
      '{"__proto__":{"a":1,"b":2},"constructor":3}',
    )
    expect(({} as { b?: number }).b).toBeUndefined()
  })
})
