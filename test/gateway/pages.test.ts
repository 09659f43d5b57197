/** What a person meets who opens the gateway in a browser, or follows the `type` of a problem. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REFUSALS } from '../../src/core/refusal.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { OBJECTIONS } from '../../src/gateway/problem.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(async () => fixture[Symbol.asyncDispose]())

const page = async (path: string, accept: string) => {
  const answer = await fetch(new URL(path, fixture.gateway.url), { headers: { accept } })
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

describe('the first page', () => {
  it.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['*/*', 'text/plain; charset=utf-8'],
  ])('names everything there is to whoever accepts %s', async (accept, type) => {
    const told = await page('/', accept)
    expect([told.status, told.type]).toEqual([200, type])
    for (const { path } of ROUTES) expect(told.text).toContain(path)
    expect(told.text).toContain('Authorization: Bearer')
  })

  it('needs nothing that its own headers forbid', async () => {
    const { text } = await page('/', 'text/html')
    expect(text).not.toMatch(/<script|<style|style=|<link|<img/)
  })
})

describe('the type of a problem', () => {
  it.each([...Object.keys(REFUSALS), ...Object.keys(OBJECTIONS)])('%s: is a place on a page', async (code) => {
    const { status, text } = await page('/docs/errors', 'text/html')
    expect(status).toBe(200)
    expect(text).toContain(`id="${code.toLowerCase()}"`)
  })

  it('is what a problem says, and what to do is on it', async () => {
    const { body } = await fixture.ask(undefined, 'GET', '/v1/jobs')
    const type = new URL(String(body['type']), fixture.gateway.url)
    const { text } = await page(type.pathname, 'text/html')
    expect(text).toContain(`id="${type.hash.slice(1)}"`)
    expect(text).toContain(String(body['next']).replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
  })
})

describe('what to do about a request that cannot be read', () => {
  const next = async (body: unknown, headers: Record<string, string> = {}) =>
    String((await fixture.ask('producer', 'POST', '/v1/jobs', body, headers)).body['next'])

  it('is to correct what is named, where it is named', async () => {
    expect(await next({ type: 'x', quue: 'q' })).toMatch(/^Correct the fields that `violations` names/)
    expect(await next('{{{')).toMatch(/^Send what \/openapi\.json describes/)
    expect(await next({ type: 'x' }, { 'idempotency-key': '' })).not.toMatch(/violations/)
  })
})
