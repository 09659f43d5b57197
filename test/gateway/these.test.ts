/** Jobs by their ids over HTTP: how they are now, and which of them a search would not find. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

describe('GET /v1/jobs?ids=', () => {
  let fixture: GatewayFixture
  /** Ids of ours, by the number in the producer's. */
  const ids: string[] = []
  beforeAll(async () => {
    fixture = await openGatewayFixture()
    for (const n of [0, 1]) {
      const asked = { type: 'crawl', queue: `q${n}`, id: `job-${n}`, input: { url: `https://${n}.example` } }
      const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', asked)
      ids.push(String(body['id']))
    }
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const ask = async (q: string) => {
    const path = `/v1/jobs?ids=${ids[1]},${ids[0]},pj_99999&explain=true&q=${encodeURIComponent(q)}`
    const { body } = await fixture.ask('operator', 'GET', path)
    const jobs = body['jobs'] as { id: string; now: unknown }[]
    expect(jobs.map(({ id }) => id)).toEqual([ids[1], ids[0]])
    expect(jobs.every(({ now }) => now !== undefined)).toBe(true)
    return (body['gone'] as string[]).map((id) => ids.indexOf(id))
  }

  it.each<[string, number[]]>([
    ['', []],
    ['queue:q0', [1]],
    ['id:job-1', [0]],
    ['runs:>0', [1, 0]],
    ['input.url:*1.example', [0]],
    ['type:none*', [1, 0]],
  ])('tells those there are, and which do not match %s', async (q, gone) => {
    expect(await ask(q)).toEqual(gone)
  })

  it('tells all there are of many, although some are there no more', async () => {
    const unknown = Array.from({ length: 58 }, (_, n) => `pj_${90_000 + n}`)
    const { body } = await fixture.ask('operator', 'GET', `/v1/jobs?ids=${[...unknown, ...ids].join(',')}`)
    const jobs = body['jobs'] as { id: string }[]
    expect(jobs.map(({ id }) => id)).toEqual(ids)
  })

  it('tells a token of other queues nothing, and refuses what is no id of ours', async () => {
    const path = `/v1/jobs?ids=${ids.join(',')}`
    const { secret } = await fixture.gateway.tokens.create({
      name: 'of one queue',
      scope: 'operator',
      tenant: 'acme',
      queues: ['q1'],
    })
    const { body: told } = await fixture.ask(secret, 'GET', path)
    const jobs = told['jobs'] as { id: string }[]
    expect(jobs.map(({ id }) => id)).toEqual([ids[1]])
    const { body } = await fixture.ask('operator', 'GET', '/v1/jobs?ids=job-0')
    expect(body).toMatchObject({ code: 'MALFORMED' })
  })
})
