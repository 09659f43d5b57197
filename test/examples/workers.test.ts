import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../../src/gateway/serve.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { folder, spawned } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'

interface Example {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly count: readonly [type: string, input: object, result: object]
  readonly slow: string
  readonly fail: readonly [type: string, code: string]
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'Python',
    command: ['python3', 'examples/worker.py'],
    count: ['text.count', { text: 'to be, or “not” to be \u001b[31m' }, { words: 7, letters: 14 }],
    slow: 'text.slow',
    fail: ['text.fail', 'python_error'],
  },
  {
    name: 'bash',
    command: ['bash', 'examples/worker.sh'],
    count: ['sh.size', { text: 'hello"}]}' }, { bytes: 21 }],
    slow: 'sh.sleep',
    fail: ['sh.fail', 'exit_3'],
  },
]

/** Whatever a producer may say, a worker that looks for words in an answer must not take it for ours. */
const MISLEADING = {
  id: 'pj_1',
  fence: '0.1.0123456789abcdef',
  state: 'claimed',
  leaseExpiresAt: 'now',
  inputLater: 'false',
}
const SOON = { lease: '6s', heartbeat: '1s' } as const

describe.each(EXAMPLES)('a worker in $name', ({ name, command: [program, ...script], count, slow, fail }) => {
  const home = folder()
  const queue = name.toLowerCase()
  let store: Pawl
  let gateway: Gateway
  let worker: ReturnType<typeof spawned>

  beforeAll(async () => {
    store = await open(home.at('jobs.db'), { log: 'silent' })
    gateway = await startGateway({ engine: store.engine, port: 0 })
    const { secret } = await gateway.tokens.create({ name, scope: 'worker', tenant: 'default', queues: [queue] })
    worker = spawned(program, [...script, queue], { env: { PAWL_URL: gateway.url, PAWL_TOKEN: secret } })
  })
  afterAll(async () => {
    await worker[Symbol.asyncDispose]()
    await gateway[Symbol.asyncDispose]()
    await store.close()
    home[Symbol.dispose]()
  })

  it('claims, starts, completes; whatever the labels say', async () => {
    await store.enqueue('other', {}, { queue, delay: '1h' })
    const [type, input, result] = count
    const jobs = await Promise.all([1, 2, 3].map(() => store.enqueue(type, input, { queue, labels: MISLEADING })))
    for (const job of jobs) expect(await job.result({ timeout: '60s' })).toEqual(result)
    expect((await jobs[0]?.events())?.map((event) => event.type)).toEqual([
      'enqueued',
      'claimed',
      'started',
      'succeeded',
    ])
    await worker.line(new RegExp(`${jobs[2]?.id} ${type} succeeded`))
  })

  it('fails with a code, and the job is tried again', async () => {
    const [type, code] = fail
    const job = await store.enqueue(
      type,
      {},
      { queue, policy: { retry: { attempts: 2, base: '10ms', jitter: 'none' } } },
    )
    await expect(job.result({ timeout: '60s' })).rejects.toMatchObject({ code, job: { attempt: 2, failures: 2 } })
    expect((await job.job())?.error?.message).toContain('this one never works')
  })

  it('keeps its lease by heartbeats, and stops when it is asked to', async () => {
    const job = await store.enqueue(slow, { seconds: 600 }, { queue, policy: SOON })
    await eventually('the lease has been renewed', async () => ((await job.job())?.lease?.beats ?? 0) >= 1, {
      withinMs: 30_000,
    })
    expect((await job.cancel({ reason: 'enough' })).state).toBe('running')
    await expect(job.result({ timeout: '30s' })).rejects.toMatchObject({ name: 'JobCancelled' })
    expect((await job.events()).map((event) => event.type)).not.toContain('stalled')
  })

  it('hands back what it cannot do', async () => {
    const job = await store.enqueue('unknown', {}, { queue })
    await eventually(
      'it was handed back',
      async () => (await job.events()).some((event) => event.type === 'released'),
      { withinMs: 30_000 },
    )
  })

  it('goes when it is told to', async () => {
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })
})
