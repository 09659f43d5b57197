/** One grammar for everybody who looks for jobs. */
import { describe, expect, it } from 'vitest'
import { STATES } from '../../src/core/job.ts'
import {
  FIELD_NAMES,
  FIELDS,
  hasNames,
  isSifted,
  matches,
  numbersIn,
  parseSearch,
  rankOf,
  timesIn,
  valuesOf,
} from '../../src/core/search.ts'
import { given } from './given.ts'

const terms = (text: string) => {
  const search = parseSearch(text)
  if (!search.ok) throw new Error(search.message)
  return search.terms.map(({ field, values, not }) => [not ? `-${field}` : field, ...values])
}

describe('what may follow a field', () => {
  it('can be read, whichever of it is taken', () => {
    for (const field of FIELD_NAMES)
      for (const value of valuesOf(field))
        expect(parseSearch(`${field}:${value}`), `${field}:${value}`).toMatchObject({ ok: true })
  })

  it('is all of a closed list, some times and numbers, and nothing where users make up names', () => {
    expect(valuesOf('state')).toEqual(STATES)
    expect(valuesOf('created')).toContain('<1h')
    expect(valuesOf('runs')).toContain('>1')
    expect([valuesOf('queue'), valuesOf('no such field')]).toEqual([[], []])
  })
})

describe('the grammar of searches', () => {
  it.each([
    ['', []],
    [
      'state:failed,stalled -type:report.*',
      [
        ['state', 'failed', 'stalled'],
        ['-type', 'report.*'],
      ],
    ],
    ['pj_7x2k9', [['id', 'pj_7x2k9']]],
    ['crawl', [['type', 'crawl*']]],
    ['*page', [['type', '*page']]],
    [
      'queue:"a b" code:E_1',
      [
        ['queue', 'a b'],
        ['code', 'E_1'],
      ],
    ],
    [String.raw`dedupe:"a \" b"`, [['dedupe', 'a " b']]],
    [
      'label.order:42 input.url:*example*',
      [
        ['label.order', '42'],
        ['input.url', '*example*'],
      ],
    ],
    ['created:<1h', [['created', '<1h']]],
  ])('reads %s', (text, expected) => {
    expect(terms(text)).toEqual(expected)
  })

  it.each([
    ['stat:failed', 'There is no field stat.', 'state:failed'],
    ['zzz:1', 'There is no field zzz.', undefined],
    ['state:fail', 'There is no state fail.', 'state:failed'],
    ['reason:time', 'There is no reason time.', 'reason:timeout'],
    ['reason:xyz', 'There is no reason xyz.', undefined],
    ['-id:pj_1', 'id cannot be left out.', 'id:pj_1'],
    ['-pj_1', 'An id cannot be left out.', undefined],
    ['-input.a:1', 'input.* cannot be left out.', 'input.a:1'],
    ['created:yesterday', 'A time is <1h, >2d, or from..to with days or moments.', 'created:<1h'],
    ['updated:yesterday', 'A time is <1h, >2d, or from..to with days or moments.', 'updated:<1h'],
    ['runs:many', 'A number is 3, >3, <3 or 1..3.', 'runs:>1'],
    ['is:compensated', 'There is no is compensated.', 'is:compensating'],
    ['queue:"a', 'This cannot be read: a quotation mark has no other.', undefined],
    ['a '.repeat(31), 'There are more than 30 terms.', undefined],
    ['input.a:1 '.repeat(6), 'There are more than 5 terms about inputs.', undefined],
    ['created:<999999999999d', 'A time is <1h, >2d, or from..to with days or moments.', 'created:<1h'],
  ])('says what is wrong with %s', (text, message, instead) => {
    expect(parseSearch(text)).toMatchObject({ ok: false, message, instead })
  })

  it('says what each of its fields means', () => {
    const good: Readonly<Record<string, string>> = { state: 'queued', reason: 'timeout', is: 'paused' }
    const shaped = { time: '>1d', number: '>1', names: 'x', word: 'x' }
    for (const name of FIELD_NAMES)
      expect(parseSearch(`${name}:${good[name] ?? shaped[FIELDS[name].shape]}`).ok, name).toBe(true)
  })

  it('knows which fields indexes do not answer, and which have several values', () => {
    expect(['worker', 'runs', 'state', 'label.a'].map(isSifted)).toEqual([true, true, false, false])
    expect(['worker', 'runs', 'state', 'label.a'].map(hasNames)).toEqual([true, false, true, false])
    expect(terms('-runs:>3 -worker:a*')).toEqual([
      ['-runs', '>3'],
      ['-worker', 'a*'],
    ])
  })

  it('knows numbers', () => {
    expect(['3', '>3', '<3', '1..3', 'x', '3..', '-1'].map(numbersIn)).toEqual([
      { from: 3, to: 3 },
      { from: 4 },
      { to: 2 },
      { from: 1, to: 3 },
      undefined,
      undefined,
      undefined,
    ])
  })

  it('knows times', () => {
    expect(timesIn('<1h', 10_000_000)).toEqual({ from: 6_400_000 })
    expect(timesIn('>1h', 10_000_000)).toEqual({ to: 6_400_000 })
    expect(timesIn('2026-11-15..', 0)).toEqual({ from: Date.UTC(2026, 10, 15) })
    expect(timesIn('..2026-11-15', 0)).toEqual({ to: Date.UTC(2026, 10, 15) })
    expect(timesIn('..', 0)).toBeUndefined()
    expect(timesIn('<soon', 0)).toBeUndefined()
  })

  it('has a star at either end', () => {
    expect(['a*', '*c', '*b*', 'abc', '*'].every((pattern) => matches(pattern, 'abc'))).toBe(true)
    expect(['b*', '*b', '*x*', 'ab'].some((pattern) => matches(pattern, 'abc'))).toBe(false)
  })
})

describe('where a job stands among others', () => {
  const { record } = given({}, { runAt: 2_000_000 })

  it('is by its last change, from either end', () => {
    expect(rankOf(record, 'changed', 'newest')).toBe(-record.updatedAt)
    expect(rankOf(record, 'changed', 'oldest')).toBe(record.updatedAt)
  })

  it('is by when it is due, by what is next where nothing is, and last where no time is set', () => {
    expect(rankOf(record, 'due', 'newest')).toBe(2_000_000)
    expect(rankOf({ ...record, readyAt: undefined, nextTickAt: 7 }, 'due', 'newest')).toBe(7)
    const untimed = { ...record, readyAt: undefined, nextTickAt: undefined }
    expect(rankOf(untimed, 'due', 'oldest')).toBe(Number.POSITIVE_INFINITY)
  })
})
