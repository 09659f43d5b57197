import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { idNumber } from '../../../src/core/id.ts'
import { brokenUp, mayBreakUp } from '../../../src/store/postgres/batch/broken-up.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import { cancelled, clockOf, completed, grant, newJob, owned } from '../sqlite/life.ts'

const failing = (code: string) => Object.assign(new Error(code), { code })

describe('a batch that failed', () => {
  const rejected = (rule: string) => `rejected ${rule}`
  const alone =
    (...errors: readonly unknown[]) =>
    async (n: number) => {
      const error = errors[n]
      if (error !== undefined) throw error
      return 'done'
    }

  it('is broken up unless the trouble is the server’s, or nobody knows whose', () => {
    const itsOwn = ['21000', '22P02', '23514', '54000', '55P03', '42P01', 'XX001', 'P0001']
    for (const code of itsOwn) expect([code, mayBreakUp(failing(code))]).toEqual([code, true])
    const servers = [
      '08006',
      '25006',
      '28P01',
      '3D000',
      '40001',
      '53100',
      '57P01',
      '58030',
      'UNAVAILABLE',
      'ECONNRESET',
    ]
    for (const code of servers) expect([code, mayBreakUp(failing(code))]).toEqual([code, false])
    expect(mayBreakUp(new RangeError('Invalid string length'))).toBe(true)
    expect(mayBreakUp(new Error('pawl: the store is closed'))).toBe(false)
  })

  it('rejects those that fail by themselves, and no other', async () => {
    const answers = await brokenUp([0, 1, 2], alone(undefined, failing('21000'), undefined), rejected)
    expect(answers).toEqual(['done', 'rejected 21000', 'done'])
    expect(await brokenUp([0, 1], alone(undefined, failing('XX001')), rejected)).toEqual(['done', 'rejected XX001'])
    expect(await brokenUp([0], alone(failing('22021')), rejected)).toEqual(['rejected 22021'])
    expect(await brokenUp([0], alone(new RangeError('too long')), rejected)).toEqual(['rejected too long'])
  })

  it('is thrown where all of them meet what is nobody’s own, or the server goes away meanwhile', async () => {
    await expect(brokenUp([0, 1], alone(failing('42883'), failing('42883')), rejected)).rejects.toThrow('42883')
    await expect(brokenUp([0], alone(failing('42883')), rejected)).rejects.toThrow('42883')
    await expect(brokenUp([0, 1], alone(undefined, failing('57P01')), rejected)).rejects.toThrow('57P01')
  })
})

describe('one bad item', () => {
  async function openFixture() {
    const database = await migratedDatabase()
    const store = await openPostgresStore({ url: database.url, migrate: true })
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const now = await clockOf(store)
    await store.insert([1, 2, 3, 4].map((number) => newJob(number, now)))
    const asked = grant(4)
    const jobs = owned(await store.claim(asked), asked)
    return {
      store,
      client,
      jobs,
      now,
      fence: jobs[0]?.lease?.fence ?? '',
      [Symbol.asyncDispose]: async () => {
        await client.end()
        await store.close()
        await database.drop()
      },
    }
  }

  it('that somebody’s transaction holds is met, and its neighbours are committed', async () => {
    await using on = await openFixture()
    const { store, client, jobs, now } = on
    await client.query('begin')
    await client.query('select from pawl.lease where id = 2 for update')
    const ends = jobs.map((job) => (job.id === 'pj_3' ? cancelled(job, now) : completed(job, now)))
    const { verdicts } = await store.commit(ends)
    expect(verdicts.map(({ status }) => status)).toEqual(['applied', 'conflict', 'applied', 'applied'])
    await client.query('rollback')
    expect((await store.commit(ends.slice(1, 2))).verdicts).toEqual([{ status: 'applied' }])
  })

  it('that the database cannot keep is rejected, and its neighbours are committed', async () => {
    await using on = await openFixture()
    const { store, client, jobs, now } = on
    await client.query('alter table pawl.past add constraint not_this_one check (job <> 2)')
    const ends = jobs.map((job) => (job.id === 'pj_3' ? cancelled(job, now) : completed(job, now)))
    const { verdicts } = await store.commit(ends)
    expect(verdicts.map(({ status }) => status)).toEqual(['applied', 'rejected', 'applied', 'applied'])
    expect(verdicts[1]).toMatchObject({ rule: expect.stringContaining('not_this_one') })
  })

  it('costs nobody else its lease', async () => {
    await using on = await openFixture()
    const { store, client, jobs, fence } = on
    await client.query('update pawl.lease set beat = $1 where id = 2', ['{"n": "not a number", "p": []}'])
    const beats = jobs.map(({ id }) => ({ id, fence, requestId: 'beat' }))
    const { items } = await store.heartbeat(beats)
    expect(items.map(({ status }) => status)).toEqual(['renewed', 'busy', 'renewed', 'renewed'])
    expect(jobs.map(({ id }) => idNumber(id))).toEqual([1, 2, 3, 4])
  })
})
