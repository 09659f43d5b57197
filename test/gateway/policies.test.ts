/** Policies over HTTP: set if they are some, looked at, removed; by whom; and through the library and the command line at the other end. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { open } from '../../src/open.ts'
import { pawl as command, json } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let home: GatewayFixture
beforeAll(async () => {
  home = await openGatewayFixture({ caps: { policiesPerTenant: 2 } }, undefined, { policy: 'settings:' })
})
afterAll(async () => home[Symbol.asyncDispose]())

const ALLOW = 'rules:\n  - { id: all, decision: allow }\n'
const DENY = 'rules:\n  - { id: none, decision: deny }\n'
const put = (name: string, body: object, who = 'admin') => home.ask(who, 'PUT', `/v1/policies/${name}`, body)
const gone = (name: string) => home.ask('admin', 'DELETE', `/v1/policies/${name}`)

async function fate(): Promise<unknown> {
  const { body } = await home.ask('admin', 'POST', '/v1/dialects/002/jobs', { topic: 'job.a' })
  const { job_id } = body['JobRequest'] as { readonly job_id: string }
  return await eventually('a judgement', async () => {
    const now = await home.ask('admin', 'GET', `/v1/dialects/002/jobs/${job_id}`)
    return now.body['state'] === 'PENDING' ? undefined : now.body['state']
  })
}

describe('policies over HTTP', () => {
  it('are set, hold without a restart, are shown, listed and removed', async () => {
    const set = await put('chat', { text: ALLOW, rev: 0 })
    expect(set.status).toBe(200)
    expect(set.body).toMatchObject({ name: 'chat', text: ALLOW, rev: 1, by: 'admin:admin', faults: [] })
    expect((await home.ask('operator', 'GET', '/v1/policies/chat')).body).toEqual(set.body)
    const { text: _, ...listed } = set.body
    expect((await home.ask('operator', 'GET', '/v1/policies')).body).toEqual({ policies: [listed] })
    await eventually('it holds', async () => (await fate()) === 'SCHEDULED')
    expect((await put('chat', { text: DENY, rev: 1 })).body).toMatchObject({ rev: 2 })
    await eventually('the other holds', async () => (await fate()) === 'DENIED')
    expect((await home.ask('admin', 'DELETE', '/v1/policies/chat?rev=1')).status).toBe(409)
    expect((await home.ask('admin', 'DELETE', '/v1/policies/chat?rev=2')).body).toMatchObject({ text: DENY })
    for (const method of ['GET', 'DELETE'])
      expect((await home.ask('admin', method, '/v1/policies/chat')).status).toBe(404)
    const { body } = await home.ask('auditor', 'GET', '/v1/audit')
    const acts = (body['entries'] as readonly { readonly act: string }[]).map(({ act }) => act)
    expect(acts.filter((act) => act.startsWith('policy.'))).toEqual(['policy.removed', 'policy.set', 'policy.set'])
  })

  it('are refused where they are broken, by place; where another is there; and where there are too many', async () => {
    const broken = await put('chat', { text: 'rules:\n  - id: a\n    decision: alow\n' })
    expect([broken.status, broken.text]).toEqual([400, expect.stringContaining('chat:3:15 rules[0].decision')])
    expect((await put('chat', { text: 'x'.repeat(50_001) })).status).toBe(400)
    expect((await put('chat', { text: ALLOW, rev: 3 })).body).toMatchObject({ status: 409, code: 'CHANGED', rev: 0 })
    for (const name of ['one', 'two']) expect((await put(name, { text: ALLOW })).status).toBe(200)
    expect((await put('one', { text: DENY, rev: 0 })).body).toMatchObject({ status: 409, code: 'CHANGED', rev: 1 })
    expect((await put('one', { text: ALLOW, rev: 0 })).body, 'the same again').toMatchObject({ rev: 1 })
    expect((await put('three', { text: ALLOW })).body).toMatchObject({ code: 'FULL', cap: 'policiesPerTenant' })
    for (const name of ['one', 'two']) await gone(name)
  })

  it('are set by admins, seen by operators; nobody sees, sets or removes another tenant’s', async () => {
    for (const who of ['producer', 'worker', 'operator', 'viewer', 'auditor'])
      expect((await put('chat', { text: ALLOW }, who)).status, who).toBe(403)
    for (const who of ['producer', 'worker', 'viewer'])
      expect((await home.ask(who, 'GET', '/v1/policies')).status, who).toBe(403)
    await put('chat', { text: ALLOW })
    const rival = home.secrets['rival']?.admin
    expect((await home.ask(rival, 'GET', '/v1/policies')).body).toEqual({ policies: [] })
    for (const method of ['GET', 'DELETE'])
      expect((await home.ask(rival, method, '/v1/policies/chat')).status).toBe(404)
    expect((await home.ask(rival, 'PUT', '/v1/policies/chat', { text: DENY })).body).toMatchObject({ rev: 1 })
    expect((await home.ask('admin', 'GET', '/v1/policies/chat')).body).toMatchObject({ text: ALLOW, rev: 1 })
    const theirs = { text: 'rules:\n  - { id: a, decision: deny, tenants: [rival] }\n' }
    expect((await put('chat', theirs)).text).toContain('is for other tenants')
    const words = { name: 'bound', scope: 'admin', tenant: 'acme', queues: ['mine'] } as const
    const { secret } = await home.gateway.tokens.create(words)
    expect((await home.ask(secret, 'PUT', '/v1/policies/chat', { text: DENY })).status).toBe(403)
    await gone('chat')
    await home.ask(rival, 'DELETE', '/v1/policies/chat')
  })

  it('go through the library at the other end as they do where the store is', async () => {
    await using far = await open(home.gateway.url, { token: home.secrets['acme']?.admin, log: 'silent' })
    expect(await far.policies.set('chat', ALLOW, { rev: 0 })).toMatchObject({ name: 'chat', rev: 1, by: 'admin:admin' })
    expect(await far.policies.list()).toEqual([await far.policies.get('chat')])
    await expect(far.policies.set('chat', DENY, { rev: 0 })).rejects.toMatchObject({ code: 'REV_CONFLICT' })
    await expect(far.policies.set('chat', 'rules: [')).rejects.toThrow('chat:1:')
    await expect(far.policies.rm('chat', { rev: 9 })).rejects.toMatchObject({ code: 'REV_CONFLICT' })
    expect(await far.policies.rm('chat', { rev: 1 })).toBe(true)
    expect([await far.policies.rm('chat'), await far.policies.get('chat')]).toEqual([false, undefined])
  })

  it('go through the command line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-policies-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'chat.yaml')
    const env = { PAWL_URL: home.gateway.url, PAWL_TOKEN: home.secrets['acme']?.admin ?? '' }
    const run = (...words: readonly string[]) => command(['policy', ...words], { env })
    writeFileSync(file, ALLOW)
    expect(await json(['policy', 'set', 'chat', file], { env })).toMatchObject({ name: 'chat', rev: 1 })
    expect((await run('ls')).stdout).toMatch(/POLICY.*\nchat +1 /)
    expect((await run('show', 'chat')).stdout).toBe(ALLOW)
    expect((await run('check', 'settings:')).stdout).toMatch(/^1 rules, [0-9a-f]{32}\n$/)
    writeFileSync(file, 'rules:\n  - { id: a, decision: alow }\n')
    expect(await run('set', 'chat', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('chat:2:') })
    writeFileSync(file, DENY)
    expect(await run('set', 'chat', file, '--rev', '0')).toMatchObject({ code: 4 })
    expect(await run('set', 'chat', join(folder, 'none'))).toMatchObject({ code: 3 })
    expect((await run('rm', 'chat')).stdout).toMatch(/^Policy chat is removed\.\nThis tenant has none/)
    expect(await run('rm', 'chat')).toMatchObject({ code: 3 })
    expect(await run('show', 'chat')).toMatchObject({ code: 3 })
  })
})
