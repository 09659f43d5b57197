/** Schedules over HTTP: made, looked at, stopped and run; by whom; and through the library at the other end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let home: GatewayFixture
beforeAll(async () => {
  home = await openGatewayFixture({ caps: { schedulesPerTenant: 3 } })
})
afterAll(async () => home[Symbol.asyncDispose]())

const DAILY = {
  cron: '30 2 * * *',
  timeZone: 'Europe/Berlin',
  type: 'report',
  input: { big: 12345678901234567890n.toString() },
}

describe('schedules over HTTP', () => {
  it('are made, shown, listed, paused, run and removed', async () => {
    const made = await home.ask('producer', 'PUT', '/v1/schedules/nightly', DAILY)
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({
      name: 'nightly',
      cron: '30 2 * * *',
      catchUp: 'skip',
      cap: 100,
      source: 'hand',
      missed: 0,
    })
    expect((await home.ask('operator', 'GET', '/v1/schedules/nightly')).body).toEqual(made.body)
    const { input: _, ...rest } = made.body
    expect((await home.ask('viewer', 'GET', '/v1/schedules/nightly')).body).toEqual({ ...rest, masked: true })
    expect((await home.ask('viewer', 'GET', '/v1/schedules')).body['schedules']).toMatchObject([{ name: 'nightly' }])
    const next = await home.ask('viewer', 'GET', '/v1/schedules/nightly/next?count=2')
    expect((next.body['next'] as readonly string[]).map((time) => time.slice(11))).toHaveLength(2)
    expect((await home.ask('operator', 'POST', '/v1/schedules/nightly/pause', {})).body).toMatchObject({ paused: true })
    expect((await home.ask('operator', 'POST', '/v1/schedules/nightly/resume', {})).body).toMatchObject({
      paused: false,
    })
    const early = await home.ask('producer', 'POST', '/v1/schedules/nightly/run', {})
    expect(early.status).toBe(404)
    expect(JSON.stringify(early.body)).toContain('Nobody has announced type report')
    await home.ask('worker', 'PUT', '/v1/types/report', { queue: 'reports' })
    await home.ask('producer', 'PUT', '/v1/schedules/later', { every: '6h', type: 'report', queue: 'elsewhere' })
    const ran = await home.ask('producer', 'POST', '/v1/schedules/later/run', {})
    expect(ran.status).toBe(201)
    expect(ran.body['job']).toMatchObject({ queue: 'elsewhere', labels: { schedule: 'later' } })
    expect((await home.ask('operator', 'DELETE', '/v1/schedules/later')).status).toBe(200)
    expect((await home.ask('operator', 'DELETE', '/v1/schedules/later')).status).toBe(404)
  })

  it('are refused with what is wrong about them, and beyond their cap', async () => {
    const bad = await home.ask('producer', 'PUT', '/v1/schedules/bad', { cron: '61 * * * *', type: 'x' })
    expect(bad.status).toBe(400)
    expect(JSON.stringify(bad.body)).toContain('body.cron')
    for (const name of ['a', 'b'])
      await home.ask('producer', 'PUT', `/v1/schedules/${name}`, { every: '1h', type: 'x' })
    const beyond = await home.ask('producer', 'PUT', '/v1/schedules/c', { every: '1h', type: 'x' })
    expect(beyond.body).toMatchObject({ cap: 'schedulesPerTenant' })
    for (const name of ['a', 'b']) await home.ask('admin', 'DELETE', `/v1/schedules/${name}`)
  })

  it('have inputs that can be read every second, and pages that say when there are more', async () => {
    const asked = { every: '1h', type: 'x' }
    const large = await home.ask('producer', 'PUT', '/v1/schedules/large', { ...asked, input: 'x'.repeat(16_383) })
    expect(large.status).toBe(400)
    expect(JSON.stringify(large.body)).toContain('scheduleInput')
    const most = await home.ask('producer', 'PUT', '/v1/schedules/large', { ...asked, input: 'x'.repeat(16_382) })
    expect(most.status).toBe(200)
    await home.ask('admin', 'DELETE', '/v1/schedules/large')
    await using many = await openGatewayFixture()
    await many.ask('producer', 'PUT', '/v1/schedules/first', asked)
    const key = (name: string) => JSON.stringify(['acme', name])
    const [one] = await many.pawl.engine.settings([{ op: 'get', collection: 'schedule', key: key('first') }])
    const text = one?.settings[0]?.text ?? ''
    const put = (n: number) => ({ op: 'put', collection: 'schedule', key: key(`s${1_000 + n}`), text, rev: 0 }) as const
    await many.pawl.engine.settings(Array.from({ length: 500 }, (_, n) => put(n)))
    const page = await many.ask('admin', 'GET', '/v1/schedules?limit=500')
    expect(page.body['schedules']).toHaveLength(500)
    expect(page.body['cursor']).toBeDefined()
  })

  it('are for those who may enqueue, and stopped by operators; nobody sees another tenant’s', async () => {
    expect((await home.ask('operator', 'PUT', '/v1/schedules/x', DAILY)).status).toBe(403)
    expect((await home.ask('viewer', 'POST', '/v1/schedules/nightly/pause', {})).status).toBe(403)
    const other = Object.keys(home.secrets).find((tenant) => tenant !== 'acme') ?? ''
    expect((await home.ask(home.secrets[other]?.admin, 'GET', '/v1/schedules/nightly')).status).toBe(404)
  })

  it('of a token that is bound to queues are those of its queues', async () => {
    const words = { name: 'bound', scope: 'producer', tenant: 'acme', queues: ['mine'] } as const
    const { secret: bound } = await home.gateway.tokens.create(words)
    expect((await home.ask(bound, 'PUT', '/v1/schedules/theirs', { every: '1h', type: 'x' })).status).toBe(403)
    expect(
      (await home.ask(bound, 'PUT', '/v1/schedules/theirs', { every: '1h', type: 'x', queue: 'mine' })).status,
    ).toBe(200)
    expect((await home.ask(bound, 'GET', '/v1/schedules')).body['schedules']).toMatchObject([{ name: 'theirs' }])
    expect((await home.ask(bound, 'GET', '/v1/schedules/nightly')).status).toBe(403)
    expect(
      (await home.ask(bound, 'PUT', '/v1/schedules/nightly', { every: '1h', type: 'x', queue: 'mine' })).status,
    ).toBe(403)
    await home.ask('admin', 'DELETE', '/v1/schedules/theirs')
  })

  it('are the same through the library', async () => {
    const job = defineJob({ type: 'remote.report', queue: 'reports', async run(_: { n: number }) {} })
    await using pawl = await open(home.gateway.url, { token: home.secrets['acme']?.admin })
    const made = await pawl.schedule('remote', { cron: '0 4 * * *' }, job, { n: 1 })
    expect(await pawl.schedules.get('remote')).toMatchObject({
      timing: made.timing,
      type: 'remote.report',
      input: '{"n":1}',
    })
    expect((await pawl.schedules.list()).map(({ name }) => name)).toContain('remote')
    expect((await pawl.schedules.pause('remote')).paused).toBe(true)
    expect((await pawl.schedules.get('remote'))?.paused).toBe(true)
    expect((await pawl.schedules.resume('remote')).paused).toBe(false)
    const id = await pawl.schedules.run('remote')
    expect((await pawl.get(id))?.spec.labels).toEqual({ schedule: 'remote' })
    await pawl.schedules.remove('remote')
    expect(await pawl.schedules.get('remote')).toBeUndefined()
  })
})
