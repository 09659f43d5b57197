/** Whatever users supply is text: in every field, on every screen, and nothing of it runs. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumMissing } from '../support/debian.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type DashboardFixture, errand, openDashboardFixture } from './dashboard-fixture.ts'
import { dealt, nameOf, ROUNDS, sown } from './hostile-fields.ts'
import { VECTORS } from './vectors.ts'

const withoutSpace = (text: string): string => text.replaceAll(/\s+/g, '')

/** Elements that are none of ours: some of what was supplied has become one, whether or not anything of it has run. */
const MARKUP = `[...document.body.querySelectorAll('*')]
  .filter((each) =>
    each.matches('script, img, image, iframe, object, embed, math, style, link, meta, base, video, audio, marquee, animate, details[ontoggle], x, form[action], [formaction], [contenteditable]') ||
    [...each.attributes].some(({ name, value }) => name.startsWith('on') || /^(java|vb)script:|^data:/i.test(value) && name !== 'value' && name !== 'title'))
  .map((each) => each.outerHTML.slice(0, 200))`

/** To another place of a page that is there, as a link of it leads. */
const go = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)

/** Of the page and of what its fields hold; text of elements that somebody's markup became would not be it to the letter. */
const textOf = async (page: Page): Promise<string> =>
  withoutSpace(
    String(
      await page.evaluate(
        `[document.body.textContent, ...[...document.querySelectorAll('input, textarea')].map((each) => each.value)].join(' ')`,
      ),
    ),
  )

/** A deal, field by field where it is shown; and what the palette finds of it. */
async function readToTheLetter(fixture: DashboardFixture, round: number): Promise<void> {
  const places = await sown(fixture, round)
  const entered = { admin: await fixture.enter('admin'), auditor: await fixture.enter('auditor') }
  for (const { path, texts, as } of places) {
    const { page } = entered[as ?? 'admin']
    await go(page, path)
    const missing = async () => {
      const shown = await textOf(page)
      return texts.filter((text) => !shown.includes(withoutSpace(text)))
    }
    await eventually(`all of it is to be read at ${path}`, async () => {
      expect(await missing()).toEqual([])
      return true
    })
    expect(await page.evaluate(MARKUP), path).toEqual([])
    expect(await page.evaluate('globalThis.hit'), path).toBeUndefined()
  }
  const { page } = entered.admin
  const { type, queue, worker } = dealt(round)
  for (const name of [type, queue, worker].map((text) => nameOf(round, text))) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find a job, go, do' }).fill(name)
    await page
      .getByRole('option')
      .filter({ has: page.getByText(name, { exact: true }) })
      .click()
    await eventually(`the palette leads to ${name}`, async () => (await textOf(page)).includes(withoutSpace(name)))
  }
  for (const { complaints, context } of Object.values(entered)) {
    expect(complaints).toEqual([])
    await context.close()
  }
}

/** Of names that look like escaped ones: a queue, a key and a schedule each have their page, and their jobs are found. */
async function pagesOfNames(page: Page, { pawl, gateway }: DashboardFixture): Promise<void> {
  for (const name of ['50% off', '%3Cb%3E', 'a%252Fb/c?d#e=f&g+h']) {
    const { id } = await pawl.enqueue(errand, { what: 'quick', note: name }, { queue: name, labels: { name } })
    await pawl.limits.set(name, { concurrency: 1 })
    await pawl.schedule(name, { every: '1d' }, errand, { what: 'quick' })
    for (const place of ['queues', 'limits', 'schedules']) {
      const path = `/${place}/${encodeURIComponent(name)}`
      if (place === 'queues') await page.goto(gateway.url + path)
      else await go(page, path)
      await page.getByRole('link', { name: 'Close' }).waitFor()
      await eventually(`${place} shows ${name}`, async () => (await page.locator('main').textContent())?.includes(name))
    }
    await go(page, `/jobs?q=${encodeURIComponent(`queue:${JSON.stringify(name)}`)}`)
    await page.locator(`[data-job="${id}"]`).waitFor()
  }
}

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
      for (const tab of ['input', 'errors', 'raw']) {
        await go(page, `/jobs/${id}?tab=${tab}`)
        await page.getByRole('tab', { name: tab, selected: true }).waitFor()
        await page.getByText(id).first().waitFor()
      }
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

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'are text in what workers, people and the clock have written, each of it where it is shown, deal %i',
    { timeout: scaled(60_000, 120_000) },
    (round) => readToTheLetter(fixture, round),
  )

  it('lead to what they name, also where they look like an address that was escaped', async () => {
    const { page, complaints } = await fixture.enter('operator')
    await pagesOfNames(page, fixture)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('are dealt so that each is in some field', () => {
    const all = Array.from({ length: ROUNDS }, (_, round) => Object.values(dealt(round))).flat()
    expect(new Set(all)).toEqual(new Set(VECTORS))
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
