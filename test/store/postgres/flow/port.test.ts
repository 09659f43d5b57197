/** Limits through the port where Postgres is like no other store: several processes, and transactions of callers. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectWithPg } from '../../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../../src/store/postgres/postgres.ts'
import type { NewJob, Store } from '../../../../src/store/store.ts'
import { eventually } from '../../../support/eventually.ts'
import { migratedDatabase } from '../../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../../support/postgres.ts'
import { change, claimedBy, completion, grantOf, kindOf, limitedJob, newJob, range } from '../flow.ts'

vi.setConfig({ testTimeout: 120_000 })

let database: FreshDatabase
let one: Store
let two: Store
const said: string[] = []

beforeAll(async () => {
  database = await migratedDatabase()
  one = await openPostgresStore({ url: database.url, migrate: true })
  two = await openPostgresStore({
    url: database.url,
    connect: (config) => {
      const client = connectWithPg(config)
      const query: typeof client.query = (question) => {
        said.push(question.text)
        return client.query(question)
      }
      return { ...client, query }
    },
  })
})

afterAll(async () => {
  await one.close()
  await two.close()
  await database.drop()
})

let made = 0

/** A job of a queue under a key of so many at once. */
function limited(queue: string, key: string, concurrency: number, at: number): NewJob {
  made += 1
  return limitedJob(kindOf(queue), made, at, key, concurrency)
}

describe('several processes', () => {
  it('a claim that waits in one is told of the first job with a key that another enqueues', async () => {
    const waiting = two.claim({ ...grantOf('told', 1), waitMs: 60_000, pollMs: 60_000 })
    await eventually('it to be parked', async () => said.some((text) => text.includes('.claim(')))
    const { now } = await one.load([])
    const job = limited('told', 'told', 1, now)
    await one.insert([job])
    const { jobs } = await waiting
    expect(jobs.map(({ before }) => before.id)).toEqual([job.job.id])
    expect(jobs[0]?.flow).toEqual({ key: 'told', text: 'said', rev: 1 })
  })

  it('claims of a queue without flows are what they always were', async () => {
    said.length = 0
    await two.claim(grantOf('plain', 10))
    expect(said.filter((text) => /claim/.test(text)).map((text) => /\.(claim\w*)\(/.exec(text)?.[1])).toEqual(['claim'])
  })

  it('of a limit of three no more than three are owned, however many claim and end at once', async () => {
    const { now } = await one.load([])
    const jobs = range(0, 40).map(() => limited('busy', 'busy', 3, now))
    await one.insert(jobs)
    let owned = 0
    let most = 0
    let done = 0
    const worker = async (store: Store) => {
      while (done < jobs.length) {
        const grant = grantOf('busy', 10)
        const answer = await store.claim({ ...grant, waitMs: 500 })
        owned += answer.jobs.length
        most = Math.max(most, owned)
        for (const claimed of answer.jobs) {
          owned -= 1
          const { verdicts } = await store.commit([completion(claimedBy(claimed, grant), claimed.at)])
          expect(verdicts).toEqual([{ status: 'applied' }])
          done += 1
        }
      }
    }
    await Promise.all([one, two, one, two].map(worker))
    expect(most).toBeLessThanOrEqual(3)
    expect(done).toBe(jobs.length)
    const { keys } = await one.events({ by: 'keys', tenant: 't', names: ['busy'], limit: 1, recount: true })
    expect(keys?.[0]).toMatchObject({ count: { taken: 0 }, recount: 0, held: 0 })
  })
})

describe('a transaction of a caller’s', () => {
  it('that ends a job under a key keeps nobody else under that key waiting; its slot is free once it has committed', async () => {
    const { now } = await one.load([])
    await one.insert(range(0, 4).map(() => limited('theirs', 'theirs', 2, now)))
    const grant = grantOf('theirs', 2)
    const [first, second] = (await one.claim(grant)).jobs
    if (!first || !second) throw new Error('two are let in')
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('begin')
    const ending = completion(claimedBy(first, grant), first.at)
    expect((await one.commit([ending], client)).verdicts).toEqual([{ status: 'applied' }])
    const other = completion(claimedBy(second, grant), second.at)
    expect((await two.commit([other])).verdicts).toEqual([{ status: 'applied' }])
    const taken = async () =>
      (await one.events({ by: 'keys', tenant: 't', names: ['theirs'], limit: 1 })).keys?.[0]?.count.taken
    expect(await taken()).toBe(2)
    const next = grantOf('theirs', 2)
    expect((await two.claim(next)).jobs).toHaveLength(1)
    // Nobody looks at what is due: a claim that waits, in the other process, hears of it.
    const waiting = two.claim({ ...grantOf('theirs', 2), waitMs: 60_000, pollMs: 60_000 })
    await client.query('commit')
    await client.end()
    expect((await waiting).jobs).toHaveLength(1)
    expect(await taken()).toBe(2)
  })

  it('that puts a job back, or ends one, is heard of once it has committed', async () => {
    const { now } = await one.load([])
    const jobs = range(0, 2).map(() => newJob(kindOf('words'), ++made, now))
    await one.insert(jobs)
    const grant = grantOf('words', 2)
    const [first, second] = (await one.claim(grant)).jobs
    if (!first || !second) throw new Error('two stand there')
    const heard: string[] = []
    await using _ = await two.subscribe((hint) => {
      if (hint.about === 'job') heard.push(hint.id)
    })
    const waiting = two.claim({ ...grantOf('words', 1), waitMs: 60_000, pollMs: 60_000 })
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('begin')
    const job = claimedBy(second, grant)
    const release = {
      type: 'release',
      fence: job.lease?.fence ?? '',
      actor: 'worker:w1',
      requestId: 'back',
      reason: 'handed_back',
    } as const
    const changes = [
      completion(claimedBy(first, grant), first.at),
      change(job, release, second.at, job.lease?.expiresAt),
    ]
    expect((await one.commit(changes, client)).verdicts).toEqual([{ status: 'applied' }, { status: 'applied' }])
    await client.query('commit')
    await client.end()
    expect((await waiting).jobs.map(({ before }) => before.id)).toEqual([second.before.id])
    await eventually('it to hear of the end', () => heard.includes(first.before.id))
  })
})
