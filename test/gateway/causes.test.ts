/** Dead letters by what they have in common. */
import { expect, it } from 'vitest'
import { house } from './house.ts'

it('groups what was put aside, the most frequent cause first, with samples', async () => {
  await using home = await house()
  for (let n = 0; n < 9; n += 1) {
    await home.ask('producer', 'POST', '/v1/jobs', { type: n < 7 ? 'a' : 'b', id: `j${n}` })
    const message = n < 7 ? `the service said ${500 + n}` : 'the input is not one'
    const reason = n < 7 ? 'dependency_unavailable' : 'validation_failed'
    await home.ask('operator', 'POST', `/v1/jobs/j${n}/deadletter`, { reason, message })
  }
  const { body } = await home.ask('viewer', 'GET', '/v1/dead-letters:causes')
  expect(body).toMatchObject({
    read: 9,
    causes: [
      { count: 7, message: 'the service said #', reason: 'dependency_unavailable', types: ['a'] },
      { count: 2, message: 'the input is not one', reason: 'validation_failed', types: ['b'] },
    ],
  })
  const [first] = body['causes'] as { ids: string[]; samples: { message: string }[]; fingerprint: string }[]
  expect(first?.ids).toHaveLength(7)
  expect(first?.samples).toHaveLength(5)
  expect(first?.samples[0]?.message).toBe('the service said 506')
  const page = await home.ask('viewer', 'GET', '/v1/dead-letters:causes?limit=3')
  expect(page.body['read']).toBe(3)
  const rest = await home.ask(
    'viewer',
    'GET',
    `/v1/dead-letters:causes?limit=9&cursor=${encodeURIComponent(String(page.body['cursor']))}`,
  )
  expect(rest.body['read']).toBe(6)
  expect((await home.ask(home.secrets['rival']?.viewer, 'GET', '/v1/dead-letters:causes')).body).toEqual({
    causes: [],
    read: 0,
  })
})
