/** Side lanes in Postgres: what they cost while there are none, how others come to know of one, and pauses meanwhile. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { type Grant, queueKey, type Store } from '../../../src/store/store.ts'
import { realClock } from '../../../src/system/clock.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { change, claimedBy, grantOf, kindOf, newJob } from './flow.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await migratedDatabase()
  await (await openPostgresStore({ url: database.url, migrate: true })).close()
})
afterAll(() => database.drop())

const opened = () => openPostgresStore({ url: database.url })

const serving = (queue: string, ...serves: readonly string[]): Grant => ({ ...grantOf(queue, 10), serves })

const idsOf = async (claimed: ReturnType<Store['claim']>) =>
  (await claimed).jobs.map(({ before }) => before.id).toSorted()

let numbers = 0

/** In the hands of somebody who does not know it. */
async function claimed(store: Store, queue: string, type: string): Promise<Job> {
  numbers += 1
  const { now } = await store.load([])
  await store.insert([newJob({ ...kindOf(queue), type }, numbers, now)])
  const grant = serving(queue)
  const { jobs } = await store.claim(grant)
  const [job] = jobs
  if (job === undefined) throw new Error('nothing was claimed')
  return claimedBy(job, grant)
}

async function handBack(store: Store, job: Job): Promise<string> {
  const fence = job.lease?.fence ?? ''
  const words = { type: 'release', fence, reason: 'unknown_type', actor: 'w', requestId: `${fence}/release` } as const
  const { verdicts } = await store.commit([change(job, words, job.updatedAt)])
  expect(verdicts).toEqual([{ status: 'applied' }])
  return job.id
}

describe('while there are no side lanes', () => {
  it('a claim that serves fifty types names the lanes it always did, and asks for side lanes once in a while', async () => {
    const asked: unknown[][] = []
    const counting: Connect = (config) => {
      const client = connectWithPg(config)
      return {
        ...client,
        query(question) {
          asked.push([question.text, ...(question.values ?? [])])
          return client.query(question)
        },
      }
    }
    const clock = { monotonicMs: () => 1_000, now: () => realClock.now() }
    const store = await openPostgresStore({ url: database.url, connect: counting, clock })
    const types = Array.from({ length: 50 }, (_, n) => `type-${n}`)
    for (let n = 0; n < 20; n += 1) await store.claim(serving('nobody', ...types))
    await store.close()
    const claims = asked.filter(([text]) => String(text).includes('.claim('))
    expect(claims).toHaveLength(20)
    for (const [, , , , , , lanes] of claims) expect(lanes).toMatch(/^\{\d+\}$/)
    expect(asked.filter(([text]) => String(text).includes('.sides('))).toHaveLength(1)
  })
})

describe('a side lane that another process has made', () => {
  it('is known within a second where nobody hears of it', async () => {
    let ms = 1_000
    const clock = { monotonicMs: () => ms, now: () => realClock.now() }
    const store = await opened()
    const deaf = await openPostgresStore({ url: database.url, clock })
    expect(await idsOf(deaf.claim(serving('deaf', 'unheard')))).toEqual([])
    const id = await handBack(store, await claimed(store, 'deaf', 'unheard'))
    ms += 999
    expect(await idsOf(deaf.claim(serving('deaf', 'unheard')))).toEqual([])
    ms += 1
    expect(await idsOf(deaf.claim(serving('deaf', 'unheard')))).toEqual([id])
    await Promise.all([store.close(), deaf.close()])
  })
})

describe('a pause', () => {
  it('holds for side lanes, also for those that come into the world at the same time', async () => {
    const one = await opened()
    const two = await opened()
    const say = async (paused: boolean) => {
      const put = { op: 'put', collection: 'queue', key: queueKey('t', 'raced'), rev: undefined } as const
      await one.settings([{ ...put, text: JSON.stringify({ paused }) }])
    }
    for (let round = 0; round < 20; round += 1) {
      const types = [`a${round}`, `b${round}`] as const
      const first = await claimed(one, 'raced', types[0])
      const second = await claimed(two, 'raced', types[1])
      const [, ...released] = await Promise.all([say(true), handBack(one, first), handBack(two, second)])
      const fresh = await opened()
      expect(await idsOf(fresh.claim(serving('raced', ...types)))).toEqual([])
      await say(false)
      expect(await idsOf(fresh.claim(serving('raced', ...types)))).toEqual(released.toSorted())
      await fresh.close()
    }
    await Promise.all([one.close(), two.close()])
  })
})
