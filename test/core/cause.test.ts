import { describe, expect, it } from 'vitest'
import { type Cause, causeOf } from '../../src/core/cause.ts'
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
