/** Operations over HTTP: who may ask for what, what they may touch, what is told of them, and the library at the other end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { type Answered, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let home: GatewayFixture
beforeAll(async () => {
  home = await openGatewayFixture()
  home.pawl.operations.serve(undefined)
})
afterAll(async () => home[Symbol.asyncDispose]())

/** So many letters in a queue. */
async function letters(queue: string, count: number, who: string | undefined = 'producer'): Promise<string[]> {
  const ids: string[] = []
  const operator = who === 'producer' ? 'operator' : home.secrets['rival']?.operator
  for (let n = 0; n < count; n += 1) {
    const made = await home.ask(who, 'POST', '/v1/jobs', { type: 'mail', queue, input: { n } })
    const id = String(made.body['id'])
    await home.ask(operator, 'POST', `/v1/jobs/${id}/deadletter`, { reason: 'timeout' })
    ids.push(id)
  }
  return ids
}

const ended = (started: Answered, who = 'operator') =>
  eventually(`the end of ${started.text}`, async () => {
    const { body } = await home.ask(who, 'GET', `/v1/operations/${started.body['id']}`)
    return body['endedAt'] === undefined ? undefined : body
  })

const start = (body: object, who = 'operator') => home.ask(who, 'POST', '/v1/operations', body)

const generationOf = async (id: string) => (await home.ask('operator', 'GET', `/v1/jobs/${id}`)).body['generation']

