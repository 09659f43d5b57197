/** A claim's answer, whole and compact: the same jobs, each input to the letter; and what becomes of one that nobody hears. */
import { expect, it } from 'vitest'
import type { ClaimRequest, Engine, Word } from '../../src/engine/engine.ts'
import { eventually } from '../support/eventually.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const INPUTS = ['{"n":9007199254740993,"z":-0}', '[ 1e400 , "\\u00e9\\ud800" ]', '"x"', undefined]

it('has each policy once and inputs as text where it is compact, and is otherwise the same', async () => {
  await using fixture = await openGatewayFixture()
  const claimed = async (queue: string, compact: boolean) => {
    for (const [i, input] of INPUTS.entries()) {
      const policy = `{"lease":"${i % 2 === 0 ? 30 : 60}s"}`
      const body = `{"type":"x","queue":"${queue}","policy":${policy}${input === undefined ? '' : `,"input":${input}`}}`
      expect((await fixture.ask('producer', 'POST', '/v1/jobs', body)).status).toBe(201)
    }
    const wanted = { workerId: 'w', queues: [queue], limit: 10, compact }
    return await fixture.ask('worker', 'POST', '/v1/claims', wanted)
  }
  const whole = await claimed('whole', false)
  for (const input of INPUTS) expect(whole.text).toContain(input ?? '"fence"')
  const compact = await claimed('compact', true)
  const told = compact.body as {
    readonly jobs: readonly { readonly job: object; readonly policy: number; readonly input?: string }[]
    readonly policies: readonly { readonly leaseMs: number }[]
  }
  expect(told.jobs.map(({ input }) => input)).toEqual(INPUTS)
  expect(told.policies.map(({ leaseMs }) => leaseMs)).toEqual([30_000, 60_000])
  expect(told.jobs.map(({ policy }) => policy)).toEqual([0, 1, 0, 1])
  const records = (whole.body['jobs'] as readonly { readonly job: object }[]).map(({ job }) => job)
  const rejoined = told.jobs.map(({ job, policy }) => ({ ...job, policy: told.policies[policy] }))
  expect(rejoined.map(withoutOccasion)).toEqual(records.map(withoutOccasion))
})

/** But for what differs from job to job. */
function withoutOccasion(record: object): object {
  const shape = (value: unknown, key: string): unknown => {
    if (key === 'policy' || typeof value !== 'object' || value === null) return key === 'policy' ? value : typeof value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shape(inner, name)]))
  }
  return shape(record, '') as object
}

it('hands back what its caller did not live to hear of, but for jobs whose document knows no release', async () => {
  const cut = new AbortController()
  const said: Word[] = []
  await using fixture = await openGatewayFixture({}, (engine) => leftAlone(engine, cut, said))
  const bound = ['001', '002', '004'] as const
  const enqueue = async (type: string, policy: object) =>
    String((await fixture.ask('producer', 'POST', '/v1/jobs', { type, queue: 'gone', policy })).body['id'])
  const free = await enqueue('free', {})
  const kept = await Promise.all(bound.map((dialect) => enqueue(dialect, { dialect })))
  await fixture.pawl.admit(kept[1] as string)
  said.length = 0
  const asked = { workerId: 'w', queues: ['gone'], serves: ['free', ...bound], limit: 10 }
  const headers = { authorization: `Bearer ${fixture.secrets['acme']?.worker}`, 'content-type': 'application/json' }
  const body = JSON.stringify(asked)
  const answer = fetch(`${fixture.gateway.url}/v1/claims`, { method: 'POST', headers, body, signal: cut.signal })
  await expect(answer).rejects.toThrow()
  const stateOf = async (id: string) => (await fixture.pawl.get(id))?.state
  await eventually('the free one is', async () => (await stateOf(free)) === 'queued')
  expect(said.map(({ id, command }) => [id, command.type])).toEqual([[free, 'release']])
  expect(await Promise.all(kept.map(stateOf))).toEqual(['claimed', 'claimed', 'claimed'])
})

/** An engine whose claims are answered when their caller has just gone; it notes what it is told afterwards. */
function leftAlone(engine: Engine, cut: AbortController, said: Word[]): Engine {
  const claimed = async (request: ClaimRequest) => {
    const jobs = await engine.claim(request)
    cut.abort()
    await eventually('it is known that the caller has gone', () => request.signal?.aborted === true)
    return jobs
  }
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...words: unknown[]) => {
        if (name === 'settle') said.push(...(words[0] as readonly Word[]))
        return name === 'claim' ? claimed(words[0] as ClaimRequest) : value.apply(target, words)
      }
    },
  })
}
