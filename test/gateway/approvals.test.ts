import { describe, expect, it, onTestFinished } from 'vitest'
import type { Judged } from '../../src/core/admission.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const ASKS: Judged = {
  letsIn: true,
  rule: 'deploys',
  policyHash: 'h1',
  reason: undefined,
  terms: undefined,
  approval: { expiresMs: 60_000, fourEyes: true },
}

/** A job of tenant acme that a policy asks about, enqueued by the token that is called ann. */
async function asked() {
  const fixture = await openGatewayFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const { engine } = fixture.pawl
  if (!(engine instanceof LocalEngine)) throw new Error('the fixture has an engine of its own')
  const judged = () => engine.admit({ look: () => true, judge: () => ASKS }, 10)
  const token = async (name: string, tenant = 'acme') =>
    (await fixture.gateway.tokens.create({ name, scope: 'admin', tenant, queues: undefined })).secret
  const ann = await token('ann')
  const job = { type: 'deploy', policy: { admission: true } }
  const { body } = await fixture.ask(ann, 'POST', '/v1/jobs', job)
  const path = `/v1/jobs/${String(body['id'])}`
  await judged()
  const { approval } = (await fixture.ask(ann, 'GET', path)).body as {
    approval: { policyHash: string; jobHash: string }
  }
  const { policyHash, jobHash } = approval
  const approve = (who: string) => fixture.ask(who, 'POST', `${path}/approve`, { policyHash, jobHash, reason: 'seen' })
  return { fixture, path, ann, token, judged, approve }
}

describe('an approval over HTTP', () => {
  it('is another’s to give than whose token enqueued the job, in whichever role', async () => {
    const { fixture, path, ann, token, judged, approve } = await asked()
    expect(await approve(ann)).toMatchObject({ status: 409, body: { code: 'NOT_APPROVABLE' } })
    expect((await fixture.ask(ann, 'POST', `${path}/admit`, {})).status).toBe(409)
    expect((await approve(await token('bob'))).status).toBe(200)
    await judged()
    expect((await fixture.ask(ann, 'GET', path)).body).toMatchObject({ state: 'queued' })
    const { text } = await fixture.ask(ann, 'GET', `${path}/events`)
    expect(text).toContain('admin:bob')
  })

  it('is no other tenant’s to give, nor to see', async () => {
    const { fixture, path, token, approve } = await asked()
    const rival = await token('bob', 'rival')
    const { status, text } = await approve(rival)
    expect([status, text.includes('deploys')]).toEqual([404, false])
    expect((await fixture.ask(rival, 'POST', `${path}/admit`, {})).status).toBe(404)
    expect((await fixture.ask('admin', 'GET', path)).body).toMatchObject({ state: 'pending' })
  })

  it('is void once its job was given a second chance', async () => {
    const { fixture, path, ann, token, judged, approve } = await asked()
    const bob = await token('bob')
    expect((await approve(bob)).status).toBe(200)
    expect((await fixture.ask(ann, 'POST', `${path}/cancel`, { mode: 'hard' })).status).toBe(200)
    expect((await fixture.ask(ann, 'POST', `${path}/reopen`, {})).status).toBe(200)
    await judged()
    expect((await fixture.ask(ann, 'GET', path)).body).toMatchObject({
      state: 'pending',
      approval: { rule: 'deploys' },
    })
    expect((await approve(bob)).status).toBe(409)
  })
})
