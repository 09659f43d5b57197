/** Records may be long, and requests may be answered with many of them: no answer is longer for that than others can bear. */
import { describe, expect, it } from 'vitest'
import { LENGTHS, SIZES } from '../../src/core/limits.ts'
import type { Caps } from '../../src/gateway/caps.ts'
import { listed, pieces } from '../../src/gateway/pieces.ts'
import { eventually } from '../support/eventually.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

/** As long as an environment makes a record. */
const env = Object.fromEntries(
  Array.from({ length: SIZES.env }, (_, i) => [`name-${i}`.padEnd(LENGTHS.name, '-'), 'x'.repeat(LENGTHS.entry)]),
)
const JOBS = 120
const heavy = (n: number) => ({
  type: 'heavy',
  queue: 'heavy',
  correlationId: 'together',
  env,
  dedupeKey: `d${n}`,
  policy: {},
})
/** Twice what a page is meant to have: the part that makes it longer is told to its end. */
const PAGE_MOST = 2 * 1024 * 1024 + 256 * 1024

async function heavyGateway() {
  const fixture = await openGatewayFixture()
  const jobs = Array.from({ length: JOBS }, (_, n) => heavy(n))
  const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs })
  const ids = (body['jobs'] as readonly { readonly job: { readonly id: string } }[]).map(({ job }) => job.id)
  return { fixture, ids }
}

describe('pages of long records', () => {
  it.each([
    ['/v1/jobs?limit=500', 'jobs', 'id'],
    ['/v1/events?type=enqueued&limit=1000', 'events', 'jobId'],
    ['/v1/events?correlationId=together&limit=1000', 'events', 'jobId'],
  ])('%s ends by weight and goes on until everything was told', async (path, member, key) => {
    const { fixture, ids } = await heavyGateway()
    await using _ = fixture
    const seen: unknown[] = []
    let cursor: unknown
    let pages = 0
    do {
      const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(String(cursor))}`
      const { status, text, body } = await fixture.ask('producer', 'GET', path + next)
      expect(status).toBe(200)
      expect(text.length).toBeLessThan(PAGE_MOST)
      seen.push(...(body[member] as readonly Record<string, unknown>[]).map((each) => each[key]))
      cursor = body['cursor']
      pages += 1
    } while (cursor !== undefined)
    expect(pages).toBeGreaterThan(1)
    expect(seen.toSorted()).toEqual(ids.toSorted())
  })

  it('tells light ones as many as were asked for', async () => {
    await using fixture = await openGatewayFixture()
    const jobs = Array.from({ length: 300 }, () => ({ type: 'light', queue: 'light' }))
    await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs })
    const { body } = await fixture.ask('viewer', 'GET', '/v1/jobs?limit=290')
    expect(body['jobs']).toHaveLength(290)
    expect(body['cursor']).toBeDefined()
  })
})

describe('answers with many long records', () => {
  it('come whole, to a batch of what exists already and to a claim', async () => {
    const { fixture, ids } = await heavyGateway()
    await using _ = fixture
    const again = Array.from({ length: 300 }, (_, n) => ({ type: 'heavy', queue: 'heavy', dedupeKey: `d${n % JOBS}` }))
    const { status, body, text } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs: again })
    expect(status).toBe(200)
    expect(text.length).toBeGreaterThan(10_000_000)
    const told = body['jobs'] as readonly { readonly deduped: boolean; readonly job: { readonly id: string } }[]
    expect(told.map(({ job, deduped }) => [job.id, deduped])).toEqual(again.map((_, n) => [ids[n % JOBS], true]))
    const claimed = await fixture.ask('worker', 'POST', '/v1/claims', {
      workerId: 'w',
      queues: ['heavy'],
      limit: 1_000,
    })
    expect((claimed.body['jobs'] as readonly { job: { id: string } }[]).map(({ job }) => job.id)).toEqual(ids)
  })

  it('are made as they are taken', async () => {
    let made = 0
    const texts = listed('{"all":[', Array.from({ length: 1_000 }), () => {
      made += 1
      return JSON.stringify('x'.repeat(10_000))
    })
    const body = pieces(texts)
    expect(made).toBeLessThan(10)
    if (typeof body === 'string') throw new Error('so long a text is a stream')
    const all = JSON.parse(await new Response(body).text()) as { readonly all: readonly string[] }
    expect(all.all).toHaveLength(1_000)
  })

  it('are one text where they are short', () => {
    expect(pieces(listed('{"all":[', [], String))).toBe('{"all":[]}')
    expect(pieces(listed('{"all":[', [1, 2], String))).toBe('{"all":[1,2]}')
  })
})

describe('what a job has written', () => {
  const MEMO = 200_000
  const MEMOS = 5

  async function writtenJob(caps: Partial<Caps>) {
    const fixture = await openGatewayFixture({ caps })
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'writer', queue: 'writer', policy: { lease: '1h' } })
    const { body } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['writer'] })
    const [{ job, fence }] = body['jobs'] as [{ job: { id: string }; fence: string }]
    await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/start`, { fence })
    for (let n = 0; n < MEMOS; n += 1) {
      const step = { name: `s${n}`, value: `${n}`.repeat(MEMO) }
      const { status } = await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/record`, { fence, step })
      expect(status).toBe(200)
    }
    return { fixture, path: `/v1/jobs/${job.id}?body=step/` }
  }

  it('is told whole, and to so many at a time as there is room for', async () => {
    const { fixture, path } = await writtenJob({ toldPerToken: 1.5 * MEMOS * MEMO })
    await using _ = fixture
    const headers = { authorization: `Bearer ${fixture.secrets['acme']?.producer}` }
    const first = await fetch(fixture.gateway.url + path, { headers })
    expect(first.status).toBe(200)
    const second = await fixture.ask('producer', 'GET', path)
    expect(second.status).toBe(429)
    expect(second.body).toMatchObject({ code: 'TOO_MANY', cap: 'toldPerToken' })
    expect(second.headers.get('retry-after')).toBe('1')
    const { bodies } = (await first.json()) as { readonly bodies: Readonly<Record<string, string>> }
    expect(Object.keys(bodies)).toHaveLength(MEMOS)
    for (let n = 0; n < MEMOS; n += 1) expect(bodies[`step/s${n}`]).toBe(JSON.stringify(`${n}`.repeat(MEMO)))
    expect((await fixture.ask('producer', 'GET', path)).status).toBe(200)
  })

  it('takes up no room when whoever asked for it has gone', async () => {
    const { fixture, path } = await writtenJob({ toldPerToken: 1.5 * MEMOS * MEMO })
    await using _ = fixture
    const headers = { authorization: `Bearer ${fixture.secrets['acme']?.producer}` }
    const gone = await fetch(fixture.gateway.url + path, { headers })
    await gone.body?.cancel()
    await eventually('the room that was taken up', async () => {
      const { status } = await fixture.ask('producer', 'GET', path)
      return status === 200
    })
  })
})
