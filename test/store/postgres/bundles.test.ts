import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Command } from '../../../src/core/command.ts'
import { derive } from '../../../src/core/evolve.ts'
import { idNumber } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Beat, Store } from '../../../src/store/store.ts'
import { bundleAll } from '../../support/all-bundled.ts'
import { eventually } from '../../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { openTransaction } from '../conformance/open-transaction.ts'
import { change, claimedBy, completion, grantOf, kindOf, newJob, range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let admin: pg.Client
let one: Store
let two: Store

/** How often the first store asked for a bundle to be parted. */
let partings = 0
/** How often it looked for ends in a bundle. */
let looks = 0

const watched: Connect = (config) => {
  const client = connectWithPg(config)
  return {
    ...client,
    query(question) {
      if (question.text.includes('.loosen(')) partings += 1
      if (question.text.includes('.settle_bundles(')) looks += 1
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
})

const enqueue = (count: number, store = one) => {
  number += count
  return store.insert(range(number - count + 1, count).map((n) => newJob(kindOf(queue), n, now)))
}

/** As many, claimed together. */
async function claimed(count: number, store = one): Promise<readonly Job[]> {
  await enqueue(count)
  const grant = grantOf(queue, count)
  const { jobs } = await store.claim(grant)
  expect(jobs.length).toBe(count)
  return jobs.map((job) => claimedBy(job, grant))
}

const ends = (jobs: readonly Job[]) => jobs.map((job) => completion(job, now))
/** Each with an output of its own. */
const differentEnds = (jobs: readonly Job[]) =>
  ends(jobs).map((end) => ({ ...end, bodies: [{ name: 'output', text: `"${end.before.id}"` }] }))

const WAYS = [
  ['alike', ends],
  ['each in its own way', differentEnds],
] as const

const statuses = async (answer: Promise<{ verdicts: readonly { status: string }[] }>): Promise<readonly string[]> => [
  ...new Set((await answer).verdicts.map(({ status }) => status)),
]

const beat = (job: Job, requestId = `beat ${job.id}`): Beat => ({
  id: job.id,
  fence: job.lease?.fence ?? '',
  requestId,
})

const start = (job: Job): Command => ({
  type: 'start',
  fence: job.lease?.fence ?? '',
  actor: `worker:${job.owner?.workerId}`,
  requestId: `start ${job.id}`,
})

async function leasesOf(jobs: readonly Job[]): Promise<number> {
  const ids = jobs.map(({ id }) => idNumber(id))
  const { rows } = await admin.query('select count(*)::int as n from pawl.lease where id = any($1)', [ids])
  return rows[0].n
}

async function bundleOf(jobs: readonly Job[]) {
  const { rows } = await admin.query('select open, low, high, loose, tick from pawl.claim where jobs @> $1', [
    [idNumber(jobs[0]?.id ?? '')],
  ])
  return rows[0]
}

const statesOf = async (jobs: readonly Job[]): Promise<readonly string[]> => {
  const { items } = await two.load(jobs.map(({ id }) => ({ id })))
  return [...new Set(items.map((item) => item?.job.state ?? 'gone'))]
}

describe('jobs claimed many at a time', () => {
  it('have no leases of their own, unless there are few of them', async () => {
    const many = await claimed(16)
    expect(await leasesOf(many)).toBe(0)
    expect(await bundleOf(many)).toMatchObject({ open: 16 })
    const few = await claimed(15)
    expect(await leasesOf(few)).toBe(15)
    expect(await bundleOf(few)).toMatchObject({ open: null, low: null })
  })

  it('have leases of their own where one of them has been claimed before', async () => {
    const [again, ...others] = await claimed(20)
    await one.commit(others.map((job) => completion(job, now)))
    const release = {
      type: 'release',
      reason: 'handed_back',
      fence: again?.lease?.fence ?? '',
      actor: 'worker:w1',
      requestId: 'back',
    } as const
    expect(await statuses(one.commit([change(again as Job, release, now, again?.lease?.expiresAt)]))).toEqual([
      'applied',
    ])
    await enqueue(20)
    const { jobs } = await one.claim(grantOf(queue, 30))
    expect(jobs.map(({ attempt }) => attempt).toSorted()).toEqual([...range(1, 20).map(() => 1), 2])
    expect(await leasesOf(jobs.map(({ before }) => before))).toBe(21)
  })

  const ODD = [
    '',
    '\u0001',
    '\u0001"\u0001"',
    'a\u0000b',
    '\ud800',
    '{1,2}',
    '\u001f',
    '\u001f00000000000000ff',
    '"漢字 🐾 \\"',
    'NULL',
  ]

  const MIXTURES: Record<
    string,
    { readonly inputs: readonly string[]; readonly types: number; readonly priorities: number }
  > = {
    'of one kind and lane': { inputs: ['{"a":1}'], types: 1, priorities: 1 },
    'of one kind and lane, with odd inputs': { inputs: ODD, types: 1, priorities: 1 },
    'of several kinds': { inputs: ODD, types: 3, priorities: 1 },
    'of several lanes': { inputs: ODD, types: 1, priorities: 3 },
    'of several kinds and lanes': { inputs: ODD, types: 2, priorities: 2 },
  }

  it.each(Object.entries(MIXTURES))('come as they were made: %s', async (_, { inputs, types, priorities }) => {
    const made = range(number + 1, 40).map((n, i) => {
      const kind = { ...kindOf(queue), type: `flow.${i % types}` }
      const item = newJob(kind, n, now, inputs[i % inputs.length], 5 + (i % priorities))
      // Every fourth has no input at all.
      return i % 4 === 3 ? newJob(kind, n, now, null, 5 + (i % priorities)) : item
    })
    number += 40
    await one.insert(made)
    const lanes = range(5, priorities).map((priority) => ({ tenant: 't', queue, priority }))
    const { jobs } = await one.claim({ ...grantOf(queue, 40), lanes })
    expect(await leasesOf(jobs.map(({ before }) => before))).toBe(0)
    const byLane = made.toSorted((a, b) => a.job.priority - b.job.priority)
    expect(jobs.map(({ before, input }) => [before, input])).toEqual(byLane.map(({ job, input }) => [job, input]))
  })

  it.each([
    ['short', 10],
    ['long', 20_000],
  ])('bring their inputs, however %s', async (_, length) => {
    await enqueue(1)
    const made = range(number + 1, 19).map((n) => newJob(kindOf(queue), n, now, `"${n}${'ä'.repeat(length)}"`))
    await one.insert(made)
    number += 19
    const { jobs } = await one.claim(grantOf(queue, 20))
    expect(jobs.slice(1).map(({ input }) => input)).toEqual(made.map(({ input }) => input))
  })

  it('bring no more input than was asked for', async () => {
    await enqueue(20)
    const { jobs } = await one.claim({ ...grantOf(queue, 20), maxInputBytes: 100 })
    const bytes = jobs.reduce((sum, { input }) => sum + (input?.length ?? 0), 0)
    expect(jobs.length).toBe(20)
    expect(bytes).toBeGreaterThan(50)
    expect(bytes).toBeLessThanOrEqual(100)
  })

  it('are seen as what they are: claimed, by whom, until when', async () => {
    const jobs = await claimed(20)
    await one.commit(ends(jobs.slice(0, 5)))
    await admin.query('select pawl.loosen($1)', [[idNumber(jobs[5]?.id ?? '')]])
    const owned = jobs.slice(5)
    const { items } = await two.load(owned.slice(1).map(({ id }) => ({ id })))
    expect(items.map((item) => item?.job)).toEqual(owned.slice(1))
    for (const order of ['oldest', 'newest'] as const) {
      const found: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await two.find({ states: ['claimed'], queues: [queue], order, limit: 4, cursor })
        found.push(...page.jobs.map(({ id }) => id))
        cursor = page.cursor
        if (cursor === undefined) break
      }
      const ids = owned.map(({ id }) => id)
      expect(found).toEqual(order === 'oldest' ? ids : ids.toReversed())
    }
    const { rows } = await admin.query(
      `select j.state, j.worker, j.rev, j.attempt::int, count(distinct j.lease_expires_at)::int as ends, count(*)::int as n,
              (select count(*)::int from pawl.events e where e.type = 'claimed' and e.job = any($1)) as events
       from pawl.jobs j where j.id = any($1) group by 1, 2, 3, 4`,
      [owned.slice(1).map(({ id }) => idNumber(id))],
    )
    expect(rows).toEqual([{ state: 'claimed', worker: 'w1', rev: 2, attempt: 1, ends: 1, n: 14, events: 14 }])
    for (const job of owned) await isSound((await two.load([{ id: job.id }])).items[0]?.job as Job, 'claimed')
  })

  it('are given again to whoever repeats the claim, and only what has not ended', async () => {
    await enqueue(30)
    const grant = grantOf(queue, 30)
    const first = await one.claim(grant)
    const jobs = first.jobs.map((job) => claimedBy(job, grant))
    await one.commit(ends(jobs.slice(0, 10)))
    const again = await two.claim(grant)
    expect(again.replayed).toBe(true)
    expect(again.jobs).toEqual(first.jobs.slice(10))
    expect(await statuses(one.commit(ends(jobs.slice(10))))).toEqual(['applied'])
  })
})

describe('jobs claimed many at a time, where something happens to one of them,', () => {
  it('may be moved by anybody, one by one: the others stay together', async () => {
    const jobs = await claimed(30)
    const [mine, theirs] = jobs as [Job, Job]
    const cancel = { type: 'cancel', mode: 'soft', actor: 'operator', requestId: 'stop' } as const
    const answer = two.commit([change(mine, start(mine), now, mine.lease?.expiresAt), change(theirs, cancel, now)])
    expect(await statuses(answer)).toEqual(['applied'])
    expect(await leasesOf(jobs)).toBe(2)
    expect(await bundleOf(jobs)).toMatchObject({ open: 28 })
    const { items } = await one.heartbeat([beat(theirs)])
    expect(items[0]).toEqual({ status: 'careful' })
    expect(await statuses(one.commit(ends([mine, theirs])))).toEqual(['conflict'])
    expect(await statuses(one.commit(ends(jobs.slice(2))))).toEqual(['applied'])
  })

  it('are parted once for all where one after the other is heard of', async () => {
    const jobs = await claimed(60)
    const starts = jobs.map((job) => change(job, start(job), now, job.lease?.expiresAt))
    for (const each of starts.slice(0, 16)) expect(await statuses(two.commit([each]))).toEqual(['applied'])
    expect(await leasesOf(jobs)).toBe(16)
    expect(await bundleOf(jobs)).toMatchObject({ open: 44 })
    await one.commit(ends(jobs.slice(50)))
    expect(await statuses(two.commit(starts.slice(16, 17)))).toEqual(['applied'])
    expect(await leasesOf(jobs)).toBe(50)
    expect(await bundleOf(jobs)).toMatchObject({ open: null, low: null })
    expect(await statuses(one.commit(ends(jobs.slice(17, 50))))).toEqual(['applied'])
  })

  it('come back when their leases end, but for those that have ended', async () => {
    number += 30
    const numbers = range(number - 29, 30)
    await one.insert(numbers.map((n) => newJob(kindOf(queue, { leaseMs: 1_000 }), n, now)))
    const grant = grantOf(queue, 30)
    const jobs = (await one.claim(grant)).jobs.map((job) => claimedBy(job, grant))
    await one.commit(ends(jobs.slice(0, 12)))
    await admin.query('update pawl.claim set at = at - 60000, tick = tick - 60000 where jobs @> $1', [[numbers[0]]])
    const due = await two.due(100)
    expect(due.jobs.map(({ id }) => id).toSorted()).toEqual(
      jobs
        .slice(12)
        .map(({ id }) => id)
        .toSorted(),
    )
    expect((await one.due(100)).jobs).toEqual([])
    expect(await bundleOf(jobs)).toMatchObject({ open: null, low: null })
  })

  it('wait for whoever gives one of them a lease and is slow to commit, all together', async () => {
    const jobs = await claimed(50)
    const entries = async () => (await admin.query('select count(*)::int as n from pawl.entry')).rows[0].n
    const before = await entries()
    const slow = new pg.Client({ connectionString: database.url })
    await slow.connect()
    await slow.query('begin')
    await slow.query('select pawl.loosen($1)', [[idNumber(jobs[0]?.id ?? '')]])
    const committed = slow.query('select pg_sleep(0.3)').then(() => slow.query('commit'))
    expect(await statuses(one.commit(ends(jobs.slice(1))))).toEqual(['applied'])
    await committed
    await slow.end()
    expect(await entries()).toBe(before + 1)
  })
})

describe('jobs claimed many at a time, when they end,', () => {
  it.each(WAYS)('end %s, and the bundle with the last of them', async (_, how) => {
    const jobs = await claimed(40)
    expect(await statuses(one.commit(how(jobs.slice(0, 30))))).toEqual(['applied'])
    expect(await bundleOf(jobs)).toMatchObject({ open: 10 })
    expect(await statuses(one.commit(how(jobs.slice(30))))).toEqual(['applied'])
    expect(await bundleOf(jobs)).toEqual({ open: null, low: null, high: null, loose: null, tick: null })
    expect(await statesOf(jobs)).toEqual(['succeeded'])
    expect(await leasesOf(jobs)).toBe(0)
  })

  it.each(WAYS)('end %s by the word of a process that has not claimed them', async (_, how) => {
    const jobs = await claimed(40)
    expect(await statuses(two.commit(how(jobs.slice(0, 20))))).toEqual(['applied'])
    expect(await statuses(one.commit(how(jobs.slice(20))))).toEqual(['applied'])
    expect(await statesOf(jobs)).toEqual(['succeeded'])
    expect(await leasesOf(jobs)).toBe(0)
  })

  it.each(WAYS)('end %s, also with others whose leases were renewed or that have ended', async (_, how) => {
    const jobs = await claimed(40)
    const { items } = await two.heartbeat(jobs.slice(0, 5).map((job) => beat(job)))
    expect(items.map(({ status }) => status)).toEqual(range(0, 5).map(() => 'renewed'))
    expect(await leasesOf(jobs), 'who lives that long will be heard of again, and so will the others').toBe(40)
    expect(await bundleOf(jobs)).toMatchObject({ open: null, low: null })
    const renewed = (await one.load(jobs.slice(0, 5).map(({ id }) => ({ id })))).items.map((item) => item?.job as Job)
    expect(await statuses(one.commit(how(jobs.slice(5, 10))))).toEqual(['applied'])
    const all = how([...renewed, ...jobs.slice(5)])
    const { verdicts } = await one.commit(all)
    expect(verdicts.map(({ status }) => status)).toEqual(
      range(0, 40).map((n) => (n >= 5 && n < 10 ? 'conflict' : 'applied')),
    )
    expect(await leasesOf(jobs)).toBe(0)
    expect(await bundleOf(jobs)).toMatchObject({ low: null, open: null })
    for (const job of [renewed[0], jobs[7], jobs[30]]) await isSound(job as Job, 'succeeded')
  })

  it.each(WAYS)('end %s beside one that was given a lease', async (_, how) => {
    const jobs = await claimed(20)
    await admin.query('select pawl.loosen($1)', [[idNumber(jobs[0]?.id ?? '')]])
    expect(await leasesOf(jobs)).toBe(1)
    expect(await statuses(one.commit(how(jobs.slice(0, 10))))).toEqual(['applied'])
    expect(await leasesOf(jobs)).toBe(0)
    expect(await bundleOf(jobs)).toMatchObject({ open: 10 })
    expect(await statuses(one.commit(how(jobs.slice(10))))).toEqual(['applied'])
    expect(await statesOf(jobs)).toEqual(['succeeded'])
  })

  it('are counted in the end, also where the bundle was somebody else’s when they ended', async () => {
    const jobs = await claimed(40)
    await admin.query('begin')
    await admin.query('select from pawl.claim where jobs @> $1 for update', [[idNumber(jobs[0]?.id ?? '')]])
    expect(await statuses(one.commit(ends(jobs)))).toEqual(['applied'])
    expect(await bundleOf(jobs)).toMatchObject({ open: 40 })
    await admin.query('commit')
    await eventually('it is counted', async () => (await bundleOf(jobs)).low === null)
    expect(await bundleOf(jobs)).toEqual({ open: null, low: null, high: null, loose: null, tick: null })
  })

  it('close their bundle when their leases end, also where nobody counted them', async () => {
    const jobs = await claimed(40)
    await one.commit(ends(jobs.slice(0, 39)))
    await one.commit([change(jobs[39] as Job, start(jobs[39] as Job), now, jobs[39]?.lease?.expiresAt)])
    const ids = [idNumber(jobs[0]?.id ?? '')]
    await admin.query(
      'update pawl.claim set open = 7, low = 1, high = 1000000, at = at - 86500000, tick = 1 where jobs @> $1',
      [ids],
    )
    await one.due(100)
    expect(await bundleOf(jobs)).toMatchObject({ open: null, low: null })
    expect(await leasesOf(jobs)).toBe(1)
  })

  it('that were shortened and purged are no more, whoever ends them again', async () => {
    const jobs = await claimed(30)
    const [first] = ends(jobs.slice(0, 1))
    await one.commit([first as never])
    const id = idNumber(jobs[0]?.id ?? '')
    const { rows } = await admin.query('select rev, events, doc from pawl.past where job = $1', [id])
    const shortened = [id, rows[0].rev, 1, rows[0].events, rows[0].doc]
    const { rows: answers } = await admin.query('select pawl.compact($1, $2, $3, $4, $5) as a', shortened)
    expect(answers).toEqual([{ a: 'a' }])
    const purge = [{ i: id, r: rows[0].rev, k: 1, z: 'S' }]
    expect(
      (await admin.query('select removed from pawl.purge($1)', [JSON.stringify(purge)])).rows[0].removed.length,
    ).toBe(1)
    expect(await statuses(one.commit([first as never]))).toEqual(['conflict'])
    expect(await bundleOf(jobs)).toMatchObject({ open: 29 })
    expect(await statesOf(jobs.slice(0, 1))).toEqual(['gone'])
    const seen = await admin.query('select count(*)::int as n from pawl.owned where id = $1', [id])
    expect(seen.rows).toEqual([{ n: 0 }])
    expect(await statuses(one.commit(ends(jobs.slice(1))))).toEqual(['applied'])
  })

  it('can be purged as soon as they have ended: nothing that is said twice brings them back', async () => {
    const jobs = await claimed(30)
    const finished = ends(jobs.slice(0, 3))
    await one.commit(finished)
    const purges = finished.map(({ after }) => ({ kind: 'purge', before: after }) as const)
    expect(await statuses(two.commit(purges))).toEqual(['applied'])
    expect(await statuses(one.commit(finished))).toEqual(['conflict'])
    expect(await statesOf(jobs.slice(0, 3))).toEqual(['gone'])
    expect(await statuses(one.commit(ends(jobs.slice(3))))).toEqual(['applied'])
    const { rows } = await admin.query('select count(*)::int as n from pawl.past where job = any($1)', [
      jobs.slice(0, 3).map(({ id }) => idNumber(id)),
    ])
    expect(rows).toEqual([{ n: 0 }])
  })

  it('are not ended by whoever names the wrong bundle, or none of theirs', async () => {
    const mine = await claimed(20)
    await enqueue(20)
    const other = await claimed(20, two)
    const { rows } = await admin.query('select id from pawl.claim where jobs @> $1', [[idNumber(mine[0]?.id ?? '')]])
    const waiting = (await one.find({ states: ['queued'], queues: [queue], order: 'oldest', limit: 100 })).jobs
    expect(waiting.length).toBe(20)
    for (const jobs of [other, waiting]) {
      const ids = `{${jobs.map(({ id }) => idNumber(id))}}`
      const words = { r: 2, v: 3, s: 24, a: now, z: 'S', p: 1, e: '[0]', c: rows[0].id }
      const items = [{ ...words, i: ids, r: jobs === other ? 3 : 2, v: 4 }]
      const answer = await admin.query(`select ended from pawl.settle_bundles($1, $2, '{3}', '{1}', '{cSS}', $3)`, [
        JSON.stringify(items),
        ids,
        `{${rows[0].id}}`,
      ])
      expect(answer.rows).toEqual([{ ended: false }])
    }
    expect(await statuses(one.commit(ends(mine)))).toEqual(['applied'])
    expect(await statuses(two.commit(ends(other)))).toEqual(['applied'])
  })
})

it('a database may have bundles of any size, which is how all of a store is proved with them', async () => {
  await using other = await freshDatabase()
  await bundleAll(other.url)
  const store = await openPostgresStore({ url: other.url, migrate: true })
  const client = new pg.Client({ connectionString: other.url })
  await client.connect()
  try {
    await store.insert([newJob(kindOf('alone'), 1, (await store.load([])).now)])
    expect((await store.claim(grantOf('alone', 1))).jobs.length).toBe(1)
    const { rows } = await client.query(
      'select (select count(*)::int from pawl.lease) as leases, (select count(*)::int from pawl.owned) as owned',
    )
    expect(rows).toEqual([{ leases: 0, owned: 1 }])
  } finally {
    await client.end()
    await store.close()
  }
})

describe('in a transaction of the caller', () => {
  it('a job of a bundle ends with it, and keeps none of the others waiting', async () => {
    const jobs = await claimed(20)
    const [inside, beside] = jobs as [Job, Job]
    const { tx, commit } = await openTransaction(database.url)
    expect(await statuses(one.commit(ends([inside]), tx))).toEqual(['applied'])
    expect((await two.heartbeat([beat(beside)])).items[0]?.status).toBe('renewed')
    expect(await statuses(one.commit(ends(jobs.slice(2))))).toEqual(['applied'])
    expect(await statesOf([inside])).toEqual(['claimed'])
    await commit()
    expect(await statesOf([inside])).toEqual(['succeeded'])
  })

  it('a rollback leaves it owned, to end with the others', async () => {
    const jobs = await claimed(20)
    const { tx, rollback } = await openTransaction(database.url)
    expect(await statuses(one.commit(ends(jobs.slice(0, 1)), tx))).toEqual(['applied'])
    await rollback()
    expect(await statuses(one.commit(ends(jobs)))).toEqual(['applied'])
    expect(await statesOf(jobs)).toEqual(['succeeded'])
  })

  it('many of a bundle part it once', async () => {
    const jobs = await claimed(60)
    partings = 0
    const transactions = await Promise.all(range(0, 5).map(() => openTransaction(database.url)))
    await Promise.all(transactions.map(({ tx }, n) => one.commit(ends(jobs.slice(n, n + 1)), tx)))
    expect(await leasesOf(jobs)).toBe(60)
    for (const { commit } of transactions) await commit()
    expect(await statesOf(jobs.slice(0, 5))).toEqual(['succeeded'])
    expect(partings).toBe(1)
  })

  it('one with an older view of things does nothing rather than something wrong, and may be repeated', async () => {
    const jobs = await claimed(20)
    const inside = [...jobs.slice(9, 11)]
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await client.query('begin isolation level repeatable read')
      await client.query('select count(*) from pawl.claim')
      await one.commit(ends(jobs.slice(0, 9)))
      await expect(one.commit(ends(inside), client)).rejects.toThrow(/READ COMMITTED/)
      await client.query('rollback')
      await client.query('begin isolation level repeatable read')
      expect(await statuses(one.commit(ends(inside), client))).toEqual(['applied'])
      await client.query('commit')
    } finally {
      await client.end()
    }
    expect(await statuses(one.commit(ends(jobs.slice(11))))).toEqual(['applied'])
    expect(await statesOf(jobs)).toEqual(['succeeded'])
  })
})

