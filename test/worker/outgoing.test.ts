/** What a handler calls is told of the job's trace and of its correlation. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'

const heard: IncomingHttpHeaders[] = []
const server = createServer((request, response) => {
  heard.push(request.headers)
  response.end('ok')
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const calling = defineJob({
  type: 'calling',
  run: async (_: undefined, ctx) => (await fetch(url, { headers: ctx.headers })).text(),
})

it('000A:59 correlation_id goes from the worker to whatever it calls, as W3C baggage, beside the trace', async () => {
  await using pawl = await open('memory:', { log: 'silent' })
  await using _worker = pawl.work([calling])
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const job = await pawl.enqueue(calling, undefined, { correlationId: 'order 7, é/1', traceparent })
  expect(await job.result({ timeout: '20s' })).toBe('ok')
  expect(heard.at(-1)).toMatchObject({ traceparent, baggage: 'correlation_id=order%207%2C%20%C3%A9%2F1' })
})

it('a job without a trace has its correlation all the same', async () => {
  await using pawl = await open('memory:', { log: 'silent' })
  await using _worker = pawl.work([calling])
  const job = await pawl.enqueue(calling)
  await job.result({ timeout: '20s' })
  const record = await pawl.get(job.id)
  expect(heard.at(-1)).toMatchObject({ baggage: `correlation_id=${record?.spec.correlationId}` })
  expect(heard.at(-1)).not.toHaveProperty('traceparent')
})
