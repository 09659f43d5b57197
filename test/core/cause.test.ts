import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cause, causeOf, normalised } from '../../src/core/cause.ts'
import type { Job } from '../../src/core/job.ts'
import { given } from './given.ts'
import { HISTORIES } from './sample.ts'

const cause = (message: string, code = 'E', reason = 'timeout'): Cause | undefined =>
  causeOf({ ...HISTORIES.dead_lettered().record, error: { code, message }, deadLetter: { reason } } as Job)

describe('what jobs that ended in an error have in common', () => {
  it.each([
    ['price service said 503 for /v2/quote', 'price service said 500 for /v2/quote'],
    ['no answer from https://a.example/x?y=1', 'no answer from http://b.example'],
    ['ann@example.com is no customer', 'bob@mail.example.org is no customer'],
    ['“Ada” is unknown', '“Grace Hopper” is unknown'],
    ['job pj_9d3kq is gone', 'job pj_1 is gone'],
    ['took 1,204.5 ms', 'took 3 ms'],
    ['lost\n  at a.ts:1', 'lost\n  at b.ts:2'],
  ])('%s is %s', (one, other) => {
    expect(cause(one)).toEqual(cause(other))
  })

  it('is not shared by those that differ in what they say, their code or their reason', () => {
    const prints = [cause('a b'), cause('a c'), cause('a b', 'F'), cause('a b', 'E', 'parse_error')]
    expect(new Set(prints.map((each) => each?.fingerprint)).size).toBe(4)
  })

  it('has no reason where nobody put it aside, and is none where nothing failed', () => {
    expect(causeOf(HISTORIES.failed().record)?.reason).toBeUndefined()
    expect(causeOf(given().record)).toBeUndefined()
  })
})

describe('the message of an error without what differs', () => {
  it.each([
    ['timeout after 3012 ms', 'timeout after <n> ms'],
    ['order 42 of 1,000.50 € failed', 'order <n> of <n> € failed'],
    ['GET https://example.org/a?b=1#c answered 503', 'GET <url> answered <n>'],
    ['no mail to ann.lee+x@mail.example.org', 'no mail to <email>'],
    ['user 3f2504e0-4f89-41d3-9a0c-0305e82c3301 is gone', 'user <id> is gone'],
    ['connect ECONNREFUSED 10.0.3.17:5432', 'connect ECONNREFUSED <address>'],
    ['connect to 2001:db8::8a2e:370:7334 failed', 'connect to <address> failed'],
    ['cannot open /var/lib/app/data.json:12:7', 'cannot open <path>'],
    ['cannot open C:\\app\\data.json', 'cannot open <path>'],
    ['job pj_3f9 has no row', 'job <id> has no row'],
    ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is unknown', 'commit <id> is unknown'],
    ['at 0xdeadbeef', 'at <n>'],
    ['  two   spaces\nand a second line 7', 'two spaces'],
    ['plain words stay', 'plain words stay'],
    ['no answer for “Ada Lovelace”', 'no answer for <text>'],
    ['cannot read \'x\' of "y"', 'cannot read \'x\' of "y"'],
    ['', ''],
  ])('%j is %j', (message, expected) => {
    expect(normalised(message)).toBe(expected)
  })

  it('is found of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (message) => {
        const once = normalised(message)
        expect(once.split('\n')).toHaveLength(1)
        expect(once.length).toBeLessThanOrEqual(4 * message.length + 10)
      }),
    )
  })

  it('takes no longer for text that was made to take long', () => {
    for (const part of ['a@', 'a.', '1.', '/a', 'a_1', '0:', 'aaaaaaa1-']) {
      expect(normalised(part.repeat(2_000 / part.length)).length).toBeLessThan(10_000)
    }
  })
})
