/** What was done and not answered, and cannot be done again because there is no room: nobody is told that it was not done. */
import { expect } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { eventually } from '../../support/eventually.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { startProxy } from '../../support/proxy.ts'
import { startRedis } from '../../support/redis.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { boundedScripts } from './bounded-scripts.ts'
import { asked } from './faults.ts'
import { ledgerWith } from './ledger-with.ts'

const META = '{pawl:0}:meta'
const NO_ANSWER_MS = 300

itOnRedis('a job whose answer was lost, while too much waits for the ledger, is not said to be refused', async () => {
  await using server = await startRedis(['--appendonly', 'no'])
  await using way = await startProxy(server.url)
  await using database = await freshDatabase()
  const ledger = await openPostgresLedger({ url: database.url, migrate: true })
  const gate = Promise.withResolvers<void>()
  let isShut = false
  const held = ledgerWith(ledger, {
    append: async (append) => {
      if (isShut) await gate.promise
      return ledger.append(append)
    },
  })
  const store = await openRedisStore({ url: way.url, ledger: held, scripts: boundedScripts(1), answerWithinMs: 5_000 })
  const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
  await fixture.insertOne()
  await eventually('nothing waits for the ledger', async () => {
    const [logged, shipped] = (await asked(server, 'HMGET', META, 'logged', 'shipped')).split(',')
    return logged === shipped
  })
  const before = await asked(server, 'HGET', META, 'logged')

  isShut = true
  way.delay(NO_ANSWER_MS)
  const draft = fixture.draft({ input: '1' })
  const insert = store.insert([draft])
  const told = insert.then(
    ({ items }) => items.map(({ status }) => status),
    (error: unknown) => error,
  )
  await eventually('it is there', async () => (await asked(server, 'HGET', META, 'logged')) !== before)
  way.delay(0)
  const connections = way.accepted
  way.reset()
  await eventually('it is asked again', async () => way.accepted > connections && (await refusals(server)) > 0)
  gate.resolve()
  expect(await told).toEqual(['exists'])
  expect((await fixture.loaded(draft.job.id, ['input']))?.bodies).toEqual({ input: '1' })
  await store.close()
})

/** How many scripts the server has refused or failed. */
async function refusals(server: Parameters<typeof asked>[0]): Promise<number> {
  const stats = await asked(server, 'INFO', 'errorstats')
  return Number(/errorstat_BEHIND:count=(\d+)/.exec(stats)?.[1] ?? 0)
}
