import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { defineJob } from '../../../src/library/define-job.ts'
import { openOn } from '../../../src/open.ts'
import { type Client, type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { audit, drain, kindOf, Ledger, newJob, range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase

beforeAll(async () => {
  database = await migratedDatabase()
  const store = await openPostgresStore({ url: database.url, migrate: true })
  await store.close()
})

afterAll(async () => {
  await database.drop()
})

/** 57P01 and 08006 break the connection, and may come after the statement was applied: its answer is lost. */
const CODES = ['40001', '40P01', '55P03', '57P01', '08006'] as const

/** Not what a connection says first, nor what opens a store. */
const WORK = /"pawl"\.(?!migration)/

function faulty(random: () => number, share: number, seen: Map<string, number>): Connect {
  return (config) => {
    const client = connectWithPg(config)
    const query: Client['query'] = async (question) => {
      if (!WORK.test(question.text) || random() >= share) return client.query(question)
      const code = CODES[Math.floor(random() * CODES.length)] as string
      const breaks = code === '57P01' || code === '08006'
      seen.set(code, (seen.get(code) ?? 0) + 1)
      if (breaks && random() < 0.5) {
        await client.query(question)
        seen.set('answers lost', (seen.get('answers lost') ?? 0) + 1)
      }
      if (breaks) await client.end()
      throw Object.assign(new Error(`injected ${code}`), { code })
    }
    return { ...client, query }
  }
}

describe('errors on one statement in twenty', () => {
  it('have no effect twice, and lose nothing', async () => {
    const random = seeded(20)
    const seen = new Map<string, number>()
    const jobs = scaled(3_000, 50_000)
    const store = await openPostgresStore({ url: database.url, connect: faulty(random, 0.05, seen) })
    const { now } = await store.load([])
    const kind = kindOf('faulty')
    const numbers = range(1, jobs)
    const inserting = range(0, jobs / 10).map((n) =>
      store.insert(numbers.slice(n * 10, n * 10 + 10).map((id) => newJob(kind, id, now))),
    )
    for (const { items } of await Promise.all(inserting)) {
      for (const item of items) expect(item.status).toBe('inserted')
    }
    const ledger = new Ledger()
    await Promise.all(range(0, 8).map(() => drain(store, 'faulty', ledger, jobs, () => 1 + Math.floor(random() * 10))))
    await audit(store, numbers)
    await store.close()
    for (const code of [...CODES, 'answers lost']) expect(seen.get(code) ?? 0, code).toBeGreaterThan(0)
  })

  it('on keyed enqueues and heartbeats: one holder, one beat', async () => {
    const random = seeded(21)
    const seen = new Map<string, number>()
    const store = await openPostgresStore({ url: database.url, connect: faulty(random, 0.2, seen) })
    const { now } = await store.load([])
    const kind = kindOf('keyed')
    const rounds = scaled(200, 2_000)
    for (let n = 0; n < rounds; n += 1) {
      const keys = [{ purpose: 'dedupe', key: `k${n}`, until: undefined } as const]
      const twins = [newJob(kind, 500_001 + 2 * n, now), newJob(kind, 500_002 + 2 * n, now)].map((job) => ({
        ...job,
        keys,
      }))
      const answers = await Promise.all(twins.map((twin) => store.insert([twin])))
      const statuses = answers.map(({ items }) => items[0]?.status).toSorted()
      expect(statuses).toEqual(['exists', 'inserted'])
    }
    const ledger = new Ledger()
    const { jobs } = await store.claim({ ...(await grant()), limit: rounds })
    expect(jobs.length).toBe(rounds)
    for (const { before, attempt } of jobs.slice(0, 20)) {
      ledger.given(before.id, NONCE)
      const fence = `0.${attempt}.${NONCE}`
      const { items } = await store.heartbeat([{ id: before.id, fence, requestId: `beat ${before.id}` }])
      expect(items[0]?.status === 'renewed' && [items[0].beats, items[0].rev]).toEqual([1, 3])
    }
    await store.close()
  })

  it('on enqueues that come together: all of them are there, and told so; none where a number was given to another', async () => {
    const seen = new Map<string, number>()
    const store = await openPostgresStore({ url: database.url, connect: faulty(seeded(23), 0.3, seen) })
    const { now } = await store.load([])
    const kind = kindOf('together')
    const rounds = scaled(200, 2_000)
    for (let n = 0; n < rounds; n += 1) {
      const three = range(600_001 + 5 * n, 3).map((number) => newJob(kind, number, now))
      const { items } = await store.insert(three, undefined, true)
      expect(items.map(({ status }) => status)).toEqual(['inserted', 'inserted', 'inserted'])
      // The last of them was born at another time, with the same words: it is somebody else's.
      const two = [newJob(kind, 600_004 + 5 * n, now), newJob(kind, 600_003 + 5 * n, now + 1)]
      const refused = await store.insert(two, undefined, true)
      expect(refused.items).toMatchObject([{ status: 'inserted' }, { status: 'exists', by: 'id' }])
      const { items: found } = await store.load([...three, ...two].map(({ job }) => ({ id: job.id })))
      expect(found.map((item) => item?.job.spec.createdAt)).toEqual([now, now, now, undefined, now])
    }
    await store.close()
    for (const code of [...CODES, 'answers lost']) expect(seen.get(code) ?? 0, code).toBeGreaterThan(0)
  })
})

/** Done, and the connection breaks before it is told. */
function losing(answersTo: RegExp, random: () => number, lost: () => void): Connect {
  return (config) => {
    const client = connectWithPg(config)
    const query: Client['query'] = async (question) => {
      const answer = await client.query(question)
      if (!answersTo.test(question.text) || random() < 0.7) return answer
      lost()
      client.destroy()
      throw Object.assign(new Error('injected 08006'), { code: '08006' })
    }
    return { ...client, query }
  }
}

describe('whole jobs whose words are answered in vain, one in three', () => {
  it('are told of once, word by word, and counted once', async () => {
    let lost = 0
    const connect = losing(/\.(move|settle|claim|enqueue)\(/, seeded(22), () => {
      lost += 1
    })
    const store = await openPostgresStore({ url: database.url, connect })
    const pawl = openOn(store, { tenant: 'whole', log: 'silent' })
    const steps = defineJob({
      type: 'steps',
      tenant: 'whole',
      queue: 'whole',
      lease: '60s',
      async run(_: undefined, ctx) {
        await ctx.step('one', () => 1)
        ctx.progress({ done: 1, total: 2 })
        await ctx.step('two', () => 2)
      },
    })
    const worker = pawl.work([steps], { concurrency: 16 })
    const inputs = Array.from({ length: scaled(100, 5_000) }, () => undefined)
    for (const job of await pawl.enqueueMany(steps, inputs)) await job.result({ timeout: '60s' })
    await worker.stop()
    await pawl.close()
    const honest = openOn(await openPostgresStore({ url: database.url }), { ticker: false, retention: false })
    expect((await honest.verify()).discrepancies).toEqual([])
    const places = new Set<string>()
    for (let after = ''; ; ) {
      const { feed, cursor } = await honest.events({ after, limit: 1_000 })
      for (const { jobId, rev } of feed) {
        expect(places.has(`${jobId} ${rev}`), `${jobId} ${rev} is shown twice`).toBe(false)
        places.add(`${jobId} ${rev}`)
      }
      if (feed.length === 0) break
      after = cursor ?? ''
    }
    await honest.close()
    expect(lost).toBeGreaterThan(20)
  })
})

const NONCE = '00000000000000ff'
const grant = async () => ({
  requestId: 'keyed claim',
  workerId: 'w',
  actor: 'worker:w',
  nonce: NONCE,
  lanes: [{ tenant: 't', queue: 'keyed', priority: 5 }],
  maxInputBytes: 1 << 20,
})
