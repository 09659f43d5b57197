/**
 * Every pair of tenants and every surface of admission, over HTTP: nobody sees, approves, admits, denies or dispatches another's jobs,
 * is sent to another, or is held by what another runs. All have the same topics, the same queues and the same names of keys.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Kernel, startKernel } from '../support/safety-kernel.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

const TENANTS = ['acme', 'globex', 'initech'] as const
const PAIRS = TENANTS.flatMap((mine) =>
  TENANTS.filter((their) => their !== mine).map((their) => [mine, their] as const),
)

const RULES = [
  { id: 'all', decision: 'allow' },
  { id: 'ask', topics: ['job.risky'], decision: 'require_approval' },
  { id: 'send', topics: ['job.dear'], decision: 'redirect', topic: 'job.cheap' },
  { id: 'gpu', topics: ['job.gpu'], decision: 'throttle', key: 'gpu', limit: { concurrency: 1 } },
]

let home: GatewayFixture
let kernel: Kernel
/** Whom the safety kernel rejects, whatever it is asked about. */
const rejected = new Set<string>()
let folder: string
const secrets = new Map<string, string>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-tenants-'))
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ rules: RULES }))
  kernel = await startKernel(({ tenant }) => rejected.has(tenant))
  home = await openGatewayFixture({ caps: BOUNDLESS }, undefined, { policy: folder, kernel: kernel.url })
  for (const tenant of TENANTS)
    secrets.set(
      tenant,
      (await home.gateway.tokens.create({ name: tenant, scope: 'admin', tenant, queues: undefined })).secret,
    )
})
afterAll(async () => {
  await home?.[Symbol.asyncDispose]()
  await kernel?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const ask = (tenant: string, method: string, path: string, body?: unknown) =>
  home.ask(secrets.get(tenant), method, path, body)

async function submitted(tenant: string, topic: string, more: object = {}): Promise<string> {
  const { status, body } = await ask(tenant, 'POST', '/v1/dialects/002/jobs', { topic, ...more })
  expect(status).toBe(201)
  return String((body['JobRequest'] as Record<string, unknown>)['job_id'])
}

const is = (tenant: string, id: string, state: string) =>
  eventually(`${id} is ${state}`, async () => {
    const { body } = await ask(tenant, 'GET', `/v1/dialects/002/jobs/${id}`)
    return body['state'] === state
  })

const dispatched = async (tenant: string, topic: string) => {
  const { body } = await ask(tenant, 'POST', '/v1/dialects/002/dispatches', {
    worker_id: `w-${tenant}`,
    topics: [topic],
    limit: 10,
  })
  const found = body['dispatches'] as readonly { JobRequest: { job_id: string }; fence: string }[]
  return found.map(({ JobRequest, fence }) => ({ id: JobRequest.job_id, fence }))
}

describe.each(PAIRS)('of %s, %s', (mine, their) => {
  it('neither sees nor moves what waits to be approved', async () => {
    const id = await submitted(mine, 'job.risky')
    await eventually('it is asked about', async () => {
      const { body } = await ask(mine, 'GET', `/v1/jobs/${id}`)
      return body['approval'] !== undefined
    })
    const { approval } = (await ask(mine, 'GET', `/v1/jobs/${id}`)).body as {
      readonly approval: { readonly policyHash: string; readonly jobHash: string }
    }
    const { policyHash, jobHash } = approval
    const words = [
      ['GET', `/v1/jobs/${id}`],
      ['GET', `/v1/jobs/${id}/events`],
      ['GET', `/v1/jobs/${id}/explain`],
      ['GET', `/v1/dialects/002/jobs/${id}`],
      ['GET', `/v1/dialects/002/jobs/${id}/states`],
      ['GET', `/v1/dialects/002/jobs/${id}/results`],
      ['POST', `/v1/jobs/${id}/approve`, { policyHash, jobHash }],
      ['POST', `/v1/jobs/${id}/admit`, {}],
      ['POST', `/v1/jobs/${id}/deny`, {}],
      ['POST', `/v1/jobs/${id}/cancel`, {}],
      ['POST', `/v1/dialects/002/jobs/${id}/scheduled`, {}],
      ['POST', `/v1/dialects/002/jobs/${id}/denied`, {}],
      ['POST', `/v1/dialects/002/jobs/${id}/cancelled`, {}],
      ['POST', `/v1/dialects/002/jobs/${id}/running`, { fence: '0.1.0123456789abcdef' }],
      ['POST', `/v1/dialects/002/jobs/${id}/result`, { status: 'SUCCEEDED', fence: '0.1.0123456789abcdef' }],
    ] as const
    const before = (await ask(mine, 'GET', `/v1/jobs/${id}`)).text
    for (const [method, path, body] of words) {
      const answer = await ask(their, method, path, body)
      expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'NOT_FOUND'])
      expect(answer.text).not.toContain(policyHash)
    }
    expect((await ask(mine, 'GET', `/v1/jobs/${id}`)).text).toBe(before)
    const listed = (await ask(their, 'GET', '/v1/jobs?state=pending')).text
    expect(listed).not.toContain(id)
    expect((await ask(mine, 'POST', `/v1/jobs/${id}/approve`, { policyHash, jobHash })).status).toBe(200)
    await is(mine, id, 'SCHEDULED')
    expect(await dispatched(their, 'job.risky')).not.toContainEqual(expect.objectContaining({ id }))
    expect((await dispatched(mine, 'job.risky')).map((each) => each.id)).toContain(id)
  })

  it('is not sent what is redirected: a topic is one of its own tenant, whoever has announced it', async () => {
    await ask(their, 'PUT', '/v1/types/job.cheap', { queue: `queue-of-${their}`, policy: { dialect: '002' } })
    const id = await submitted(mine, 'job.dear')
    await is(mine, id, 'SCHEDULED')
    const { body } = await ask(mine, 'GET', `/v1/jobs/${id}`)
    expect(body).toMatchObject({
      tenant: mine,
      topic: 'job.cheap',
      recast: { redirect: { from: 'job.dear', to: 'job.cheap' } },
    })
    expect(body['queue']).not.toBe(`queue-of-${their}`)
    expect(await dispatched(their, 'job.cheap')).not.toContainEqual(expect.objectContaining({ id }))
    expect((await dispatched(mine, 'job.cheap')).map((each) => each.id)).toContain(id)
  })

  it('does not hold it by a key of the same name, nor sees or sets it', async () => {
    const running = await submitted(their, 'job.gpu')
    await is(their, running, 'SCHEDULED')
    const [owned] = await dispatched(their, 'job.gpu')
    expect(owned?.id).toBe(running)
    const id = await submitted(mine, 'job.gpu')
    await is(mine, id, 'SCHEDULED')
    const key = async (tenant: string) => (await ask(tenant, 'GET', '/v1/limits/gpu')).body
    const before = await key(mine)
    await ask(their, 'PUT', '/v1/limits/gpu', { concurrency: 7 })
    expect((await key(mine))['limit']).toEqual(before['limit'])
    await ask(their, 'DELETE', '/v1/limits/gpu')
    const own = await dispatched(mine, 'job.gpu')
    expect(own.map((each) => each.id)).toEqual([id])
    for (const [tenant, fence, done] of [
      [their, owned?.fence, running],
      [mine, own[0]?.fence, id],
    ] as const) {
      await ask(tenant, 'POST', `/v1/dialects/002/jobs/${done}/running`, { fence })
      const ended = { status: 'SUCCEEDED', result_ptr: 's3://bucket/out', fence }
      expect((await ask(tenant, 'POST', `/v1/dialects/002/jobs/${done}/result`, ended)).status).toBe(200)
    }
  })

  it('does not see its workers, and speaks for none of them under the same name', async () => {
    const name = `w-${mine}-${their}`
    const workers = async (tenant: string) => {
      const { body } = await ask(tenant, 'GET', '/v1/workers')
      const found = body['workers'] as readonly { readonly workerId: string }[]
      return found.filter(({ workerId }) => workerId === name)
    }
    const about = { pool: 'code', queues: ['job.code'], capabilities: ['gpu'], concurrency: 4, host: `host-of-${mine}` }
    expect((await ask(mine, 'PUT', `/v1/workers/${name}`, about)).status).toBeLessThan(300)
    expect(await workers(their)).toEqual([])
    const own = await workers(mine)
    expect(own).toMatchObject([about])
    const poor = { pool: 'code', queues: ['job.code'], capabilities: [], concurrency: 0, host: `host-of-${their}` }
    expect((await ask(their, 'PUT', `/v1/workers/${name}`, poor)).status).toBeLessThan(300)
    expect(await workers(mine)).toEqual(own)
    expect(await workers(their)).toMatchObject([poor])
    expect((await ask(their, 'GET', '/v1/workers')).text).not.toContain(`host-of-${mine}"`)
  })

  it('has no answer of the safety kernel that was given about it, for the same request under the same id', async () => {
    const request = { job_id: `same-${mine}-${their}`, env: { of: `${mine} and ${their}` } }
    const comesTo = async (tenant: string, state: string) =>
      is(tenant, await submitted(tenant, 'job.safe', request), state)
    rejected.add(mine)
    await comesTo(their, 'SCHEDULED')
    await comesTo(mine, 'DENIED')
    rejected.delete(mine)
    const asked = kernel.asked.filter(({ env }) => env['of'] === request.env.of)
    expect(asked.map(({ tenant }) => tenant)).toEqual([their, mine])
  })
})

