/** What is passed by without its schema must be what the schema would have made of it: held against the schemas themselves. */
import { describe, expect, it } from 'vitest'
import { LENGTHS, MAX_DURATION_MS } from '../../src/core/limits.ts'
import { OWNER_WORDS, WORDS, type WordName } from '../../src/gateway/contract/schemas.ts'
import { unchangedBy } from '../../src/gateway/contract/unchanged.ts'

const fence = '0.1.0123456789abcdef'
const at = '2030-02-28T10:00:00.000Z'

/** As a worker says them: one of each, with what it says besides. */
const SAID: Readonly<Record<(typeof OWNER_WORDS)[number], object>> = {
  start: { fence },
  heartbeat: { fence, requestId: 'r', expectedRev: 3 },
  progress: { fence, progress: { done: 1, total: 2, message: '', etaAt: at }, counters: { seen: 1 } },
  checkpoint: { fence, state: null },
  record: { fence, step: { name: 's', compensate: false, value: null }, spend: { amount: 1, key: 'k' } },
  complete: { fence, executionMs: 0, startedAt: at, result: null, stats: { seen: 1 } },
  fail: { fence, code: 'E', message: '', class: 'permanent', context: { a: 'b' }, retryAfter: 5, details: null },
  wait: { fence, name: 'n', key: 'k', timeout: '5s', onTimeout: 'resume', memo: 'n' },
  release: { fence, reason: 'shutdown', executionMs: MAX_DURATION_MS },
  compensated: { fence, executionMs: 1 },
}

const texts = [1, LENGTHS.id, LENGTHS.name, LENGTHS.key].flatMap((most) => ['x'.repeat(most), 'x'.repeat(most + 1)])
const ODD: readonly unknown[] = [
  ...['', ' ', '.', 'a,b', 'a\nb', 'a\u007f', '\ud800', 'é', at, '2030-02-30T10:00:00Z', '5s', '5 s', ...texts],
  ...[0, -1, 1.5, MAX_DURATION_MS, MAX_DURATION_MS + 1, Number.MAX_SAFE_INTEGER + 1, null, true, false],
  ...[{}, [], [1], { seen: 1 }, { seen: 'x' }, { name: 's' }, { name: 's', compensate: true, more: 1 }, { done: 1 }],
  JSON.parse('{"__proto__":1}'),
]

const members = (name: WordName): readonly string[] => [...Object.keys(WORDS[name].shape), 'nonsense', '__proto__']

describe('an item of a batch that its schema is not asked about', () => {
  it.each(Object.keys(WORDS) as WordName[])('is what the schema would have made of it: %s', (name) => {
    const isUnchanged = unchangedBy(WORDS[name], ['id', 'command'])
    const said = name in SAID ? SAID[name as keyof typeof SAID] : {}
    const candidates = [said, ...Object.keys(said).map((member) => ({ ...said, [member]: undefined }))]
    for (const member of members(name))
      for (const value of ODD) candidates.push({ ...said, [member]: value }, { fence, [member]: value })
    // As they come: nothing is undefined in JSON, and a member may be called __proto__.
    for (const candidate of candidates.map((each) => JSON.parse(JSON.stringify(each)) as object)) {
      if (!isUnchanged({ id: 'j', command: name, ...candidate })) continue
      expect(WORDS[name].parse(candidate)).toEqual(candidate)
    }
  })

  it.each(OWNER_WORDS)('is what workers say: %s', (name) => {
    expect(unchangedBy(WORDS[name])(SAID[name])).toBe(true)
  })
})
