import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { decideTick } from '../../../src/core/decide.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Hint, Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { accepted, change, claimedBy, completion, grantOf, kindOf, newJob, range } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let one: Store
let two: Store

beforeAll(async () => {
  database = await migratedDatabase()
  one = await openPostgresStore({ url: database.url, migrate: true })
  two = await openPostgresStore({ url: database.url })
})

afterAll(async () => {
  await one.close()
  await two.close()
  await database.drop()
})

const ROUNDS = scaled(400, 10_000)
const AT_ONCE = 50
const cancel = (id: string) => ({ type: 'cancel', mode: 'hard', actor: 'operator', requestId: `cancel ${id}` }) as const

let next = 1
/** Rounds in bunches, so that they meet each other as well. */
async function inRounds(
  queue: string,
  round: (numbers: readonly number[], at: number) => Promise<void>,
): Promise<void> {
  for (let done = 0; done < ROUNDS; done += AT_ONCE) {
    const { now } = await one.load([])
    const numbers = range(next, AT_ONCE)
    next += AT_ONCE
    await one.insert(numbers.map((n) => newJob(kindOf(queue, { leaseMs: 1_000 }), n, now - 60_000)))
    await round(numbers, now)
  }
}

describe('races between two stores', () => {
  it('who counts waits for whoever is counting just now: nothing that was there is left out', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await client.query('begin')
      await client.query('select pawl.place_entries(1000, false)')
      const { now } = await two.load([])
      await two.insert([newJob(kindOf('counted'), 900_000_000, now)])
      const counted = one.events({ by: 'tally' })
      await eventually('it to wait', async () => {
        const { rows } = await client.query(`select from pg_locks where locktype = 'advisory' and not granted`)
        return rows.length > 0
      })
      await client.query('commit')
      expect((await counted).tally.filter(({ queue }) => queue === 'counted')).toMatchObject([
        { state: 'queued', count: 1 },
      ])
    } finally {
      await client.end()
    }
  })

  it('two reapers on one expired job: one has its way', async () => {
    await inRounds('reapers', async (_, now) => {
      const grant = grantOf('reapers', AT_ONCE)
      const { jobs } = await one.claim(grant)
      expect(jobs.length).toBe(AT_ONCE)
      const changes = jobs.map((claimed) => {
        const job = claimedBy(claimed, grant)
        const tick = decideTick(job, now + 120_000, { actor: 'system', requestId: `tick ${job.id}` })
        if (tick === undefined) throw new Error('an expired lease is due')
        const { job: after, events } = accepted(tick)
        const nothing = { bodies: [], notAfter: undefined, give: [], take: [], spawn: undefined }
        return { kind: 'move', before: job, after, events, ...nothing } as const
      })
      const [a, b] = await Promise.all([one.commit(changes), two.commit(changes)])
      for (const i of range(0, AT_ONCE)) {
        expect([a.verdicts[i]?.status, b.verdicts[i]?.status].toSorted()).toEqual(['applied', 'conflict'])
      }
      const swept = await one.commit(changes.map(({ after }) => change(after, cancel(after.id), now + 120_000)))
      expect(swept.verdicts.every(({ status }) => status === 'applied')).toBe(true)
    })
  })

  it('an end among many that are alike and came too late: it alone is missed, and nothing is counted twice', async () => {
    const { now } = await one.load([])
    const numbers = range(5_000_001, 200)
    await one.insert(numbers.map((n) => newJob(kindOf('alike'), n, now)))
    const grant = grantOf('alike', numbers.length)
    const answer = await one.claim(grant)
    const ends = answer.jobs.map((claimed) => completion(claimedBy(claimed, grant), answer.now))
    const early = ends.filter((_, n) => n % 50 === 7)
    await two.commit(early)
    const { verdicts } = await one.commit(ends)
    for (const [n, end] of ends.entries()) {
      expect(verdicts[n]?.status, end.before.id).toBe(early.includes(end) ? 'conflict' : 'applied')
    }
    const { tally } = await one.events({ by: 'tally' })
    const counts = tally.filter(({ queue }) => queue === 'alike').map(({ state, count }) => [state, count])
    expect(counts).toEqual([['succeeded', numbers.length]])
  })

  it('a claim against a cancel: the second sees the first', async () => {
    await inRounds('cancels', async (numbers, now) => {
      const before = (await one.load(numbers.map((n) => ({ id: newJob(kindOf(), n, now).job.id })))).items
      const cancels = before.map((item) => change(item?.job as never, cancel(item?.job.id ?? ''), now))
      const grants = range(0, 5).map(() => grantOf('cancels', 10))
      const [cancelled, ...claimed] = await Promise.all([
        two.commit(cancels),
        ...grants.map((grant) => one.claim(grant)),
      ])
      const given = new Set(claimed.flatMap(({ jobs }) => jobs.map((job) => job.before.id)))
      for (const [i, { before: job }] of cancels.entries()) {
        const applied = cancelled.verdicts[i]?.status === 'applied'
        expect(applied && given.has(job.id), 'not both').toBe(false)
      }
      const left = await one.claim(grantOf('cancels', AT_ONCE))
      const all = [...claimed, left].flatMap(({ jobs }) => jobs.length).reduce((sum, n) => sum + n, 0)
      expect(all + cancelled.verdicts.filter(({ status }) => status === 'applied').length).toBe(AT_ONCE)
    })
  })

  it('a claim against retention: what is claimed is not purged, what is purged is gone', async () => {
    await inRounds('purges', async (_, now) => {
      const grant = grantOf('purges', AT_ONCE)
      const { jobs } = await one.claim(grant)
      const ends = jobs.slice(0, 25).map((job) => completion(claimedBy(job, grant), now))
      await one.commit(ends.map((end) => ({ ...end, notAfter: undefined })))
      const purges = ends.map(({ after }) => ({ kind: 'purge', before: after }) as const)
      const live = jobs.slice(25).map((job) => ({ kind: 'purge', before: claimedBy(job, grant) }) as const)
      const [a, b, , wrong] = await Promise.all([
        one.commit(purges),
        two.commit(purges.toReversed()),
        two.claim(grantOf('purges', 10)),
        one.commit(live),
      ])
      for (const i of range(0, 25)) {
        const statuses = [a.verdicts[i]?.status, b.verdicts[24 - i]?.status].toSorted()
        expect(statuses).toEqual(['applied', 'conflict'])
      }
      expect(new Set(wrong.verdicts.map(({ status }) => status))).toEqual(new Set(['conflict']))
    })
  })

  it('a stale fence and a stale revision change nothing', async () => {
    await inRounds('stale', async (_, now) => {
      const grant = grantOf('stale', AT_ONCE)
      const { jobs } = await one.claim(grant)
      const owned = jobs.map((job) => claimedBy(job, grant))
      const words = { actor: 'worker:w1' }
      const release = owned.map((job) => {
        const fence = job.lease?.fence ?? ''
        const command = { ...words, type: 'release', fence, reason: 'shutdown', requestId: `${fence}/release` } as const
        return change(job, command, now)
      })
      const [released, completed] = await Promise.all([
        one.commit(release),
        two.commit(owned.map((job) => ({ ...completion(job, now), notAfter: undefined }))),
      ])
      for (const i of range(0, AT_ONCE)) {
        const statuses = [released.verdicts[i]?.status, completed.verdicts[i]?.status].toSorted()
        expect(statuses).toEqual(['applied', 'conflict'])
      }
      const { jobs: again } = await two.claim(grantOf('stale', AT_ONCE))
      const left = again.map(({ before }) => before.id).toSorted()
      const expected = release.flatMap(({ before }, i) =>
        released.verdicts[i]?.status === 'applied' ? [before.id] : [],
      )
      expect(left).toEqual(expected.toSorted())
    })
  })
})

