/** What the gateway answers, by asking a real one in time that stands still: nothing in it is made up, or differs from run to run. */

import { gateway } from '../../src/gateway.ts'
import { defineSpec } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'

interface Asked {
  readonly what: string
  readonly method: 'GET' | 'POST'
  /** `{id}` is the job's. */
  readonly path: string
  /** `fence` is the one that the claim told. */
  readonly body?: Readonly<Record<string, unknown>>
}

const EXCHANGES: readonly Asked[] = [
  {
    what: 'A new job',
    method: 'POST',
    path: '/v1/jobs',
    body: { type: 'mail.send', input: { to: 'ann@example.com' }, labels: { order: '42' }, requestId: 'r-1' },
  },
  {
    what: 'Work for a worker',
    method: 'POST',
    path: '/v1/claims',
    body: { workerId: 'w-1', queues: ['default'], limit: 1, requestId: 'r-2' },
  },
  {
    what: 'Its end',
    method: 'POST',
    path: '/v1/jobs/{id}/complete',
    body: { fence: 'fence', result: { letters: 5 }, requestId: 'r-3' },
  },
  { what: 'A job', method: 'GET', path: '/v1/jobs/{id}' },
  { what: 'Its result', method: 'GET', path: '/v1/jobs/{id}/result' },
  { what: 'Its history', method: 'GET', path: '/v1/jobs/{id}/events' },
  { what: 'Many jobs', method: 'GET', path: '/v1/jobs?limit=1' },
  { what: 'Queues', method: 'GET', path: '/v1/queues' },
  { what: 'A refusal', method: 'POST', path: '/v1/jobs/{id}/complete', body: { fence: 'fence', requestId: 'r-4' } },
]

const DAY = Date.UTC(2030, 0, 1)
const ORIGIN = 'http://127.0.0.1'

export async function answers(): Promise<readonly string[]> {
  const time = new VirtualTime(DAY)
  const random = {
    hex64: () => '0123456789abcdef',
    uuid: () => '00000000-0000-4000-8000-000000000000',
    secret: () => '',
  }
  const options = { clock: time, timers: time, random, ticker: false, retention: false, log: 'silent' } as const
  await using pawl = await open('memory:', options)
  const { fetch } = gateway(pawl, { authorize: () => ({ name: 'you', scope: 'admin' }) })
  await pawl.enqueue(defineSpec({ type: 'other', queue: 'other' }))
  let id = ''
  let fence = ''
  const told: string[] = []
  for (const { what, method, path, body } of EXCHANGES) {
    const words = body && JSON.stringify('fence' in body ? { ...body, fence } : body)
    const headers = { 'content-type': 'application/json' }
    const request = new Request(ORIGIN + path.replace('{id}', id), { method, headers, ...(words && { body: words }) })
    const response = await fetch(request)
    const answer = (await response.json()) as Answer
    id ||= answer.id ?? ''
    fence ||= answer.jobs?.[0]?.fence ?? ''
    told.push(`### ${what}\n\n${exchange(`${method} ${path}`, words, response.status, answer)}`)
  }
  return told
}

interface Answer {
  readonly id?: string
  readonly jobs?: readonly { readonly fence?: string }[]
}

const exchange = (line: string, words: string | undefined, status: number, answer: unknown): string =>
  [
    '```http',
    [line, words].filter((part) => part !== undefined).join('\n\n'),
    '',
    `→ ${status}`,
    '',
    JSON.stringify(answer, undefined, 2),
    '```',
  ].join('\n')
