/** Dead letters by what they have in common. */
import { expect, it } from 'vitest'
import { openGatewayFixture } from './gateway-fixture.ts'

it('groups what was put aside, the most frequent cause first, with samples', async () => {
  await using fixture = await openGatewayFixture()
  for (let n = 0; n < 9; n += 1) {
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: n < 7 ? 'a' : 'b', id: `j${n}` })
    const message = n < 7 ? `the service said ${500 + n}` : 'the input is not one'
    const reason = n < 7 ? 'dependency_unavailable' : 'validation_failed'
    await fixture.ask('operator', 'POST', `/v1/jobs/j${n}/deadletter`, { reason, message })
  }
  const { body } = await fixture.ask('viewer', 'GET', '/v1/dead-letters:causes')
  expect(body).toMatchObject({
    read: 9,
    causes: [
      { count: 7, message: 'the service said <n>', reason: 'dependency_unavailable', types: ['a'] },
      { count: 2, message: 'the input is not one', reason: 'validation_failed', types: ['b'] },
    ],
  })
  const [first] = body['causes'] as {
    ids: string[]
    hours: number[]
    samples: { message: string }[]
    fingerprint: string
  }[]
  expect(first?.ids).toHaveLength(7)
  expect(first?.hours).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7])
  expect(first?.samples).toHaveLength(5)
  expect(first?.samples[0]?.message).toBe('the service said 506')
  const page = await fixture.ask('viewer', 'GET', '/v1/dead-letters:causes?limit=3')
  expect(page.body['read']).toBe(3)
  const rest = await fixture.ask(
    'viewer',
    'GET',
    `/v1/dead-letters:causes?limit=9&cursor=${encodeURIComponent(String(page.body['cursor']))}`,
  )
  expect(rest.body['read']).toBe(6)
  expect((await fixture.ask(fixture.secrets['rival']?.viewer, 'GET', '/v1/dead-letters:causes')).body).toEqual({
    causes: [],
    read: 0,
  })
})
