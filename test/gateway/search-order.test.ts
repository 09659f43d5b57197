/** Searches over HTTP in another order than that of ids, and what limits hold. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

describe('a list', () => {
  let fixture: GatewayFixture
  beforeAll(async () => {
    fixture = await openGatewayFixture()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const later = async () => {
    const before = fixture.pawl.engine.now()
    await vi.waitUntil(() => fixture.pawl.engine.now() > before, { interval: 1 })
  }

  const found = async (q: string) => {
    const { body } = await fixture.ask('operator', 'GET', `/v1/jobs?q=${encodeURIComponent(q)}`)
    return (body['jobs'] as { alias: string }[]).map(({ alias }) => alias).sort()
  }

  it('is in the order of changes, or of what is due, and says how many it has read for that', async () => {
    const ids = ['first', 'second', 'third', 'fourth', 'fifth']
    for (const [n, id] of ids.entries())
      await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'o', queue: 'order', id, delay: 60_000 * (5 - n) })
    for (const id of ['second', 'fourth', 'first']) {
      // Two changes of one millisecond have no order that a list could show.
      await later()
      await fixture.ask('operator', 'POST', `/v1/jobs/${id}/reschedule`, { delay: id === 'fourth' ? 1_000 : 600_000 })
    }
    const pages = async (more: string) => {
      const found: string[] = []
      const reads: unknown[] = []
      for (let cursor: unknown = ''; cursor !== undefined; ) {
        const at = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`
        const { body } = await fixture.ask('operator', 'GET', `/v1/jobs?q=queue:order&limit=2&${more}${at}`)
        found.push(...(body['jobs'] as { alias: string }[]).map(({ alias }) => alias))
        reads.push(body['read'])
        cursor = body['cursor']
      }
      return { found, reads }
    }
    const changed = ['first', 'fourth', 'second', 'fifth', 'third']
    expect(await pages('sort=changed')).toEqual({ found: changed, reads: [5, 0, 0] })
    expect((await pages('sort=changed&order=oldest')).found).toEqual(changed.toReversed())
    expect((await pages('sort=due')).found).toEqual(['fourth', 'fifth', 'third', 'second', 'first'])
    const { status, body } = await fixture.ask('operator', 'GET', '/v1/jobs?sort=due&cursor=pj_1')
    expect([status, body['code']]).toEqual([400, 'MALFORMED'])
  })

  it('finds what limits hold, among what could run', async () => {
    await fixture.ask('operator', 'PUT', '/v1/limits/narrow', { concurrency: 1 })
    for (const id of ['one', 'two', 'later'])
      await fixture.ask('producer', 'POST', '/v1/jobs', {
        type: 't',
        queue: 'limited',
        id,
        flow: { keys: ['narrow'] },
        ...(id === 'later' && { delay: 60_000 }),
      })
    await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['limited'], limit: 2 })
    expect(await found('queue:limited is:held')).toEqual(['two'])
    expect(await found('queue:limited -is:held')).toEqual(['later', 'one'])
    const { body } = await fixture.ask('operator', 'GET', '/v1/jobs?q=queue:limited%20is:held')
    // What runs is not looked at: nothing holds it.
    expect(body['read']).toBe(2)
  })
})