describe('all at once, from two processes', () => {
  it('ends, heartbeats, moves and ticks leave every job in exactly one place, and count it once', async () => {
    const random = seeded(7)
    const everybody: Job[] = []
    for (let round = 0; round < scaled(40, 2_000); round += 1) {
      const jobs = await claimed(64)
      everybody.push(...jobs)
      const some = (share: number) => jobs.filter(() => random() < share)
      const moves = some(0.1).map((job) => change(job, start(job), now, job.lease?.expiresAt))
      const expired = random() < 0.2
      if (expired) await admin.query('update pawl.claim set tick = 1 where jobs @> $1', [[idNumber(jobs[0]?.id ?? '')]])
      const [a, b] = await Promise.all([
        one.commit(ends(some(0.6))),
        two.commit(random() < 0.5 ? ends(some(0.3)) : differentEnds(some(0.3))),
        one.commit(moves),
        two.heartbeat(some(0.2).map((job) => beat(job))),
        two.due(10),
      ])
      for (const { verdicts } of [a, b]) {
        for (const { status } of verdicts) expect(['applied', 'conflict']).toContain(status)
      }
    }
    const ids = everybody.map(({ id }) => idNumber(id))
    const { rows } = await admin.query(
      `select places, count(*)::int as n from (
         select (count(p.ended) + count(o.id))::int as places from unnest($1::bigint[]) as u(id)
         left join (select job as ended from pawl.past where state is not null) p on p.ended = u.id
         left join pawl.owned o on o.id = u.id group by u.id
       ) as each group by places`,
      [ids],
    )
    expect(rows).toEqual([{ places: 1, n: ids.length }])
    const { rows: open } = await admin.query(
      `select count(*)::int as n from pawl.claim c where c.low is not null and c.open < (
         select count(*) from pawl.owned o where o.claim = c.id and not exists (select from pawl.lease l where l.id = o.id))`,
    )
    expect(open, 'no bundle counts fewer than it has').toEqual([{ n: 0 }])
    const walked = 'select to_jsonb(o) from pawl.owned o where o.id = any($1)'
    const lookedUp = 'select to_jsonb(o) from unnest($1::bigint[]) as u(id) cross join lateral pawl.owned_of(u.id) o'
    for (const [some, others] of [
      [walked, lookedUp],
      [lookedUp, walked],
    ] as const) {
      const { rows: different } = await admin.query(`${some} except all ${others}`, [ids])
      expect(different, 'who owns a job is the same whichever way it is asked').toEqual([])
    }
    // Whatever is left can be ended by whoever has it.
    const { items } = await one.load(everybody.map(({ id }) => ({ id })))
    const left = items.map((item) => item?.job as Job).filter(({ lease }) => lease !== undefined)
    expect(await statuses(one.commit(ends(left)))).toEqual(['applied'])
    expect(await statesOf(everybody)).toEqual(['succeeded'])
    for (const job of everybody.filter((_, n) => n % 97 === 0)) await isSound(job, 'succeeded')
    const { tally } = await one.events({ by: 'tally' })
    expect(tally.filter((each) => queue === each.queue).map(({ state, count }) => [state, count])).toEqual([
      ['succeeded', everybody.length],
    ])
  })
})

/** Its log has no gap, and its fold is the record. */
async function isSound({ id }: Job, state: string): Promise<void> {
  const { events } = await one.events({ by: 'job', id, afterRev: 0, limit: 1_000 })
  const { items } = await one.load([{ id }])
  expect(items[0]?.job.state).toBe(state)
  expect(derive(events)).toEqual(items[0]?.job)
}

it('a job that has said something is not looked for in its bundle', async () => {
  const jobs = await claimed(20)
  const talkative = jobs.slice(0, 3)
  const started = talkative.map((job) => change(job, start(job), now, job.lease?.expiresAt))
  expect(await statuses(one.commit(started))).toEqual(['applied'])
  const before = looks
  expect(await statuses(one.commit(ends(started.map(({ after }) => after))))).toEqual(['applied'])
  expect(looks).toBe(before)
  expect(await statuses(one.commit(ends(jobs.slice(3))))).toEqual(['applied'])
  expect(looks).toBe(before + 1)
  expect(await leasesOf(jobs)).toBe(0)
})