describe('operations over HTTP', () => {
  it('redrive what a search finds, after a dry run, and are shown and listed', async () => {
    const ids = await letters('a', 3)
    const dry = await home.ask('operator', 'POST', '/v1/dead-letters:redrive', { query: 'queue:a', dryRun: true })
    expect(dry.status).toBe(202)
    expect(await ended(dry)).toMatchObject({ action: 'redrive', dryRun: true, report: { matched: 3, done: 0 } })
    const started = await start({ action: 'redrive', query: 'queue:a input.n:1' })
    expect(started.status).toBe(202)
    expect(await ended(started)).toMatchObject({
      state: 'succeeded',
      by: 'operator:operator',
      query: 'queue:a input.n:1',
      isEdited: false,
      report: { matched: 1, done: 1 },
    })
    expect(await Promise.all(ids.map(generationOf))).toEqual([0, 1, 0])
    const { body } = await home.ask('operator', 'GET', '/v1/operations?limit=1')
    expect(body).toMatchObject({ operations: [{ id: started.body['id'] }] })
    expect(body['cursor']).toBeDefined()
    const log = await home.ask('operator', 'GET', `/v1/jobs/${ids[1]}/events`)
    expect(log.text).toContain(`operation/${started.body['id']}`)
    const audit = await home.ask('auditor', 'GET', '/v1/audit')
    expect(audit.body['entries']).toMatchObject([
      { act: 'operation.started', by: 'operator:operator', about: 'redrive queue:a input.n:1' },
      { act: 'jobs.dead_lettered' },
      {},
      {},
    ])
  })

  it('keep an edited input to the digit, and tell only that there is one', async () => {
    const [id] = await letters('edited', 1)
    const started = await start(
      '{"action":"redrive","query":"queue:edited","patch":{"id":12345678901234567890}}' as never,
    )
    expect(started.text).not.toContain('12345')
    expect(await ended(started)).toMatchObject({ isEdited: true, report: { done: 1 } })
    const { body } = await home.ask('operator', 'GET', `/v1/jobs?parentId=${id}`)
    const [child] = body['jobs'] as readonly { readonly id: string }[]
    expect((await home.ask('operator', 'GET', `/v1/jobs/${child?.id}`)).text).toContain(
      '"input":{"n":0,"id":12345678901234567890}',
    )
  })

  it('are for operators, and purges for admins', async () => {
    for (const who of ['producer', 'viewer', 'worker'])
      expect((await start({ action: 'redrive', query: 'queue:none' }, who)).status).toBe(403)
    const refused = await start({ action: 'purge', query: 'queue:none' })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('takes an admin token')])
    expect((await start({ action: 'purge', query: 'queue:none' }, 'admin')).status).toBe(202)
    expect((await home.ask('producer', 'GET', '/v1/operations')).status).toBe(200)
  })

  it('touch what their token may touch, and nothing of another tenant', async () => {
    const mine = await letters('bound', 1)
    const others = await letters('unbound', 1)
    const theirs = await letters('bound', 1, home.secrets['rival']?.producer)
    const bound = await home.gateway.tokens.create({ name: 'b', scope: 'operator', tenant: 'acme', queues: ['bound'] })
    const started = await start({ action: 'redrive', query: '' }, bound.secret)
    expect(await ended(started, bound.secret)).toMatchObject({ queues: ['bound'], report: { matched: 1, done: 1 } })
    expect(await Promise.all([...mine, ...others].map(generationOf))).toEqual([1, 0])
    const rival = home.secrets['rival']?.operator
    expect((await home.ask(rival, 'GET', `/v1/jobs/${theirs[0]}`)).body['generation']).toBe(0)
    expect((await home.ask(rival, 'GET', `/v1/operations/${started.body['id']}`)).status).toBe(404)
    expect((await home.ask(rival, 'POST', `/v1/operations/${started.body['id']}/cancel`, {})).status).toBe(404)
    // A token that is bound to queues sees operations of these alone.
    const free = await start({ action: 'redrive', query: 'queue:none' })
    expect((await home.ask(bound.secret, 'GET', `/v1/operations/${free.body['id']}`)).status).toBe(404)
    expect((await home.ask(bound.secret, 'GET', '/v1/operations')).body['operations']).toHaveLength(1)
  })

  it('do not show a viewer what was searched for', async () => {
    const started = await start({ action: 'redrive', query: 'input.card:4711' })
    const seen = await home.ask('viewer', 'GET', `/v1/operations/${started.body['id']}`)
    expect(seen.body).toMatchObject({ masked: true, action: 'redrive' })
    expect((await home.ask('viewer', 'GET', '/v1/operations')).text).not.toContain('4711')
  })

  it('are refused with what is wrong about them', async () => {
    const bad = await start({ action: 'cancel', query: 'stat:queued' })
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('Did you mean state:queued?')])
    expect(bad.text).toContain('body.query')
    expect((await start({ action: 'cancel', query: '' })).text).toContain('is empty')
    expect((await start({ action: 'redrive', query: '', canary: 0 })).status).toBe(400)
  })

  it('are cancelled', async () => {
    await letters('slow', 3)
    const started = await start({ action: 'redrive', query: 'queue:slow', canary: 1 })
    const path = `/v1/operations/${started.body['id']}`
    await eventually('its canary', async () => {
      const { body } = await home.ask('operator', 'GET', path)
      return (body['report'] as { readonly done: number }).done === 1
    })
    expect((await home.ask('operator', 'POST', `${path}/cancel`, {})).status).toBe(200)
    expect(await ended(started)).toMatchObject({ state: 'cancelled', report: { matched: 3, done: 1 } })
  })

  it('cannot be had by way of their queue', async () => {
    const queue = 'pawl.operations'
    for (const [who, method, path, body] of [
      ['producer', 'POST', '/v1/jobs', { type: 'pawl.operation', queue, input: { action: 'purge' } }],
      ['producer', 'PUT', '/v1/schedules/x', { every: '1h', type: 'pawl.operation', queue }],
      ['worker', 'PUT', '/v1/types/pawl.operation', { queue }],
      ['worker', 'POST', '/v1/claims', { workerId: 'w', queues: [queue] }],
      ['worker', 'POST', '/v1/claims', { workerId: 'w', queues: [], lanes: [{ queue, priority: 5 }] }],
      ['producer', 'POST', '/v1/dialects/002/jobs', { topic: queue }],
      ['worker', 'POST', '/v1/dialects/002/dispatches', { worker_id: 'w', topics: [queue] }],
    ] as const) {
      const answer = await home.ask(who, method, path, body)
      expect([path, answer.status, answer.text]).toEqual([path, 400, expect.stringContaining('pawl’s own')])
    }
  })

  it('are asked for through the library at the other end', async () => {
    const [id] = await letters('remote', 1)
    await using remote = await open(home.gateway.url, { token: home.secrets['acme']?.operator, log: 'silent' })
    const started = await remote.operations.start({
      action: 'redrive',
      query: 'queue:remote',
      patch: { more: 1 },
      canaryWithin: '10h',
      canary: 1,
    })
    await using _ = home.pawl.work([defineJob({ type: 'mail', queue: 'remote', run: () => undefined })])
    expect(await remote.operations.result(started.id, { timeout: '60s' })).toMatchObject({ matched: 1, done: 1 })
    expect((await remote.operations.list({ limit: 1 })).operations).toMatchObject([{ id: started.id }])
    expect((await home.pawl.find({ parentId: id })).jobs).toHaveLength(1)
    await expect(remote.operations.start({ action: 'purge', query: 'queue:remote' })).rejects.toThrow('admin token')
  })
})
