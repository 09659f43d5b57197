import { describe, expect, it } from 'vitest'
import { compile } from '../../src/policy/policy.ts'
import { faultText } from '../../src/policy/source.ts'

const faultsOf = (text: string, name = 'a.yaml') => {
  const compiled = compile([{ name, text }])
  return 'faults' in compiled ? compiled.faults.map(faultText) : []
}

const rule = (words: string) => `rules:\n  - ${words.replaceAll('\n', '\n    ')}\n`

describe('files of a policy', () => {
  it('are YAML with comments, or JSON', () => {
    expect(faultsOf(`# who may what\n${rule('id: a\ndecision: allow')}`)).toEqual([])
    expect(faultsOf('{"rules": [{"id": "a", "decision": "allow"}]}', 'a.json')).toEqual([])
  })

  it('hold in the order of their names', () => {
    const file = (name: string, id: string) => ({ name, text: rule(`id: ${id}\ndecision: allow`) })
    const compiled = compile([file('b.yaml', 'second'), file('a.yaml', 'first')])
    expect('snapshot' in compiled && compiled.snapshot.rules.map(({ id }) => id)).toEqual(['first', 'second'])
  })

  it.each([
    ['rules: [', /^a\.yaml:1:\d+ /],
    ['rules:\n  - id: a\n    id: b\n    decision: allow\n', /^a\.yaml:3:5 .*unique/],
    ['', /^a\.yaml:1:1 /],
    ['rule: []', /^a\.yaml:1:1 /],
    [rule('id: a\ndecision: maybe'), /^a\.yaml:3:15 rules\[0\]\.decision: /],
    [rule('decision: allow'), /^a\.yaml:2:5 rules\[0\]\.id: /],
    [rule('id: a\ndecision: allow\nwhen: job.tpye == "x"'), /^a\.yaml:4:11 rules\[0\]\.when: .*tpye/],
    [rule('id: a\ndecision: allow\nwehn: "true"'), /^a\.yaml:2:5 rules\[0\]: .*wehn/],
    [rule('id: a\ndecision: allow\ntopics: [a.*.>.b]'), /^a\.yaml:4:14 rules\[0\]\.topics\[0\]: /],
    [rule('id: a\ndecision: redirect\ntopic: job.*'), /rules\[0\]\.topic: must be a topic/],
    [rule('id: a\ndecision: constrain\nconstrain: {}'), /rules\[0\]\.constrain: must narrow something/],
    [rule('id: a\ndecision: constrain\nconstrain: { timeout: soon }'), /constrain\.timeout: must be milliseconds/],
    [rule('id: a\ndecision: constrain\nconstrain: { attempts: 0 }'), /constrain\.attempts: /],
    [rule('id: a\ndecision: require_approval\nexpires: 100d'), /rules\[0\]\.expires: must be between/],
  ])('%j says where it is broken', (text, expected) => {
    const [first] = faultsOf(text)
    expect(first).toMatch(expected)
  })

  it('of very many names are looked through once, not once for each name', () => {
    const text = Array.from({ length: 60_000 }, (_, n) => `k${n}: 1`).join('\n')
    const [first = ''] = faultsOf(text)
    expect(first).toContain('"k0"')
    expect(first.length, 'and are not all told').toBeLessThan(600)
  })

  it('refuse an id that another rule has, in whichever file', () => {
    const text = rule('id: a\ndecision: allow')
    const compiled = compile([
      { name: 'a.yaml', text },
      { name: 'b.yaml', text },
    ])
    expect('faults' in compiled && compiled.faults.map(faultText)).toEqual([
      'b.yaml:2:9 rules[0].id: is the id of a rule or route already, at a.yaml:2',
    ])
  })

  it.each([
    ['decision: throttle\nkey: gpu\nlimit: { rate: often }', /limit\.rate: must be like '5\/s'/],
    ['decision: throttle\nkey: gpu\nlimit: {}', /limit: must have one of concurrency/],
    ['decision: throttle\nkey: gpu\nlimit: { speed: 3 }', /limit\.speed: must be one of/],
    ['decision: redirect\ntopic: pawl.operations', /pawl’s own/],
    ['decision: redirect\ntopic: "a,b"', /comma/],
    ['decision: redirect\ntopic: x\ntenant: other', /tenant/],
    ['decision: constrain\nconstrain: { concurrency: 0 }', /constrain\.concurrency/],
    ['decision: constrain\nconstrain: { labels: { __proto__: free } }', /must name one|__proto__/],
  ])('refuse what could not be kept: %j', (words, why) => {
    expect(faultsOf(rule(`id: a\n${words}`))).toEqual([expect.stringMatching(why)])
  })

  it('cannot be made to multiply', () => {
    const bomb = [
      'a: &a [x, x]',
      ...Array.from(
        { length: 20 },
        (_, i) =>
          `${'bcdefghijklmnopqrstuv'[i]}: &${'bcdefghijklmnopqrstuv'[i]} [*${'abcdefghijklmnopqrstu'[i]}, *${'abcdefghijklmnopqrstu'[i]}]`,
      ),
    ].join('\n')
    expect(faultsOf(bomb)).toEqual([expect.stringMatching(/alias/i)])
  })
})
