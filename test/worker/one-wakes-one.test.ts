/** A job that comes alone wakes one worker, however many wait in however many processes, and however seldom they look. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LocalEngine } from '../../src/engine/local.ts'
import { type Connect, connectWithPg } from '../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres.ts'
import { realClock } from '../../src/system/clock.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { Crew } from '../../src/worker/crew.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import type { FreshDatabase } from '../support/postgres.ts'
import { definition } from './worker-fixture.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await migratedDatabase()
})
afterAll(() => database.drop())

/** How often anybody asked the server for jobs. */
let claims = 0
const counting: Connect = (config) => {
  const client = connectWithPg(config)
  return {
    ...client,
    query(question) {
      if (question.text.includes('.claim(')) claims += 1
      return client.query(question)
    },
  }
}

it('of ten that look every thirty seconds one asks, and goes on waiting', async () => {
  const { url } = database
  await using stack = new AsyncDisposableStack()
  // Their clocks stand still: nobody looks by itself.
  const clock = { monotonicMs: () => 1_000, now: () => 1_000 }
  const opened = async (migrate: boolean) => {
    const store = await openPostgresStore({ url, migrate, connect: counting, clock })
    return stack.use(new LocalEngine({ store, clock: realClock, random: realRandom, timers: realTimers }))
  }
  const producer = await opened(true)
  const ran: string[] = []
  const kind = definition((input: string) => void ran.push(input))
  // Each with a store, and hence connections, of its own, as so many processes would have.
  for (let n = 0; n < 10; n += 1) {
    stack.use(startWorker(await opened(false), [kind], { poll: '30s', crew: new Crew() }))
  }
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  stack.defer(() => admin.end())
  const parked = async () => (await admin.query('select from pawl.parked')).rowCount
  for (const name of ['first', 'second', 'third']) {
    await eventually('all to wait', async () => (await parked()) === 10)
    claims = 0
    const { tenant = 'default', queue, type, policy } = kind
    const wanted = { actor: 'test', kind: { tenant, queue, type, policy }, priority: 5, input: JSON.stringify(name) }
    expect((await producer.enqueue([wanted]))[0]?.ok).toBe(true)
    await eventually('it to have run', () => ran.includes(name))
    await eventually('its worker to wait again', async () => claims > 0 && (await parked()) === 10)
    // The one that got it waits again, which takes one question; nobody else has asked.
    expect(claims).toBe(1)
  }
  expect(ran).toEqual(['first', 'second', 'third'])
})