describe('a caller’s own transaction', () => {
  it('makes a job exist if and only if the business write does', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('create table business (n int)')
    // Anything with a query method will do, also one that knows nothing of rowMode.
    const tx = { query: (text: string, values: unknown[]) => client.query(text, values) }
    const { now } = await one.load([])
    for (const [n, end] of [
      [9_000_001, 'commit'],
      [9_000_002, 'rollback'],
    ] as const) {
      await client.query('begin')
      await client.query('insert into business values ($1)', [n])
      const item = newJob(kindOf('business'), n, now)
      expect((await one.insert([item], tx)).items).toEqual([{ status: 'inserted' }])
      expect((await one.insert([item], tx)).items[0]?.status, 'seen within').toBe('exists')
      await client.query(end)
      const { rows } = await client.query('select count(*)::int as n from business where n = $1', [n])
      const { items } = await two.load([{ id: item.job.id }])
      expect([rows[0].n, items[0]?.job.id]).toEqual(end === 'commit' ? [1, item.job.id] : [0, undefined])
    }
    await client.end()
  })
})

describe('the end of a job in a caller’s own transaction', () => {
  it('waits for whoever has its row just now: the transaction has no second try', async () => {
    const { now } = await one.load([])
    const grant = grantOf('waits', 2)
    await one.insert([9_050_001, 9_050_002].map((n) => newJob(kindOf('waits'), n, now)))
    const owned = (await one.claim(grant)).jobs.map((job) => claimedBy(job, grant))
    const [plain, moved] = owned.map((job) => completion(job, now))
    const kept = { ...moved, bodies: [{ name: 'checkpoint', text: '1' }] } as typeof moved
    const holder = new pg.Client({ connectionString: database.url })
    const client = new pg.Client({ connectionString: database.url })
    await Promise.all([holder.connect(), client.connect()])
    try {
      for (const end of [plain, kept]) {
        await holder.query('begin')
        await holder.query('select from pawl.lease for update')
        await client.query('begin')
        const waiting = one.commit(end === undefined ? [] : [end], client)
        await eventually('it to wait', async () => {
          const { rows } = await holder.query('select from pg_locks where not granted')
          return rows.length > 0
        })
        // Longer than a lock is waited for where there is a second try.
        await holder.query('select pg_sleep(0.3)')
        await holder.query('commit')
        expect((await waiting).verdicts).toEqual([{ status: 'applied' }])
        await client.query('commit')
      }
    } finally {
      await Promise.all([holder.end(), client.end()])
    }
  })
})

describe('hints', () => {
  it('that were lost with their connection are made up for', async () => {
    const heard: Hint[] = []
    await using _subscription = await two.subscribe((hint) => heard.push(hint))
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()`,
    )
    await admin.end()
    await eventually('a hint to look at everything', () => heard.some(({ about }) => about === 'anything'))
    heard.length = 0
    const { now } = await one.load([])
    let n = 9_100_001
    await eventually('hints come again', async () => {
      await one.insert([newJob(kindOf('hinted'), n++, now)])
      return heard.some((hint) => hint.about === 'queue' && hint.queue === 'hinted')
    })
  })
})
