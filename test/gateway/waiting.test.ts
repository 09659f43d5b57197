/** Waiting for work over HTTP: what a client asks a gateway for, and what becomes of a wait that is called off. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpEngine } from '../../src/client/client.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

const job = defineJob({ type: 'job', run: () => {} })
const lanes = [{ tenant: 'default', queue: 'default', priority: 5 }] as const
let home: Pawl
let gateway: Gateway
beforeAll(async () => {
  home = await open('memory:', { ticker: false, retention: false, log: 'silent' })
  gateway = await startGateway({ engine: home.engine, auth: false, port: 0, caps: { pollsPerToken: 1 } })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await home.close()
})

/** A client that tells what it asked for, and whose answers may be held back. */
function client(hold: (status: number, text: string) => Promise<void> = async () => {}) {
  const asked: Readonly<Record<string, unknown>>[] = []
  const watched: typeof fetch = async (url, init) => {
    if (String(url).endsWith('/claims')) asked.push(JSON.parse(String(init?.body)) as Record<string, unknown>)
    const response = await fetch(url, init)
    if (!String(url).endsWith('/claims')) return response
    const text = await response.clone().text()
    await hold(response.status, text)
    init?.signal?.throwIfAborted()
    return response
  }
  const engine = new HttpEngine({ url: gateway.url, fetch: watched })
  return { engine, asked, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() }
}

describe('a claim over HTTP', () => {
  it('waits in the store behind the gateway, for as long as that lets it', async () => {
    await using one = client()
    const claim = one.engine.claim({ requestId: 'r1', workerId: 'w', lanes, limit: 1, waitMs: 600_000 })
    await eventually('it to be asked', () => one.asked.length === 1)
    expect(one.asked[0]).toMatchObject({ waitMs: 60_000, requestId: 'r1' })
    const handle = await home.enqueue(job)
    const [given] = await claim
    expect(given?.job.id).toBe(handle.id)
    expect(given?.waitedMs).toBeGreaterThanOrEqual(0)
    expect(one.asked).toHaveLength(1)
  })

  it('asks for what is there where no place to wait is left', async () => {
    await using one = client()
    await using other = client()
    const ends = new AbortController()
    const waiting = one.engine.claim({
      requestId: 'r2',
      workerId: 'w',
      lanes: [{ ...lanes[0], queue: 'elsewhere' }],
      limit: 1,
      waitMs: 60_000,
      signal: ends.signal,
    })
    await eventually('it to wait', () => one.asked.length === 1)
    await eventually('the place to be taken', async () => {
      const before = other.asked.length
      expect(
        await other.engine.claim({ requestId: `r3/${before}`, workerId: 'w', lanes, limit: 1, waitMs: 1 }),
      ).toEqual([])
      return other.asked.length === before + 2
    })
    expect(other.asked.slice(-2).map(({ waitMs }) => waitMs)).toEqual([1, 0])
    ends.abort()
    expect(await waiting).toEqual([])
  })

  it('that is called off while its answer is on its way asks once more for what it was given', async () => {
    const ends = new AbortController()
    let first = true
    await using one = client(async (_, text) => {
      if (!first || !text.includes('pj_')) return
      first = false
      ends.abort()
    })
    const claim = one.engine.claim({
      requestId: 'r4',
      workerId: 'w',
      lanes,
      limit: 1,
      waitMs: 60_000,
      signal: ends.signal,
    })
    await eventually('it to be asked', () => one.asked.length === 1)
    const handle = await home.enqueue(job)
    const given = await claim
    expect(one.asked.at(-1)).toMatchObject({ requestId: 'r4', lanes: [], waitMs: 0 })
    // The gateway may have noticed that nobody takes the answer, and have released the job.
    if (given.length > 0) expect(given.map((each) => [each.job.id, each.job.attempt])).toEqual([[handle.id, 1]])
    else expect(await handle.job()).toMatchObject({ state: 'queued', attempt: 1, failures: 0, stalls: 0 })
  })

  it('that is called off before anything came claims nothing', async () => {
    await using one = client()
    const ends = new AbortController()
    const claim = one.engine.claim({
      requestId: 'r6',
      workerId: 'w',
      lanes,
      limit: 1,
      waitMs: 60_000,
      signal: ends.signal,
    })
    await eventually('it to be asked', () => one.asked.length === 1)
    ends.abort()
    expect(await claim).toEqual([])
    const handle = await home.enqueue(job)
    expect(await handle.job()).toMatchObject({ state: 'queued', attempt: 0 })
  })
})

it('a gateway that ends lets nobody wait', async () => {
  await using own = await startGateway({ engine: home.engine, auth: false, port: 0 })
  const words = { workerId: 'w', queues: ['nothing'], waitMs: 60_000 }
  const headers = { 'content-type': 'application/json' }
  const polling = fetch(`${own.url}/v1/claims`, { method: 'POST', headers, body: JSON.stringify(words) })
  polling.catch(() => {})
  await eventually('it to be there', async () => (await fetch(`${own.url}/livez`)).ok)
  await own[Symbol.asyncDispose]()
  // Told that there is nothing, or cut off; in no case after a minute.
  const answer = await polling.then((response) => response.json()).catch(() => ({ jobs: [] }))
  expect(answer).toEqual({ jobs: [] })
})
