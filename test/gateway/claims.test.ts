/** A claim's answer, whole and compact: the same jobs, each input to the letter. */
import { expect, it } from 'vitest'
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
