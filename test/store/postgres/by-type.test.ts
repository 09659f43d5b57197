import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LONG_LOG } from '../../../src/core/compact.ts'
import type { Assignment, Word } from '../../../src/engine/engine.ts'
import { defineJob, open, type Pawl } from '../../../src/index.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'

let database: FreshDatabase
let pawl: Pawl

beforeAll(async () => {
  database = await migratedDatabase()
  pawl = await open(database.url, { migrate: true, ticker: false, retention: false })
})

afterAll(async () => {
  await pawl.close()
  await database.drop()
})

const job = defineJob({ type: 'told', queue: 'told', run: () => {} })

/** The start, so many words of progress and the success, all in one commit. */
function words({ job: { id }, fence }: Assignment, progressed: number): Word[] {
  const owner = { actor: 'worker:w', fence }
  const told = Array.from(
    { length: progressed },
    (_, i): Word => ({
      id,
      command: { ...owner, type: 'progress', requestId: `${fence}/progress/${i}`, counters: { pages: 1 } },
    }),
  )
  const start: Word = { id, command: { ...owner, type: 'start', requestId: `${fence}/start` } }
  return [
    ...(progressed > 0 ? [start] : []),
    ...told,
    { id, command: { ...owner, type: 'complete', requestId: `${fence}/complete` } },
  ]
}

describe('events that were told together with a success', () => {
  it('are found by their type, each of them, and a plain success is not in the way', async () => {
    await pawl.enqueueMany(
      job,
      Array.from({ length: 3 }, (_, i) => i),
    )
    const from = pawl.engine.now() - 60_000
    const lanes = [{ tenant: 'default', queue: 'told', priority: 5 }]
    const claimed = await pawl.engine.claim({ requestId: 'w/1', workerId: 'w', lanes, limit: 3 })
    expect(claimed.length).toBe(3)
    const [plain, one, four] = claimed as [Assignment, Assignment, Assignment]
    const answers = await pawl.engine.settle([...words(plain, 0), ...words(one, 1), ...words(four, 4)])
    expect(answers.every(({ ok }) => ok)).toBe(true)
    const to = pawl.engine.now() + 60_000
    const { events } = await pawl.engine.events({ by: 'type', types: ['progressed'], from, to, limit: 100 })
    const ids = events.map(({ jobId }) => jobId).sort()
    expect(ids).toEqual([one.job.id, ...Array.from({ length: 4 }, () => four.job.id)].sort())
    const ended = await pawl.engine.events({ by: 'type', types: ['succeeded'], from, to, limit: 100 })
    expect(ended.events.map(({ jobId }) => jobId).sort()).toEqual(claimed.map(({ job: { id } }) => id).sort())
  })
})

describe('what retention asks', () => {
  it('has an index of what ended with a long log, and calls logs long as core does', async () => {
    await using client = await connected()
    const { rows } = await client.query(`select indexdef from pg_indexes where indexname = 'past_long'`)
    expect(rows[0].indexdef).toContain(`rev >= ${LONG_LOG}`)
    const { rows: functions } = await client.query(`select prosrc from pg_proc where proname = 'long_ended'`)
    expect(functions[0].prosrc).toContain(`rev >= ${LONG_LOG}`)
  })

  it('walks no further than to about the last job that is old enough', async () => {
    await using client = await connected()
    await client.query('begin')
    await client.query('delete from pawl.job')
    const bornBefore = async (time: number) => {
      const { rows } = await client.query('select pawl.born_before($1) as id', [time])
      return rows[0].id === null ? null : Number(rows[0].id)
    }
    expect(await bornBefore(5)).toBe(null)
    // Numbers 7, 14, 21 … born at 10, 20, 30 …
    await client.query(
      `insert into pawl.job (id, created_at, kind, lane) select n * 7, n * 10, 1, 15 from generate_series(1, 1000) n`,
    )
    expect(await bornBefore(10)).toBeLessThan(7)
    for (const n of [1, 2, 3, 499, 500, 999]) expect(await bornBefore(n * 10 + 1)).toBe(n * 7)
    expect(await bornBefore(1_000_000)).toBe(7_000)
    await client.query('rollback')
  })

  it('finds all that ended before a time, and nothing else', async () => {
    const wanted = { states: ['succeeded'], order: 'oldest', limit: 10 } as const
    const page = async (endedBefore: number) =>
      (await pawl.engine.find({ ...wanted, endedBefore, roughlyBornBefore: endedBefore })).jobs.length
    expect(await page(pawl.engine.now() + 60_000)).toBe(3)
    expect(await page(pawl.engine.now() - 3_600_000)).toBe(0)
  })
})

async function connected(): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
