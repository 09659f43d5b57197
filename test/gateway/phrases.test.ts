/** One phrase per job of a list, however many workers there are and however much they say of themselves. */
import { expect, it } from 'vitest'
import { type SeenWorker, Workers } from '../../src/engine/workers.ts'
import type { Call, Parts } from '../../src/gateway/call.ts'
import { withPhrases } from '../../src/gateway/handlers/phrases.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const JOBS = 40
const WORKERS = 30
const NAMES = 50

it('goes through what each worker knows once, and not once per job', async () => {
  await using fixture = await openGatewayFixture()
  const jobs = Array.from({ length: JOBS }, (_, n) => ({ type: `t${n}`, queue: 'q', input: n }))
  await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs })
  const { engine } = fixture.pawl
  const found = await engine.find({ tenant: 'acme', order: 'oldest', limit: JOBS })
  let looks = 0
  const counted = (names: readonly string[]): readonly string[] =>
    new Proxy(names, {
      get(target, property) {
        if (typeof property === 'string' && /^\d+$/.test(property)) looks += 1
        return Reflect.get(target, property) as unknown
      },
    })
  class Crowd extends Workers {
    override async presentOf(tenant: string): Promise<readonly SeenWorker[]> {
      return Array.from({ length: WORKERS }, (_, n) => {
        const types = counted([...Array.from({ length: NAMES }, (_, i) => `other${i}`), 't0'])
        const about = { queues: counted(['q']), types }
        return { tenant, workerId: `w${n}`, token: undefined, about, seenAt: engine.now(), present: true }
      })
    }
  }
  const call = { token: { tenant: 'acme' } } as Call
  const parts = { engine, workers: new Crowd(engine) } as Parts
  const told = await withPhrases(found.jobs, call, parts, ({ spec }) => ({ type: spec.kind.type }))
  expect(told).toHaveLength(JOBS)
  const phrase = (type: string) => told.find((each) => (each as { type: string }).type === type)
  expect(phrase('t0')).toMatchObject({ now: { before: 'waits for a worker, ready' } })
  expect(phrase('t1')).toMatchObject({ now: { before: 'no worker knows type t1, ready' } })
  expect(looks).toBeLessThanOrEqual(2 * WORKERS * (NAMES + 2))
})
