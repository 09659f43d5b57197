/** What the dashboard weighs, and how it is told. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { beforeAll, describe, expect, it } from 'vitest'
import { dashboard } from '../../src/dashboard.ts'
import { open } from '../../src/open.ts'
import { built } from './dashboard-fixture.ts'

const FOLDER = 'dashboard/dist'
const MOST = 130_000
/** As the navigation has them; its module is for browsers. */
const PLACES = [...readFileSync('dashboard/src/frame/places.ts', 'utf8').matchAll(/path: '([^']+)'/g)].map(
  ([, path = '']) => path,
)

beforeAll(built)

describe('the first load', () => {
  it(`is below ${MOST} bytes, compressed`, () => {
    const page = readFileSync(join(FOLDER, 'index.html'), 'utf8')
    const files = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(files.length).toBeGreaterThan(1)
    const bytes = ['index.html', ...files].reduce(
      (sum, file) => sum + gzipSync(readFileSync(join(FOLDER, file))).length,
      0,
    )
    console.log(`dashboard: the first load is ${Math.round(bytes / 1_000)} kB, compressed`)
    expect(bytes).toBeLessThan(MOST)
  })
})

describe('dashboard(pawl)', () => {
  const html = { accept: 'text/html' }

  it('is mounted below a path, with the host’s own word on who asks', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { fetch } = dashboard(pawl, {
      basePath: '/admin/jobs',
      authorize: () => ({ name: 'ann', scope: 'operator' }),
    })
    const get = (path: string, headers: Record<string, string> = html) =>
      fetch(new Request(`http://app.example${path}`, { headers }))
    expect(PLACES).toContain('/machine')
    for (const place of ['', '/jobs/pj_1', '/new', ...PLACES]) {
      const response = await get(`/admin/jobs${place}`)
      expect([response.status, response.headers.get('content-type')], place).toEqual([200, 'text/html; charset=utf-8'])
    }
    const page = await (await get('/admin/jobs/queues')).text()
    expect(page).toContain('content="/admin/jobs"')
    const [, script = ''] = /src="([^"]+)"/.exec(page) ?? []
    expect(script).toMatch(/^\/admin\/jobs\/assets\//)
    const asset = await get(script, { 'accept-encoding': 'gzip' })
    expect([asset.status, asset.headers.get('content-encoding'), asset.headers.get('cache-control')]).toEqual([
      200,
      'gzip',
      'public, max-age=31536000, immutable',
    ])
    const session = await get('/admin/jobs/v1/session', { accept: 'application/json' })
    expect(await session.json()).toMatchObject({ name: 'ann', by: 'host', basePath: '/admin/jobs' })
  })

  it('is mounted by Hono’s route as it is, where that says', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const app = new Hono().route('/jobs', dashboard(pawl, { authorize: () => ({ name: 'ann', scope: 'operator' }) }))
    for (const place of ['/jobs', '/jobs/jobs/pj_1', '/jobs/queues']) {
      const response = await app.request(place, { headers: html })
      expect(await response.text(), place).toContain('name="pawl-base" content="/jobs"')
    }
    const session = await app.request('/jobs/v1/session')
    expect(await session.json()).toMatchObject({ by: 'host', basePath: '/jobs', dashboard: true })
  })

  it('leaves everything else to the gateway', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { fetch } = dashboard(pawl, { authorize: () => ({ name: 'ann', scope: 'operator' }) })
    const status = async (path: string, headers: Record<string, string>) =>
      (await fetch(new Request(`http://app.example${path}`, { headers }))).status
    expect(await status('/v1/jobs', html)).toBe(200)
    expect(await status('/nowhere', html)).toBe(404)
    expect(await status('/assets/none.js', {})).toBe(404)
    expect(await status('/assets/..%2f..%2fpackage.json', {})).toBe(404)
    expect(
      await (await fetch(new Request('http://app.example/', { headers: { accept: 'text/plain' } }))).text(),
    ).toContain('GET /v1/jobs')
  })
})
