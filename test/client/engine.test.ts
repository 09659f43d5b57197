/** The client's engine says over HTTP what the local one says at home. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpEngine } from '../../src/client/client.ts'
import { resolvePolicy } from '../../src/core/resolve.ts'
import { type House, house } from '../gateway/house.ts'

let home: House
let engine: HttpEngine
beforeAll(async () => {
  home = await house()
  engine = new HttpEngine({ url: home.gateway.url, token: home.secrets['acme']?.admin })
})
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const resolved = resolvePolicy({ retry: { attempts: 1 } })
if (!resolved.ok) throw new Error('the policy is good')
const kind = { tenant: 'acme', queue: 'default', type: 'crawl', policy: resolved.policy }
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('over HTTP', () => {
  it('each job of a batch keeps the trace of its own producer', async () => {
    const other = TRACE.replace('0af7', '1af7')
    const asked = [TRACE, other, undefined].map((traceparent) => ({
      actor: 'p',
      kind,
      priority: 5 as const,
      input: undefined,
      traceparent,
    }))
    const answers = await engine.enqueue(asked)
    const ids = answers.map((answer) => (answer.ok ? answer.job.id : ''))
    const { items } = await home.pawl.engine.load(ids.map((id) => ({ id })))
    expect(items.map((item) => item?.job.spec.traceparent)).toEqual([TRACE, other, undefined])
  })

  it('the whole story of an error arrives', async () => {
    const [answer] = await engine.enqueue([
      { actor: 'p', kind: { ...kind, queue: 'bad' }, priority: 5, input: '{"n":1}' },
    ])
    const lanes = [{ tenant: 'acme', queue: 'bad', priority: 5 as const }]
    const [assignment] = await engine.claim({ requestId: 'c', workerId: 'w', lanes, limit: 1 })
    const story =
      '{"name":"Error","message":"m","stack":"at x","cause":{"name":"Inner","message":"why"},"n":9007199254740993}'
    const id = assignment?.job.id ?? ''
    const [failed] = await engine.settle([
      {
        id,
        command: {
          type: 'fail',
          actor: 'w',
          requestId: 'f',
          fence: assignment?.fence ?? '',
          fault: { code: 'internal', message: 'm' },
        },
        bodies: [{ name: 'error/1', text: story }],
      },
    ])
    expect(answer?.ok && failed?.ok).toBe(true)
    const { items } = await home.pawl.engine.load([{ id, bodies: ['error/'] }])
    expect(items[0]?.bodies['error/1']).toBe(story)
  })
})
