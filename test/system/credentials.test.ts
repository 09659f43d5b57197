import { describe, expect, it } from 'vitest'
import { withoutCredentials } from '../../src/system/credentials.ts'
import { visible, visibleJson } from '../../src/system/visible.ts'

describe('a text without credentials', () => {
  it.each([
    ['postgres://ann:s3cret@db:5432/app', 'postgres://ann@db:5432/app'],
    ['postgres://ann:s@cr/et@db/app', 'postgres://ann@db/app'],
    ['postgres://:s3cret@db/app', 'postgres://@db/app'],
    ['could not reach postgres://ann:s3cret@db/app, gave up', 'could not reach postgres://ann@db/app, gave up'],
    ['two: http://a:s3cret@b/ and "http://c:s3cret@d/"', 'two: http://a@b/ and "http://c@d/"'],
    ['ann:s3cret@db/app', 'ann@db/app'],
    ['postgres://db/app?user=ann&password=s3cret&ssl=true', 'postgres://db/app?user=ann&password=***&ssl=true'],
    ['postgres://db/app?sslpassword=s3cret', 'postgres://db/app?sslpassword=***'],
    [
      'redis://r:s3cret@h/0?ledger=postgres://ann:s3cret@db/app&ack=redis',
      'redis://r@h/0?ledger=postgres://db/app&ack=redis',
    ],
    ['redis://h?ledger=postgres%3A%2F%2Fann%3As3cret%40db%2Fapp', 'redis://h?ledger=postgres://db/app'],
    ['redis://h?ledger=postgres%3A%2F%2Fann%3As3cret%4', 'redis://h?ledger=***'],
    ['--url=postgres://ann:s3cret@db/app', '--url=postgres://ann@db/app'],
  ])('%s', (text, without) => {
    expect(withoutCredentials(text)).toBe(without)
    expect(withoutCredentials(text)).not.toContain('s3cret')
  })

  it.each(['postgres://ann@db/app', '.pawl/jobs.db', 'at 10:30 mail ann@example.org', 'http://127.0.0.1:7295/v1'])(
    'is the same where there are none: %s',
    (text) => expect(withoutCredentials(text)).toBe(text),
  )
})

describe('a visible text', () => {
  const hidden = '\u0007\u007f\u009b\u00ad\u061c\u200f\u2028\u202e\u2069\ufeff\u{e0041}\ud800'

  it('has nothing in it that cannot be seen', () => {
    expect(visible(`a${hidden}b`)).toMatch(/^a[\x20-\x7e]*b$/)
    expect(visible('späße \u{1f980} 字 – “”')).toBe('späße \u{1f980} 字 – “”')
  })

  it('as JSON is the same value', () => {
    const value = { [hidden]: [hidden, 1, null, { deep: hidden }] }
    expect(visibleJson(value)).toMatch(/^[\x20-\x7e]*$/)
    expect(JSON.parse(visibleJson(value))).toEqual(value)
    expect(visibleJson(undefined)).toBe('null')
  })
})
