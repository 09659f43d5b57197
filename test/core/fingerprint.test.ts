import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, letterGroups, normalised } from '../../src/core/fingerprint.ts'
import { given, T0 } from './given.ts'

describe('the fingerprint of an error', () => {
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
    ['', ''],
  ])('%j is %j', (message, expected) => {
    expect(normalised(message)).toBe(expected)
  })

  it('is the same for the same error with other numbers, and another for another code, stage or message', () => {
    const error = { code: 'E_X', stage: 'exec', message: 'row 17 of /srv/data/a.csv' } as const
    expect(fingerprintOf({ ...error, message: 'row 9 of /srv/data/b.csv' })).toBe(fingerprintOf(error))
    for (const other of [{ code: 'E_Y' }, { stage: 'fetch' }, { message: 'column 17' }] as const)
      expect(fingerprintOf({ ...error, ...other })).not.toBe(fingerprintOf(error))
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

it('dead letters are grouped by reason and fingerprint, the largest group first', () => {
  const dead = (id: string, message: string, ms: number) => {
    const history = given({ onExhausted: 'dead_letter', retry: { attempts: 1 } }, { id }).after(ms)
    history.does({ type: 'claim', workerId: 'w', nonce: '0123456789abcdef' }).does({ type: 'start', fence: 'mine' })
    return history.does({ type: 'fail', fence: 'mine', fault: { code: 'E_X', message } }).record
  }
  const [late, early, other, again] = [
    dead('pj_2', 'row 2', 200),
    dead('pj_1', 'row 1', 100),
    dead('pj_3', 'no disk', 300),
    dead('pj_4', 'row 4', 400),
  ]
  expect(letterGroups([late, early, other, again, given().record, dead('pj_5', 'no net', 350)])).toMatchObject([
    {
      reason: 'exhausted_retries',
      code: 'E_X',
      message: 'row <n>',
      count: 3,
      firstAt: T0 + 100,
      lastAt: T0 + 400,
      example: again.id,
    },
    { message: 'no net', count: 1 },
    { message: 'no disk', count: 1, example: other.id },
  ])
})
