/** One grammar for everybody who looks for jobs. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { FIELD_NAMES, matches, parseSearch, timesIn } from '../../src/gateway/contract/search.ts'
import { LOOKED_INTO } from '../../src/gateway/handlers/inputs.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

const terms = (text: string) => {
  const search = parseSearch(text)
  if (!search.ok) throw new Error(search.message)
  return search.terms.map(({ field, values, not }) => [not ? `-${field}` : field, ...values])
}

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
    ['-id:pj_1', 'id cannot be left out.', 'id:pj_1'],
    ['-pj_1', 'An id cannot be left out.', undefined],
    ['-input.a:1', 'input.* cannot be left out.', 'input.a:1'],
    ['created:yesterday', 'A time is <1h, >2d, or from..to with days or moments.', 'created:<1h'],
    ['queue:"a', 'This cannot be read: a quotation mark has no other.', undefined],
    ['a '.repeat(31), 'There are more than 30 terms.', undefined],
    ['input.a:1 '.repeat(6), 'There are more than 5 terms about inputs.', undefined],
    ['created:<999999999999d', 'A time is <1h, >2d, or from..to with days or moments.', 'created:<1h'],
  ])('says what is wrong with %s', (text, message, instead) => {
    expect(parseSearch(text)).toMatchObject({ ok: false, message, instead })
  })

  it('says what each of its fields means', () => {
    for (const name of FIELD_NAMES)
      expect(parseSearch(name === 'state' ? 'state:queued' : name === 'created' ? 'created:>1d' : `${name}:x`).ok).toBe(
        true,
      )
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

describe('GET /v1/jobs?q=', () => {
  let fixture: GatewayFixture
  beforeAll(async () => {
    fixture = await openGatewayFixture()
    for (const [n, type] of ['crawl.page', 'crawl.site', 'mail.send'].entries()) {
      const input = { url: `https://${n}.example`, tags: ['a', { deep: n }] }
      await fixture.ask('producer', 'POST', '/v1/jobs', {
        type,
        queue: `q${n}`,
        id: `job-${n}`,
        input,
        labels: { n: String(n) },
      })
    }
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const found = async (q: string, who = 'operator') => {
    const { body, status } = await fixture.ask(who, 'GET', `/v1/jobs?q=${encodeURIComponent(q)}`)
    return status === 200 ? (body['jobs'] as { alias: string }[]).map(({ alias }) => alias).sort() : body
  }

  it.each([
    ['', ['job-0', 'job-1', 'job-2']],
    ['crawl', ['job-0', 'job-1']],
    ['-type:crawl.*', ['job-2']],
    ['queue:q0,q2', ['job-0', 'job-2']],
    ['queue:q* -queue:q1', ['job-0', 'job-2']],
    ['state:queued type:mail.send', ['job-2']],
    ['-state:queued', []],
    ['type:none*', []],
    ['label.n:1', ['job-1']],
    ['id:job-1', ['job-1']],
    ['id:job-9', []],
    ['created:<1h', ['job-0', 'job-1', 'job-2']],
    ['created:>1h', []],
    ['input.url:*1.example', ['job-1']],
    ['input.tags:a input.tags.deep:2', ['job-2']],
    ['input.none:1', []],
    ['label.n:1 label.n:2', []],
  ])('finds by %s', async (q, expected) => {
    expect(await found(q)).toEqual(expected)
  })

  it('says how many inputs it has read, and lets nobody search what they may not see', async () => {
    const { body } = await fixture.ask('operator', 'GET', '/v1/jobs?q=input.url:*')
    expect(body['read']).toBe(3)
    expect(await found('input.url:*', 'viewer')).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('does not look into an input that is long, and says so', async () => {
    const input = { url: 'long', text: 'x'.repeat(LOOKED_INTO) }
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'long', queue: 'long', id: 'job-long', input })
    const { body } = await fixture.ask('operator', 'GET', '/v1/jobs?q=queue:long%20input.url:long')
    expect(body).toMatchObject({ jobs: [], read: 1, tooLong: 1 })
  })

  it('ends a page after so many letters of inputs, and goes on by cursor', async () => {
    const input = 'x'.repeat(400 * 1024)
    for (let n = 0; n < 26; n += 1)
      await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'many', queue: 'many', input })
    const loads = vi.spyOn(fixture.pawl.engine, 'load')
    const { body } = await fixture.ask('operator', 'GET', '/v1/jobs?q=queue:many%20input.url:x')
    expect(body).toMatchObject({ jobs: [], read: 25, tooLong: 25 })
    // They may have eight megabytes each.
    expect(Math.max(...loads.mock.calls.map(([asked]) => asked.length))).toBeLessThanOrEqual(5)
    const next = `/v1/jobs?q=queue:many%20input.url:x&cursor=${encodeURIComponent(String(body['cursor']))}`
    expect((await fixture.ask('operator', 'GET', next)).body).toMatchObject({ jobs: [], read: 1, tooLong: 1 })
  })

  it('has no characters in it that a store cannot take', async () => {
    expect((await fixture.ask('operator', 'GET', '/v1/jobs?q=code:a%00b')).status).toBe(400)
  })

  it('refuses what it cannot read, and says what was meant', async () => {
    expect(await found('stat:failed')).toMatchObject({
      code: 'MALFORMED',
      detail: 'There is no field stat. Did you mean state:failed?',
    })
  })

  it('has one phrase per job, on request', async () => {
    await fixture.ask('operator', 'POST', '/v1/queues/q0/pause', {})
    const { body } = await fixture.ask('operator', 'GET', '/v1/jobs?explain=true')
    const jobs = body['jobs'] as { alias: string; now: { before: string; when: string } }[]
    const phrase = (alias: string) => jobs.find((job) => job.alias === alias)?.now
    expect(phrase('job-0')?.before).toBe('paused: queue q0, by operator:operator')
    expect(phrase('job-1')?.before).toBe('no worker serves queue q1, ready')
    expect(phrase('job-1')?.when).toMatch(/^\d{4}-/)
    expect((await fixture.ask('operator', 'GET', '/v1/jobs')).text).not.toContain('"now"')
  })
})
