/** Searches over HTTP: what is found, what only looking at each job finds, and what is refused. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LOOKED_INTO } from '../../src/engine/input-terms.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

/** A job that is named must match everything else, and a term that is given twice holds twice. */
const TERMS_TOGETHER: [string, string[]][] = [
  ['id:job-1 queue:q1 label.n:1 created:<1h runs:0 input.url:*1.example', ['job-1']],
  ['id:job-1 queue:q2', []],
  ['id:job-1 label.n:2', []],
  ['id:job-1 created:>1h', []],
  ['id:job-1 runs:>0', []],
  ['id:job-1 input.url:*2.example', []],
  ['created:<2h created:<1h', ['job-0', 'job-1', 'job-2']],
  ['created:<2h created:>1h', []],
]

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

  it.each<[string, string[]]>([
    ['', ['job-0', 'job-1', 'job-2']],
    ['crawl', ['job-0', 'job-1']],
    ['-type:crawl.*', ['job-2']],
    ['queue:q0,q2', ['job-0', 'job-2']],
    ['queue:q* -queue:q1', ['job-0', 'job-2']],
    ['state:queued type:mail.send', ['job-2']],
    ['-state:queued', []],
    ['type:none*', []],
    ['label.n:1', ['job-1']],
    ['tenant:ac* id:job-1', ['job-1']],
    ['tenant:rival', []],
    ['-tenant:acme', []],
    ['id:job-1', ['job-1']],
    ['id:job-9', []],
    ['created:<1h', ['job-0', 'job-1', 'job-2']],
    ['created:>1h', []],
    ['input.url:*1.example', ['job-1']],
    ['input.tags:a input.tags.deep:2', ['job-2']],
    ['input.none:1', []],
    ['label.n:1 label.n:2', []],
    ['updated:<1h runs:0 failures:<1', ['job-0', 'job-1', 'job-2']],
    ['runs:>0', []],
    ['-runs:0', []],
    ['priority:5', ['job-0', 'job-1', 'job-2']],
    ['priority:<5', []],
    ['due:<1h', ['job-0', 'job-1', 'job-2']],
    ['due:>1h', []],
    ['ended:<1h', []],
    ['-is:compensating,cancelling,paused,schedule type:mail.send', ['job-2']],
    ['class:*', []],
    ['-worker:w* queue:q1', ['job-1']],
    ['updated:<1h input.url:*1.example', ['job-1']],
    ...TERMS_TOGETHER,
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

  it('looks at records for what no index answers, and says at how many', async () => {
    const queue = 'sifted'
    for (const id of ['bad', 'good', 'rest'])
      await fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', queue, id, policy: { onExhausted: 'failed' } })
    const words = { workerId: 'w7', queues: [queue], limit: 2 }
    const { body: claimed } = await fixture.ask('worker', 'POST', '/v1/claims', words)
    const jobs = claimed['jobs'] as { fence: string; job: { id: string; alias: string } }[]
    for (const { fence, job } of jobs)
      await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/${job.alias === 'bad' ? 'fail' : 'start'}`, {
        fence,
        ...(job.alias === 'bad' && { code: 'no', class: 'permanent', message: 'm' }),
      })
    expect(await found(`queue:${queue} class:permanent`)).toEqual(['bad'])
    expect(await found(`queue:${queue} worker:w7 -class:permanent`)).toEqual(['good'])
    expect(await found(`queue:${queue} ended:<1h`)).toEqual(['bad'])
    await fixture.ask('operator', 'POST', `/v1/queues/${queue}/pause`, {})
    expect(await found(`queue:${queue} is:paused`)).toEqual(['rest'])
    const { body } = await fixture.ask('operator', 'GET', `/v1/jobs?q=queue:${queue}%20runs:1`)
    expect(body).toMatchObject({ read: 3 })
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

  it('finds dead letters by what they have in common', async () => {
    const ids = ['price', 'price', 'stock']
    for (const [n, what] of ids.entries()) {
      await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'letter', queue: 'letters', id: `letter-${n}` })
      const reason = what === 'price' ? 'timeout' : 'policy_violation'
      const message = `${what} service said ${500 + n}`
      await fixture.ask('operator', 'POST', `/v1/jobs/letter-${n}/deadletter`, { reason, message })
    }
    const { body } = await fixture.ask('operator', 'GET', '/v1/dead-letters:causes')
    const [cause] = body['causes'] as readonly { readonly fingerprint: string; readonly count: number }[]
    const aliases = async (q: string) => {
      const answer = await fixture.ask('operator', 'GET', `/v1/jobs?q=${encodeURIComponent(q)}`)
      return (answer.body['jobs'] as readonly { readonly alias: string }[]).map(({ alias }) => alias).sort()
    }
    expect(cause?.count).toBe(2)
    expect(await aliases(`cause:${cause?.fingerprint}`)).toEqual(['letter-0', 'letter-1'])
    expect(await aliases('type:letter reason:policy_violation')).toEqual(['letter-2'])
    expect(await aliases('type:letter -reason:timeout')).toEqual(['letter-2'])
    expect(await aliases(`reason:policy_violation cause:${cause?.fingerprint}`)).toEqual([])
  })
})
