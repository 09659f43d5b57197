/** Whatever users supply is text: in every field, on every screen, and nothing of it runs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, openDashboardFixture } from './dashboard-fixture.ts'
import { VECTORS } from './vectors.ts'

/** A policy asks about some of them, in their words. */
const RULES = VECTORS.map((reason, n) => ({
  id: `r${n}`,
  when: `has(job.labels.l${n})`,
  decision: 'require_approval',
  reason,
}))

describe.skipIf(chromiumMissing() !== undefined)('hostile names and bodies', () => {
  let fixture: DashboardFixture
  const ids: string[] = []

  beforeAll(async () => {
    fixture = await openDashboardFixture('sqlite', RULES)
    const { secret } = await fixture.gateway.tokens.create({
      name: 'p',
      scope: 'admin',
      tenant: 'default',
      queues: undefined,
    })
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    for (const [n, vector] of VECTORS.entries()) {
      const name =
        vector
          .replaceAll(/[\u0000-\u001f\u007f,]/g, ' ')
          .slice(0, 120)
          .trim() || `vector ${n}`
      const body = JSON.stringify({
        // The one name that is refused everywhere.
        type: name === '__proto__' ? 'constructor' : name,
        queue: `${n} ${name}`.slice(0, 120),
        input: { [vector]: vector, list: [vector] },
        labels: { [`l${n}`]: `${n} ${name}` },
        dedupeKey: `${n} ${name}`,
        correlationId: `${n} ${name}`,
        workflowId: `${n} ${name}`,
        ...(n % 10 === 5 || n % 10 === 7 ? { policy: { admission: true } } : {}),
      })
      // A busy store is asked again, as any producer does.
      const job = await eventually(`a job of type ${name}`, async () => {
        const response = await fetch(`${fixture.gateway.url}/v1/jobs`, { method: 'POST', headers, body })
        const answer = (await response.json()) as { readonly id: string }
        if (response.status !== 201 && response.status !== 200) throw new Error(JSON.stringify(answer))
        return answer
      })
      ids.push(job.id)
      const key = `${fixture.gateway.url}/v1/limits/${encodeURIComponent(`${n} ${name}`)}`
      await fetch(key, { method: 'PUT', headers, body: '{ "concurrency": 1 }' })
      if (n % 10 === 0) {
        const words = { action: 'redrive', query: `label.l${n}:${JSON.stringify(name)}`, reason: vector }
        await fetch(`${fixture.gateway.url}/v1/operations`, { method: 'POST', headers, body: JSON.stringify(words) })
      }
      const letter = JSON.stringify({ reason: 'policy_violation', message: vector })
      if (n % 2 === 0)
        await fetch(`${fixture.gateway.url}/v1/jobs/${job.id}/deadletter`, { method: 'POST', headers, body: letter })
      if (n % 10 === 7) {
        const denial = JSON.stringify({ rule: 'by-hand', reason: vector })
        await fetch(`${fixture.gateway.url}/v1/jobs/${job.id}/deny`, { method: 'POST', headers, body: denial })
      }
    }
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('run nowhere, and break no rule of the page', { timeout: scaled(120_000, 900_000) }, async () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(60)
    const { page, complaints } = await fixture.enter('admin')
    for (const path of [
      '/',
      '/jobs',
      '/dead-letters',
      '/approvals',
      '/approvals/decisions',
      '/queues',
      '/limits',
      '/operations',
      `/limits/${encodeURIComponent(`3 ${VECTORS[3]}`)}`,
      '/schedules',
      '/workers',
      '/tail',
      '/machine',
      '/tokens',
    ]) {
      await page.goto(fixture.gateway.url + path)
      await page.getByRole('main').waitFor()
      await page.waitForLoadState('networkidle').catch(() => {})
    }
    // All of them stand in the lists above; one by one, a share in the gate.
    for (const id of ids.filter((_, n) => n % scaled(12, 1) === 0)) {
      for (const tab of ['input', 'errors', 'raw']) await page.goto(`${fixture.gateway.url}/jobs/${id}?tab=${tab}`)
      await page.getByText(id).first().waitFor()
    }
    for (const id of ids.filter((_, n) => n % 10 === 5)) {
      await page.goto(`${fixture.gateway.url}/approvals?job=${id}`)
      await page.getByText(/^Rule r\d+ asks a person/).waitFor()
    }
    for (const vector of VECTORS.filter((_, n) => n % scaled(20, 2) === 0)) {
      await page.goto(`${fixture.gateway.url}/approvals/decisions?q=${encodeURIComponent(vector)}`)
      await page.goto(`${fixture.gateway.url}/jobs?q=${encodeURIComponent(vector)}`)
      await page.goto(`${fixture.gateway.url}/tail?q=${encodeURIComponent(vector)}`)
    }
    expect(complaints).toEqual([])
    expect(await page.evaluate('globalThis.hit')).toBeUndefined()
  })

  it('are kept out by the policy besides: nothing inline, nothing from elsewhere', async () => {
    const response = await fetch(`${fixture.gateway.url}/jobs`, { headers: { accept: 'text/html' } })
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/unsafe|data:|\*/)
    const page = await response.text()
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/)
    expect(page).not.toMatch(/\son\w+=|style=|https?:\/\//)
  })
})
