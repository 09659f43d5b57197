import pg from 'pg'
import { expect, it } from 'vitest'
import { RETRY_FOR } from '../../src/cli/commands/serve.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { startProxy } from '../support/proxy.ts'
import { byTheClock } from '../support/scale.ts'

/** Everything that has to be known soon: whether it was taken on, whether there is work, whether the lease holds. */
const REQUESTS = [
  ['POST', '/v1/jobs', { type: 'mail' }],
  ['POST', '/v1/claims', { workerId: 'w', queues: ['default'], limit: 1 }],
  ['POST', '/v1/jobs/pj_1/heartbeat', { fence: '0.1.00000000000000ff' }],
  ['GET', '/v1/jobs', undefined],
] as const

it('a database that is away, or takes no writes, is told soon, and when to come again; and it goes on by itself', async () => {
  await using database = await migratedDatabase()
  await using proxy = await startProxy(database.url)
  await using pawl = await open(proxy.url, { migrate: true, retryFor: RETRY_FOR })
  await using gateway = await startGateway({ engine: pawl.engine, port: 0, auth: false })
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  const readOnly = (on: boolean) =>
    admin.query(`alter database ${admin.database} set default_transaction_read_only = ${on ? 'on' : 'off'}`)
  const ask = async ([method, path, body]: (typeof REQUESTS)[number]) => {
    const beganMs = performance.now()
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(gateway.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...text,
    })
    await response.text()
    return {
      path,
      status: response.status,
      after: response.headers.get('retry-after'),
      ms: performance.now() - beganMs,
    }
  }
  const refused = async () => {
    for (const answer of await Promise.all(REQUESTS.map(ask))) {
      expect(answer).toMatchObject({ status: 503, after: '1' })
      if (byTheClock) expect(answer.ms, answer.path).toBeLessThan(2_000)
    }
  }
  const served = () =>
    eventually('it to serve', async () => (await Promise.all(REQUESTS.map(ask))).every(({ status }) => status < 500))
  try {
    await served()
    proxy.fresh('refuse')
    proxy.reset()
    await refused()
    proxy.fresh('pass')
    await served()
    await readOnly(true)
    proxy.reset()
    await refused()
    await readOnly(false)
    await served()
  } finally {
    await admin.end()
  }
})

it('a store that never answers keeps no gateway from ending', async () => {
  await using pawl = await open('memory:', { log: 'silent' })
  const asked = Promise.withResolvers<void>()
  const engine = Object.assign(Object.create(pawl.engine) as Engine, {
    subscribe: (wake: Parameters<Engine['subscribe']>[0]) => pawl.engine.subscribe(wake),
    settings: (operations: Parameters<Engine['settings']>[0]) => pawl.engine.settings(operations),
    now: () => pawl.engine.now(),
    claim: () => {
      asked.resolve()
      return new Promise<never>(() => {})
    },
  })
  const gateway = await startGateway({ engine, port: 0, auth: false })
  const body = JSON.stringify({ workerId: 'w', queues: ['default'], limit: 1, waitMs: 30_000 })
  const headers = { 'content-type': 'application/json' }
  const claim = fetch(`${gateway.url}/v1/claims`, { method: 'POST', headers, body }).catch((error: unknown) => error)
  await asked.promise
  await gateway[Symbol.asyncDispose]()
  expect(await claim).toBeInstanceOf(Error)
})
