/** JobRequest and JobResult of document 002 over HTTP, field by field; and that pointers are kept, told to who may know them, and nowhere else. */
import { expect, it, onTestFinished } from 'vitest'
import { linesTo } from '../../src/system/log.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const SECRET = 'X-Signature=s3cr3t-of-a-pointer'
const IN = `https://memory.example/in?${SECRET}`
const OUT = `https://memory.example/out?${SECRET}`

const REQUEST = {
  job_id: 'req-1',
  topic: 'job.chat.simple',
  priority: 'critical',
  context_ptr: IN,
  adapter_id: 'gpt-x',
  env: { tenant: 'of-the-request', locale: 'de', sandbox: 'true' },
  parent_job_id: 'req-0',
  workflow_id: 'wf-1',
  step_index: 3,
} as const

async function walked() {
  const lines: string[] = []
  const log = linesTo(
    (line) => lines.push(line),
    () => 0,
  )
  const home = await openGatewayFixture({ log }, undefined, { log })
  onTestFinished(() => home[Symbol.asyncDispose]())
  const path = '/v1/dialects/002/jobs'
  await home.ask('producer', 'POST', path, { job_id: 'req-0', topic: 'job.chat.simple' })
  const dispatched = async () => {
    const words = { worker_id: 'w1', topics: ['job.chat.simple'] }
    const { body } = await home.ask('worker', 'POST', '/v1/dialects/002/dispatches', words)
    return (body['dispatches'] as readonly Record<string, unknown>[])[0]
  }
  return { home, path, lines, dispatched }
}

it('a JobRequest comes back field by field, to its worker as well; each field of a JobResult is told', async () => {
  const { home, path, dispatched } = await walked()
  const submitted = await home.ask('producer', 'POST', path, REQUEST)
  expect(submitted.status).toBe(201)
  expect(submitted.body['JobRequest']).toEqual(REQUEST)
  expect((await home.ask('producer', 'POST', path, REQUEST)).status).toBe(200)
  const other = await home.ask('producer', 'POST', path, { ...REQUEST, context_ptr: 's3://other' })
  expect([other.status, other.body['code']]).toEqual([409, 'ID_TAKEN'])
  await home.ask('operator', 'POST', `${path}/req-1/scheduled`, {})
  const dispatch = await dispatched()
  expect(dispatch).toMatchObject({ JobRequest: REQUEST, state: 'DISPATCHED', fence: expect.any(String) })
  const { fence } = dispatch as { readonly fence: string }
  await home.ask('worker', 'POST', `${path}/req-1/running`, { fence })
  const result = { job_id: 'req-1', status: 'SUCCEEDED', result_ptr: OUT, worker_id: 'w1', execution_ms: 12 }
  const ended = await home.ask('worker', 'POST', `${path}/req-1/result`, { ...result, fence })
  expect(ended.body).toMatchObject({ state: 'SUCCEEDED', JobRequest: REQUEST, JobResult: result })
  const late = { status: 'FAILED', error_code: 'E_LATE', error_message: 'too late', fence }
  expect((await home.ask('worker', 'POST', `${path}/req-1/result`, late)).status).toBe(409)
  expect((await home.ask('operator', 'GET', `${path}/req-1/results`)).body).toMatchObject({
    JobResult: result,
    late: [{ job_id: 'req-1', status: 'FAILED', error_code: 'E_LATE', error_message: 'too late' }],
  })
})

it('a JobResult that failed has its code and message; of another job it is refused', async () => {
  const { home, path, dispatched } = await walked()
  await home.ask('operator', 'POST', `${path}/req-0/scheduled`, {})
  const { fence } = (await dispatched()) as { readonly fence: string }
  const wrong = { job_id: 'req-9', status: 'SUCCEEDED', result_ptr: OUT, fence }
  const refused = await home.ask('worker', 'POST', `${path}/req-0/result`, wrong)
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('body.job_id')])
  await home.ask('worker', 'POST', `${path}/req-0/running`, { fence })
  const failed = { status: 'FAILED', error_code: 'E_MODEL', error_message: 'no answer', execution_ms: 7, fence }
  expect((await home.ask('worker', 'POST', `${path}/req-0/result`, failed)).body['JobResult']).toMatchObject({
    status: 'FAILED',
    error_code: 'E_MODEL',
    error_message: 'no answer',
    execution_ms: 7,
    worker_id: 'w1',
  })
})

it('pointers are in no log and in no error, whatever is wrong with the request they came with', async () => {
  const { home, path, lines, dispatched } = await walked()
  const answers = [
    await home.ask('producer', 'POST', path, { ...REQUEST, topic: 7 }),
    await home.ask('producer', 'POST', path, { ...REQUEST, priority: 'soon' }),
    await home.ask('producer', 'POST', path, { ...REQUEST, context_ptr: IN.repeat(100) }),
    await home.ask('producer', 'POST', path, { ...REQUEST, context_ptr: { url: IN } }),
    await home.ask('producer', 'POST', path, `{"topic":"a","context_ptr":"${IN}`),
    await home.ask('viewer', 'POST', path, REQUEST),
  ]
  await home.ask('producer', 'POST', path, REQUEST)
  answers.push(await home.ask('producer', 'POST', path, { ...REQUEST, context_ptr: `${IN}&more` }))
  await home.ask('operator', 'POST', `${path}/req-1/scheduled`, {})
  const { fence } = (await dispatched()) as { readonly fence: string }
  const result = { status: 'SUCCEEDED', result_ptr: OUT }
  answers.push(await home.ask('worker', 'POST', `${path}/req-1/result`, { ...result, fence: 'another' }))
  answers.push(await home.ask('worker', 'POST', `${path}/req-1/result`, { ...result, fence, result_ptr: [OUT] }))
  await home.ask('worker', 'POST', `${path}/req-1/running`, { fence })
  await home.ask('worker', 'POST', `${path}/req-1/result`, { ...result, fence })
  answers.push(await home.ask('worker', 'POST', `${path}/req-1/result`, { ...result, result_ptr: `${OUT}&x`, fence }))
  for (const { status, text } of answers) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toContain(SECRET)
  }
  expect(lines.some((line) => line.includes('succeeded'))).toBe(true)
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
})