/** What becomes of a request. */
async function judged(tenant: string, topic: string): Promise<unknown> {
  const id = await submitted(tenant, topic)
  return await eventually('a judgement', async () => {
    const { state } = (await ask(tenant, 'GET', `/v1/dialects/002/jobs/${id}`)).body
    return state === 'PENDING' ? undefined : state
  })
}

// Last: a policy that is set or removed changes the hash that approvals are bound to.
describe.each(PAIRS)('of %s, %s', (mine, their) => {
  it('neither sees nor sets nor removes its policies, and is not judged by them', async () => {
    const [name, topic] = [`of-${mine}`, `job.closed-${mine}-${their}`]
    const path = `/v1/policies/${name}`
    const closing = JSON.stringify({ rules: [{ id: 'closed', topics: [topic], decision: 'deny' }] })
    const { status, body: set } = await ask(mine, 'PUT', path, { text: closing })
    expect([status, set['by']]).toEqual([200, `admin:${mine}`])
    for (const method of ['GET', 'DELETE']) {
      const answer = await ask(their, method, path)
      expect([method, answer.status, answer.body['code'], answer.text.includes(topic)]).toEqual([
        method,
        404,
        'NO_ROUTE',
        false,
      ])
    }
    expect((await ask(their, 'GET', '/v1/policies')).text).not.toContain(name)
    const open = JSON.stringify({ rules: [{ id: 'open', topics: [topic], decision: 'allow' }] })
    expect((await ask(their, 'PUT', path, { text: open })).body).toMatchObject({ rev: 1 })
    expect((await ask(mine, 'GET', path)).body).toEqual(set)
    // What was set holds within a second; from then on it holds for whoever it is of.
    await eventually('it holds', async () => (await judged(mine, topic)) === 'DENIED')
    expect(await judged(their, topic)).toBe('SCHEDULED')
    expect((await ask(their, 'DELETE', path)).status).toBe(200)
    expect((await ask(mine, 'GET', path)).body).toEqual(set)
    expect((await ask(mine, 'DELETE', path)).status).toBe(200)
  })
})
