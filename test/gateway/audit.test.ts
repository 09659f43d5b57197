/** Acts of operators over HTTP: who, what, from where; readable by auditors of the same tenant and by nobody else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCOPES } from '../../src/gateway/contract/token-schema.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(async () => fixture[Symbol.asyncDispose]())

interface Entry {
  readonly n: number
  readonly at: string
  readonly act: string
  readonly about: string
  readonly count?: number
  readonly by: string
  readonly token: string
  readonly address: string
  readonly agent: string
}

const entries = async (tenant = 'acme'): Promise<readonly Entry[]> =>
  (await fixture.ask(fixture.secrets[tenant]?.auditor, 'GET', '/v1/audit?limit=500')).body[
    'entries'
  ] as readonly Entry[]

/** What an act adds to the log. */
async function told(act: () => Promise<unknown>): Promise<readonly Entry[]> {
  const before = (await entries())[0]?.n ?? 0
  await act()
  return (await entries()).filter(({ n }) => n > before)
}

const enqueued = async (): Promise<string> =>
  String((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'audited' })).body['id'])

describe('the audit log', () => {
  it('tells who did what, when and from where', async () => {
    const [entry] = await told(() =>
      fixture.ask('operator', 'POST', '/v1/queues/mail/pause', {}, { 'user-agent': 'curl/8' }),
    )
    expect(entry).toMatchObject({ act: 'queue.paused', about: 'mail', by: 'operator:operator', agent: 'curl/8' })
    expect(entry?.address).toMatch(/^(::ffff:)?127\.0\.0\.1$/)
    expect(entry?.token).toMatch(/^[0-9a-f]{16}$/)
    expect(Math.abs(Date.parse(entry?.at ?? '') - Date.now())).toBeLessThan(60_000)
  })

  it.each([
    ['queue.resumed', () => fixture.ask('admin', 'POST', '/v1/queues/mail/resume', {})],
    ['token.created', () => fixture.ask('admin', 'POST', '/v1/tokens', { name: 'n', scope: 'viewer' })],
    ['jobs.admitted', async () => fixture.ask('operator', 'POST', `/v1/jobs/${await enqueued()}/admit`, {})],
    ['jobs.denied', async () => fixture.ask('admin', 'POST', `/v1/jobs/${await enqueued()}/deny`, { rule: 'r' })],
    [
      'jobs.approved',
      async () =>
        fixture.ask('operator', 'POST', `/v1/jobs/${await enqueued()}/approve`, { policyHash: 'h', jobHash: 'j' }),
    ],
    ['jobs.cancelled', async () => fixture.ask('operator', 'POST', `/v1/jobs/${await enqueued()}/cancel`, {})],
    [
      'jobs.rescheduled',
      async () => fixture.ask('operator', 'POST', `/v1/jobs/${await enqueued()}/reschedule`, { priority: 1 }),
    ],
    [
      'jobs.dead_lettered',
      async () => fixture.ask('admin', 'POST', `/v1/jobs/${await enqueued()}/deadletter`, { reason: 'timeout' }),
    ],
    ['jobs.reopened', async () => fixture.ask('operator', 'POST', `/v1/jobs/${await enqueued()}/reopen`, {})],
    ['jobs.reopened', async () => fixture.ask('operator', 'POST', `/v1/dead-letters/${await enqueued()}/reopen`, {})],
  ] as const)('has %s', async (act, perform) => {
    expect((await told(perform)).map((entry) => entry.act)).toEqual([act])
  })

  it('has a revocation, and none of a token that there is not', async () => {
    const { body } = await fixture.ask('admin', 'POST', '/v1/tokens', { name: 'n', scope: 'viewer' })
    const [entry] = await told(() => fixture.ask('admin', 'DELETE', `/v1/tokens/${body['id']}`))
    expect(entry).toMatchObject({ act: 'token.revoked', about: body['id'] })
    expect(await told(() => fixture.ask('admin', 'DELETE', '/v1/tokens/none'))).toEqual([])
  })

  it('has one entry for each act of a batch, with the number of jobs', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, enqueued))
    const transitions = ids.map((id, i) => ({
      id,
      command: i < 3 ? 'cancel' : 'reschedule',
      ...(i < 3 ? {} : { priority: 2 }),
    }))
    const found = await told(() => fixture.ask('operator', 'POST', '/v1/transitions:batch', { transitions }))
    expect(found.map(({ act, count, about }) => [act, count, about]).toSorted()).toEqual([
      ['jobs.cancelled', 3, ids[0]],
      ['jobs.rescheduled', 2, ids[3]],
    ])
  })

  it('has nothing of what owners, producers and readers do every day', async () => {
    const found = await told(async () => {
      const id = await enqueued()
      await fixture.ask('producer', 'POST', `/v1/jobs/${id}/cancel`, {})
      await enqueued()
      const { body } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['audited'] })
      const [first] = body['jobs'] as { job: { id: string }; fence: string }[]
      await fixture.ask('worker', 'POST', `/v1/jobs/${first?.job.id}/deadletter`, {
        reason: 'timeout',
        fence: first?.fence,
      })
      await fixture.ask('viewer', 'GET', '/v1/jobs')
    })
    expect(found).toEqual([])
  })

  it('is read by auditors of the tenant, page by page', async () => {
    for (const scope of SCOPES)
      expect((await fixture.ask(scope, 'GET', '/v1/audit')).status, scope).toBe(scope === 'auditor' ? 200 : 403)
    expect((await entries('rival')).map(({ act }) => act)).not.toContain('queue.paused')
    const whole = await entries()
    const seen: Entry[] = []
    let cursor: string | undefined
    do {
      const { body } = await fixture.ask(
        'auditor',
        'GET',
        `/v1/audit?limit=4${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...(body['entries'] as Entry[]))
      cursor = body['cursor'] as string | undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(whole)
    for (const bad of ['0', '-1', 'x', '1e3'])
      expect((await fixture.ask('auditor', 'GET', `/v1/audit?cursor=${bad}`)).status).toBe(400)
  })
})
