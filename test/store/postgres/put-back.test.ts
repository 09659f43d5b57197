import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { derive } from '../../../src/core/evolve.ts'
import { idNumber } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { MoveChange, Store } from '../../../src/store/store.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { change, claimedBy, completion, grantOf, kindOf, newJob, range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let admin: pg.Client
let one: Store
let two: Store

/** What the first store has asked, without its reads. */
let asked: string[] = []

const watched: Connect = (config) => {
  const client = connectWithPg(config)
  return {
    ...client,
    query(question) {
      const called = /\.(put_back|move|loosen)\(/.exec(question.text)?.[1]
      if (called !== undefined) asked.push(called)
      return client.query(question)
    },
  }
}

beforeAll(async () => {
  database = await freshDatabase()
  one = await openPostgresStore({ url: database.url, migrate: true, connect: watched })
  two = await openPostgresStore({ url: database.url })
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
})

afterAll(async () => {
  await one.close()
  await two.close()
  await admin.end()
  await database.drop()
})

let queues = 0
let queue = ''
let number = 0
let now = 0

beforeEach(async () => {
  queues += 1
  queue = `q${queues}`
  now = (await one.load([])).now
  asked = []
})

/** As many, claimed together: a bundle where there are sixteen. */
async function claimed(count: number): Promise<readonly Job[]> {
  number += count
  await one.insert(range(number - count + 1, count).map((n) => newJob(kindOf(queue), n, now)))
  const grant = grantOf(queue, count)
  const { jobs } = await one.claim(grant)
  expect(jobs.length).toBe(count)
  return jobs.map((job) => claimedBy(job, grant))
}

/** Tried again at once, each with a word of its own about why. */
function failed(job: Job): MoveChange {
  const fault = { code: 'E_5XX_ORIGIN', message: `bad gateway ${job.id}` }
  const fence = job.lease?.fence ?? ''
  const words = {
    type: 'fail',
    fence,
    fault,
    actor: `worker:${job.owner?.workerId}`,
    requestId: `${fence}/fail`,
  } as const
  const said = change(job, words, now, job.lease?.expiresAt)
  return { ...said, bodies: [{ name: `error/${job.attempt}`, text: `{"of":"${job.id}"}` }] }
}

/** Given back unused: claimable at once. */
function released(job: Job): MoveChange {
  const fence = job.lease?.fence ?? ''
  const asked = { actor: `worker:${job.owner?.workerId}`, requestId: `${fence}/release` }
  return change(job, { type: 'release', reason: 'handed_back', fence, ...asked }, now, job.lease?.expiresAt)
}

const statusesOf = async (answer: ReturnType<Store['commit']>): Promise<readonly string[]> =>
  (await answer).verdicts.map(({ status }) => status)

const all = (status: string, count: number) => range(0, count).map(() => status)

/** The store has the record of the change, its log folds to it, and the body is there. */
async function isKept({ after, bodies }: MoveChange): Promise<void> {
  const { items } = await two.load([{ id: after.id, bodies: bodies.map(({ name }) => name) }])
  expect(items[0]?.job).toEqual(after)
  expect(items[0]?.bodies).toEqual(Object.fromEntries(bodies.map(({ name, text }) => [name, text])))
  const { events } = await two.events({ by: 'job', id: after.id, afterRev: 0, limit: 100 })
  expect(derive(events)).toEqual(after)
}

const placesOf = async (jobs: readonly Job[]): Promise<Record<string, number>> => {
  const { rows } = await admin.query(
    `select count(r.id)::int as ready, count(l.id)::int as leased, count(o.id)::int as owned from unnest($1::bigint[]) as u(id)
     left join pawl.ready r on r.id = u.id left join pawl.lease l on l.id = u.id left join pawl.owned o on o.id = u.id`,
    [jobs.map(({ id }) => idNumber(id))],
  )
  return rows[0]
}

describe.each([
  ['a bundle', 40],
  ['few that have leases', 12],
])('jobs that are tried again, of %s,', (_, count) => {
  it('go back in one statement, each with its record and what is said about it', async () => {
    const jobs = await claimed(count)
    const back = jobs.slice(0, count - 4).map(failed)
    expect(await statusesOf(one.commit(back.toReversed()))).toEqual(all('applied', count - 4))
    expect(asked).toEqual(['put_back'])
    expect(await placesOf(jobs)).toMatchObject({ ready: count - 4, owned: 4 })
    for (const each of [back[0], back.at(-1)]) await isKept(each as MoveChange)
    expect(await statusesOf(one.commit(jobs.slice(-4).map((job) => completion(job, now))))).toEqual(all('applied', 4))
  })

  it('are claimed again, and tell of every attempt when they end', async () => {
    const jobs = await claimed(count)
    expect(await statusesOf(one.commit(jobs.map(released)))).toEqual(all('applied', count))
    const grant = grantOf(queue, count)
    const again = (await one.claim(grant)).jobs.map((job) => claimedBy(job, grant))
    expect(again.map(({ attempt }) => attempt)).toEqual(range(0, count).map(() => 2))
    const twice = again.map(failed)
    expect(await statusesOf(one.commit(twice))).toEqual(all('applied', count))
    await isKept(twice[3] as MoveChange)
  })

  it('are each told what became of them where one of them is not there any more', async () => {
    const jobs = await claimed(count)
    const cancel = { type: 'cancel', mode: 'hard', actor: 'operator', requestId: 'stop' } as const
    await two.commit([change(jobs[1] as Job, cancel, now)])
    const back = jobs.slice(0, 5).map(failed)
    expect(await statusesOf(one.commit(back))).toEqual(['applied', 'conflict', 'applied', 'applied', 'applied'])
    expect(asked.at(-1)).toBe('move')
    await isKept(back[0] as MoveChange)
    expect(await statusesOf(one.commit(back)), 'what is said twice').toEqual(all('conflict', 5))
  })

  it('stay where they are where it is too late', async () => {
    const jobs = await claimed(count)
    const late = jobs.map((job) => ({ ...failed(job), notAfter: now - 1 }))
    expect(await statusesOf(one.commit(late))).toEqual(all('late', count))
    expect(await placesOf(jobs)).toMatchObject({ ready: 0, owned: count })
  })

  it('do not go where they may not, and none of the others is lost with one', async () => {
    const jobs = await claimed(count)
    const [wrong, ...others] = jobs.map(failed) as [MoveChange, ...MoveChange[]]
    const astray = { ...wrong, after: { ...wrong.after, attempt: 7 } as Job }
    const answers = await statusesOf(one.commit([astray, ...others.slice(0, 3)]))
    expect(answers).toEqual(['rejected', 'applied', 'applied', 'applied'])
  })
})

it('heartbeats that are to be told of go into the log with them', async () => {
  const jobs = await claimed(20)
  const { items } = await one.heartbeat(
    jobs.map(({ id, lease }) => ({ id, fence: lease?.fence ?? '', requestId: `b ${id}` })),
  )
  expect(items.map(({ status }) => status)).toEqual(all('renewed', 20))
  const renewed = (await one.load(jobs.map(({ id }) => ({ id })))).items.map((item) => item?.job as Job)
  const back = renewed.map(failed)
  expect(await statusesOf(one.commit(back))).toEqual(all('applied', 20))
  await isKept(back[0] as MoveChange)
})

it('a request is found in the log, however long that is', async () => {
  const [job] = (await claimed(1)) as [Job]
  const first = released(job)
  let last = first
  for (let n = 0; n < 12; n += 1) {
    expect(await statusesOf(one.commit([last]))).toEqual(['applied'])
    for (const { events } of [first, last]) {
      const { items } = await two.load([{ id: job.id, requestId: events[0]?.requestId }])
      expect(items[0]?.caused).toEqual(events)
    }
    const grant = grantOf(queue, 1)
    const [found] = (await one.claim(grant)).jobs
    if (found === undefined) throw new Error('it is claimable at once')
    last = released(claimedBy(found, grant))
  }
  expect(last.before.rev, 'long enough that requests are noted').toBeGreaterThan(20)
})

it('retries, ends, heartbeats and ticks at once, from two processes, leave every job in exactly one place', async () => {
  const random = seeded(11)
  const everybody: Job[] = []
  for (let round = 0; round < scaled(20, 1_000); round += 1) {
    const jobs = await claimed(64)
    everybody.push(...jobs)
    const some = (share: number) => jobs.filter(() => random() < share)
    if (random() < 0.2)
      await admin.query('update pawl.claim set tick = 1 where jobs @> $1', [[idNumber(jobs[0]?.id ?? '')]])
    const [a, b, c] = await Promise.all([
      one.commit(some(0.5).map(failed)),
      two.commit(some(0.3).map(failed)),
      one.commit(some(0.3).map((job) => completion(job, now))),
      two.heartbeat(some(0.1).map(({ id, lease }) => ({ id, fence: lease?.fence ?? '', requestId: `b ${id}` }))),
      two.due(10),
    ])
    for (const { verdicts } of [a, b, c]) {
      for (const { status } of verdicts) expect(['applied', 'conflict']).toContain(status)
    }
  }
  const { rows } = await admin.query(
    `select places, count(*)::int as n from (
       select (count(p.job) + count(o.id) + count(r.id))::int as places from unnest($1::bigint[]) as u(id)
       left join pawl.past p on p.job = u.id and p.state is not null
       left join pawl.owned o on o.id = u.id left join pawl.ready r on r.id = u.id group by u.id
     ) as each group by places`,
    [everybody.map(({ id }) => idNumber(id))],
  )
  expect(rows).toEqual([{ places: 1, n: everybody.length }])
  const { rows: open } = await admin.query(
    `select count(*)::int as n from pawl.claim c where c.low is not null and c.open < (
       select count(*) from pawl.owned o where o.claim = c.id and not exists (select from pawl.lease l where l.id = o.id))`,
  )
  expect(open, 'no bundle counts fewer than it has').toEqual([{ n: 0 }])
})
