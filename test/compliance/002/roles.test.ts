/** Document 002 by its roles, over HTTP: gateway, scheduler with a policy, safety kernel, worker and reconciler, each a real one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '../../../src/gateway/contract/route.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from '../../gateway/gateway-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { type Kernel, startKernel } from '../../support/safety-kernel.ts'

const JOBS = '/v1/dialects/002/jobs'
const TOPIC = 'job.chat'

type Told = Readonly<Record<string, unknown>>

let kernel: Kernel
let home: GatewayFixture
let folder: string
let made = 0

beforeAll(async () => {
  kernel = await startKernel()
  folder = mkdtempSync(join(tmpdir(), 'pawl-roles-'))
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ rules: [{ id: 'all', decision: 'allow' }] }))
  const judging = { policy: folder, kernel: kernel.url }
  home = await openGatewayFixture({ caps: BOUNDLESS }, undefined, judging)
  await must('worker', 'PUT', `/v1/types/${TOPIC}`, {
    queue: TOPIC,
    policy: { dialect: '002', lease: '1s', heartbeat: '400ms', retry: { attempts: 1 } },
  })
})
afterAll(async () => {
  await home?.[Symbol.asyncDispose]()
  await kernel?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function must(who: Scope, method: string, path: string, body?: object): Promise<Told> {
  const { status, body: told } = await home.ask(who, method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(told)}`)
  return told
}

async function submitted(more: object = {}): Promise<string> {
  made += 1
  const id = `by-role-${made}`
  await must('producer', 'POST', JOBS, { job_id: id, topic: TOPIC, ...more })
  return id
}

const comesTo = (id: string, state: string) =>
  eventually(`${id} is ${state}`, async () => (await must('viewer', 'GET', `${JOBS}/${id}`))['state'] === state)

async function dispatched(id: string): Promise<string> {
  const words = { worker_id: 'w1', topics: [TOPIC], limit: 10 }
  const { dispatches } = await must('worker', 'POST', '/v1/dialects/002/dispatches', words)
  type Dispatch = { readonly JobRequest: { readonly job_id: string }; readonly fence: string }
  const found = (dispatches as readonly Dispatch[]).find(({ JobRequest }) => JobRequest.job_id === id)
  if (found === undefined) throw new Error(`${id} was not dispatched`)
  return found.fence
}

async function running(): Promise<{ readonly id: string; readonly fence: string }> {
  const id = await submitted()
  await comesTo(id, 'SCHEDULED')
  const fence = await dispatched(id)
  await must('worker', 'POST', `${JOBS}/${id}/running`, { fence })
  return { id, fence }
}

/** Its states, each with who brought it there. */
async function moves(id: string): Promise<readonly (readonly [unknown, unknown])[]> {
  const { states } = await must('viewer', 'GET', `${JOBS}/${id}/states`)
  return (states as readonly Told[]).map(({ state, actor }) => [state, actor] as const)
}

const ACCEPTED = ['PENDING', 'producer:producer'] as const
const VALIDATED = ['SCHEDULED', 'system:scheduler'] as const
const PICKED = ['DISPATCHED', 'system:scheduler'] as const
const STARTED = ['RUNNING', 'worker:worker'] as const

describe('002 by its roles', () => {
  it.each(['SUCCEEDED', 'FAILED'] as const)(
    '002:37 002:38 002:39 002:40 002:41 002:42 002:55 002:56 002:57 gateway, scheduler and worker bring a job to %s',
    async (status) => {
      const { id, fence } = await running()
      const error = status === 'FAILED' ? { error_code: 'bad_request', error_message: 'no' } : {}
      await must('worker', 'POST', `${JOBS}/${id}/result`, { status, fence, ...error })
      expect(await moves(id)).toEqual([ACCEPTED, VALIDATED, PICKED, STARTED, [status, 'worker:worker']])
    },
  )

  it('002:45 002:56 the safety kernel rejects, and the scheduler sets DENIED, by the kernel’s rule', async () => {
    const id = await submitted({ env: { unsafe: 'true' } })
    await comesTo(id, 'DENIED')
    expect(await moves(id)).toEqual([ACCEPTED, VALIDATED, ['DENIED', 'system:scheduler']])
    const { JobResult } = await must('viewer', 'GET', `${JOBS}/${id}`)
    expect(JobResult).toMatchObject({ status: 'DENIED', error_code: 'unsafe', error_message: 'no' })
  })

  it('002:43 002:44 002:58 the reconciler marks what is stale, and what was not started', async () => {
    const stale = await running()
    const waiting = await submitted()
    await comesTo(waiting, 'SCHEDULED')
    await dispatched(waiting)
    await comesTo(stale.id, 'TIMEOUT')
    await comesTo(waiting, 'TIMEOUT')
    const marked = ['TIMEOUT', 'system:reconciler'] as const
    expect(await moves(stale.id)).toEqual([ACCEPTED, VALIDATED, PICKED, STARTED, marked])
    expect(await moves(waiting)).toEqual([ACCEPTED, VALIDATED, PICKED, marked])
    for (const [id, marks] of [
      [stale.id, 'stale'],
      [waiting, 'not-started'],
    ] as const)
      expect(await must('viewer', 'GET', `${JOBS}/${id}/states`)).toMatchObject({
        states: expect.arrayContaining([expect.objectContaining({ state: 'TIMEOUT', marks })]),
      })
  })

  it('002:46 002:58 a user cancels, from wherever it is', async () => {
    const id = await submitted()
    await comesTo(id, 'SCHEDULED')
    await must('operator', 'POST', `${JOBS}/${id}/cancelled`, {})
    expect((await moves(id)).at(-1)).toEqual(['CANCELLED', 'operator:operator'])
  })
})
