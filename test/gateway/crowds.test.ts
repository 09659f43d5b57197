/** Many at once, of what one alone is harmless: nothing is done twice, nothing gets lost, and nobody else is kept out. */
import { describe, expect, it } from 'vitest'
import { AuditLog } from '../../src/engine/audit.ts'
import { BOUNDLESS, openGatewayFixture } from './gateway-fixture.ts'

describe('idempotency keys', () => {
  it('in a flood make one job each, and leave nothing under way', async () => {
    await using fixture = await openGatewayFixture({ caps: BOUNDLESS })
    const create = (key: string, input: number) =>
      fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'q', input }, { 'idempotency-key': `"${key}"` })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => create(`k${n % 10}`, n % 10)))
    expect(answers.every(({ status }) => [200, 201, 409].includes(status))).toBe(true)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    expect((await fixture.pawl.find({})).jobs).toHaveLength(10)
    // Whoever was told that it is under way asks again, and is given what came of it.
    for (let n = 0; n < 10; n += 1) expect((await create(`k${n}`, n)).body).toMatchObject({ replayed: true })
    expect((await create('k0', 1)).body).toMatchObject({ code: 'KEY_REUSED' })
    for (const key of ['', 'x'.repeat(256), 'a"b', '\\'.repeat(255)])
      expect((await create(key, 1)).body['code'], key).toBe('MALFORMED')
  })
})

describe('acts of operators', () => {
  it('in a flood are all told, in one unbroken chain, and do not keep an admin from ending it', async () => {
    await using fixture = await openGatewayFixture({ caps: BOUNDLESS })
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 'flood',
      scope: 'operator',
      tenant: 'acme',
      queues: undefined,
    })
    const acts = Array.from({ length: 150 }, (_, n) => fixture.ask(secret, 'POST', `/v1/queues/q${n % 5}/pause`, {}))
    const revoked = await fixture.ask('admin', 'DELETE', `/v1/tokens/${token.id}`)
    expect(revoked.status).toBe(200)
    const done = (await Promise.all(acts)).filter(({ status }) => status === 200).length
    expect((await fixture.ask(secret, 'POST', '/v1/queues/q/pause', {})).status).toBe(401)
    const log = new AuditLog(fixture.pawl.engine)
    expect(await log.verify('acme')).toEqual([])
    const { entries } = await log.page('acme', undefined, 500)
    expect(entries.filter(({ act, token: by }) => act === 'queue.paused' && by === token.id)).toHaveLength(done)
    expect(entries.filter(({ act, about }) => act === 'token.revoked' && about === token.id)).toHaveLength(1)
    expect(await log.verify('rival')).toEqual([])
    expect((await log.page('rival', undefined, 10)).entries).toEqual([])
  })
})

describe('names made of control characters', () => {
  const NAMES = [
    '\u0000',
    '\n',
    '\r\nx: y',
    '\u001b[2J',
    '\u0085',
    '\u202e',
    '\u2028',
    '\ud800',
    '"',
    '\\',
    '__proto__',
    ' ',
  ]

  it('are refused with a pointer, or come back as they were; metrics stay readable', async () => {
    await using fixture = await openGatewayFixture({ caps: BOUNDLESS })
    for (const name of NAMES) {
      const what = JSON.stringify(name)
      const labels = `{"type":"x","queue":"q","labels":{${what}:${what}},"env":{${what}:${what}},"policy":{"lease":"1h"}}`
      const created = await fixture.ask('producer', 'POST', '/v1/jobs', labels)
      if (created.status !== 201) {
        expect(created.body, what).toMatchObject({ status: 400, violations: expect.anything() })
        await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'q', policy: { lease: '1h' } })
      } else {
        const { body } = await fixture.ask('producer', 'GET', `/v1/jobs/${created.body['id']}`)
        expect(Object.entries(body['labels'] as object), what).toEqual([[name, name]])
        expect(Object.entries(body['env'] as object), what).toEqual([[name, name]])
      }
      const claimed = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['q'] })
      const [{ job, fence }] = claimed.body['jobs'] as [{ job: { id: string }; fence: string }]
      const say = (word: string, words: string) =>
        fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/${word}`, `{"fence":"${fence}",${words}}`)
      await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/start`, { fence })
      const answers = [
        await say('progress', `"counters":{${what}:1}`),
        await say('record', `"artifact":{"name":${what},"ptr":${what}}`),
        await say('record', `"step":{"name":${what},"value":1}`),
        await say('fail', `"code":${what},"message":${what},"context":{${what}:${what}}`),
      ]
      for (const { status, body } of answers)
        if (status !== 200) expect(body, what).toMatchObject({ status: 400, violations: expect.anything() })
      const seen = await fixture.ask('producer', 'GET', `/v1/jobs/${job.id}`)
      expect(seen.status, what).toBe(200)
      if (answers[0]?.status === 200) expect(Object.keys((seen.body['counters'] ?? {}) as object), what).toEqual([name])
      await fixture.ask('operator', 'POST', `/v1/jobs/${job.id}/cancel`, { mode: 'hard' })
    }
    const { status, text } = await fixture.ask('metrics', 'GET', '/metrics')
    expect(status).toBe(200)
    for (const line of text.split('\n'))
      expect(line).toMatch(/^(?:$|# |\w+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})? [-+.\w]+$)/)
  })
})
