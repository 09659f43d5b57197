/** Refusals are paced by token: a flood is told slowly, whoever is refused now and then at once. */
import { describe, expect, it } from 'vitest'
import { beyond, capsWith } from '../../src/gateway/caps.ts'
import { Objected, objection } from '../../src/gateway/problem.ts'
import { Refusals } from '../../src/gateway/refusals.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const tooMany = beyond('pollsPerToken', capsWith())
const request = (signal?: AbortSignal) => new Request('http://x/', signal === undefined ? {} : { signal })

function paced(perSecond = 10) {
  const time = new VirtualTime(1_000_000)
  const ending = new AbortController()
  const refusals = new Refusals({
    caps: capsWith({ refusalsPerSecond: perSecond }),
    clock: time,
    timers: time,
    ending: ending.signal,
  })
  const told: number[] = []
  const hold = (token: string, error: unknown = tooMany, signal?: AbortSignal) =>
    refusals.hold(token, error, request(signal)).then(() => told.push(time.monotonicMs()))
  return { time, ending, told, hold }
}

describe('refusals', () => {
  it("are told at once, two seconds' worth of them, then at the pace that the cap gives", async () => {
    const { time, told, hold } = paced()
    const began = time.monotonicMs()
    const all = Promise.all(Array.from({ length: 40 }, () => hold('flood')))
    await time.advance(10_000)
    await all
    const after = told.map((at) => at - began)
    expect(after.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0))
    expect(after.slice(20)).toEqual(Array.from({ length: 20 }, (_, n) => (n + 1) * 100))
  })

  it('are told after five seconds at the latest, however many there are', async () => {
    const { time, told, hold } = paced()
    const began = time.monotonicMs()
    const all = Promise.all(Array.from({ length: 1_000 }, () => hold('flood')))
    await time.advance(5_000)
    await all
    expect(Math.max(...told) - began).toBe(5_000)
  })

  it('of one token leave those of another alone', async () => {
    const { time, told, hold } = paced()
    const flood = Promise.all(Array.from({ length: 100 }, () => hold('flood')))
    await hold('calm')
    expect(told).toHaveLength(21)
    await time.advance(5_000)
    await flood
  })

  it('for what has become of a job, or because the store is away, are never held', async () => {
    const { told, hold } = paced(1)
    const away = new Objected(objection('UNAVAILABLE', undefined, undefined, 1_000))
    await Promise.all(Array.from({ length: 100 }, () => hold('keeper', away)))
    const stale = new Objected({ status: 409, retryAfterMs: undefined, body: { title: 'x' } })
    await Promise.all(Array.from({ length: 100 }, () => hold('worker', stale)))
    expect(told).toHaveLength(200)
  })

  it('are not held for who has gone, nor while the gateway ends', async () => {
    const { ending, told, hold } = paced(1)
    await Promise.all([hold('a'), hold('a')])
    const gone = new AbortController()
    const first = hold('a', tooMany, gone.signal)
    gone.abort()
    await first
    const second = hold('a')
    ending.abort()
    await second
    expect(told).toHaveLength(4)
  })

  it('are what a gateway answers with, in the end', async () => {
    await using own = await openGatewayFixture({ caps: { refusalsPerSecond: 20 } })
    const answers = await Promise.all(Array.from({ length: 60 }, () => own.ask('viewer', 'GET', '/v1/jobs?limit=x')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400))
  })
})
