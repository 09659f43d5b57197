import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { ClaimAnswer, Grant, Hint, NewJob, Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { startPgbouncer } from '../../support/pgbouncer.ts'
import { itPooled } from '../../support/pooled.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { claimedBy, completion, grantOf, kindOf, newJob } from './flow.ts'

let database: FreshDatabase
let admin: pg.Client
let claimer: Store
let subscription: AsyncDisposable
let producer: Store
/** How often the claimer asked the server, and what it heard. */
let trips = 0
let heard: Hint[] = []
/** Claims that still wait, to be called off after each test. */
const waiting = new Set<AbortController>()
/** Happens once, to the claimer's next claim. */
let accident: ((send: () => Promise<{ rows: unknown[] }>) => Promise<{ rows: unknown[] }>) | undefined
/** Their own clocks: they stand still unless a test moves them, so that nobody looks by itself and what is judged is judged alike. */
let claimerMs = 1_000
let producerMs = 1_000

const watched: Connect = (config) => {
  const client = connectWithPg(config)
  return {
    ...client,
    async query(question) {
      if (!question.text.includes('.claim(')) return client.query(question)
      trips += 1
      const happens = accident
      accident = undefined
      return happens === undefined ? client.query(question) : happens(() => client.query(question))
    },
  }
}

beforeAll(async () => {
  database = await freshDatabase()
  const { url } = database
  const clockOf = (monotonicMs: () => number) => ({ monotonicMs, now: monotonicMs })
  claimer = await openPostgresStore({ url, migrate: true, connect: watched, clock: clockOf(() => claimerMs) })
  producer = await openPostgresStore({ url, clock: clockOf(() => producerMs) })
  subscription = await claimer.subscribe((hint) => heard.push(hint))
  admin = new pg.Client({ connectionString: url })
  await admin.connect()
})

afterAll(async () => {
  await subscription[Symbol.asyncDispose]()
  await claimer.close()
  await producer.close()
  await admin.end()
  await database.drop()
})

let queues = 0
let queue = ''
let number = 0

beforeEach(() => {
  queues += 1
  queue = `q${queues}`
})

afterEach(async () => {
  for (const each of waiting) each.abort()
  waiting.clear()
  await admin.query('delete from pawl.parked')
})

interface Claim {
  readonly grant: Grant
  readonly answer: Promise<ClaimAnswer>
  /** Calls it off, and answers with what it was given. */
  readonly leave: () => Promise<ClaimAnswer>
}

/** A claim that waits, and is parked unless that is not expected. */
async function parked(options: Partial<Grant> = {}, store = claimer, places = 1): Promise<Claim> {
  const ends = new AbortController()
  waiting.add(ends)
  const grant = { ...grantOf(queue, 5), waitMs: 60_000, pollMs: 60_000, signal: ends.signal, ...options }
  const answer = store.claim(grant)
  answer.catch(() => {})
  await eventually('it to be parked, or not', async () => trips > 0 && (await countParked()) === places)
  heard = []
  trips = 0
  const leave = () => {
    ends.abort()
    return answer
  }
  return { grant, answer, leave }
}

async function draft(input?: string): Promise<NewJob> {
  number += 1
  return newJob(kindOf(queue), number, (await producer.load([])).now, input)
}

async function enqueue(item?: NewJob): Promise<Job> {
  // What was spent on telling is saved up again.
  producerMs += 1_000
  const made = item ?? (await draft())
  expect((await producer.insert([made])).items).toEqual([{ status: 'inserted' }])
  return made.job
}

/** Keyed jobs are inserted and given by other statements than one alone. */
const keyed = (item: NewJob): NewJob => ({ ...item, keys: [{ purpose: 'dedupe', key: queue, until: undefined }] })
const WAYS = { alone: (item: NewJob): NewJob => item, keyed }

async function connected(url = database.url): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

const toldOf = (name = queue) =>
  eventually('a hint', () => heard.some((hint) => hint.about === 'queue' && hint.queue === name))
const stateOf = async ({ id }: Job) => (await producer.load([{ id }])).items[0]?.job.state
const idsOf = ({ jobs }: ClaimAnswer) => jobs.map(({ before }) => before.id)
const countParked = async () => {
  const { rows } = await admin.query<{ n: number }>('select count(*)::int as n from pawl.parked')
  return rows[0]?.n
}

describe('what is given to a parked claim', () => {
  const texts = {
    'letters of all sorts': '"ÄÖ ẞ 漢字 🐾 e\u0301 \u2028 \u007f"',
    'quotes and backslashes': `{"a":"\\"'\\\\\\n\\u0000 $1 \\ud800"}`,
    'lone surrogates': '\ud800 and \udfff',
    'a nul': 'a\u0000b',
    'what marks it': '\u0001\u0002',
    nothing: '',
  }
  const everyText = Object.entries(WAYS).flatMap(([way, made]) =>
    Object.entries(texts).map(([name, input]) => ({ way, made, name, input })),
  )
  it.each(everyText)('arrives with the notification: $name, $way', async ({ made, input }) => {
    const { answer } = await parked()
    const job = await enqueue(made(await draft(input)))
    const { jobs, replayed } = await answer
    expect(trips).toBe(0)
    expect(jobs.map((each) => [each.before.id, each.input])).toEqual([[job.id, input]])
    expect(replayed).toBe(false)
  })

  it('is no longer than was asked for, also where it came before anybody asked', async () => {
    const job = await enqueue(await draft('x'.repeat(100)))
    const { jobs } = await claimer.claim({ ...grantOf(queue, 5), maxInputBytes: 50, waitMs: 1_000 })
    expect(jobs.map(({ before, input }) => [before.id, input])).toEqual([[job.id, undefined]])
  })

  it.each([
    ['letters', 'x'.repeat(9_000)],
    ['bytes', `"${'é'.repeat(4_500)}"`],
  ])(
    'has its input fetched, and nothing asked again, where that is too long for a notification: %s',
    async (_, input) => {
      const { answer } = await parked()
      const job = await enqueue(await draft(input))
      const { jobs } = await answer
      expect([trips, jobs.map((each) => [each.before.id, each.input === input])]).toEqual([0, [[job.id, true]]])
    },
  )

  it.each([
    ['escapes', '\\'.repeat(4_500)],
    ['worse', '\u0002'.repeat(2_000)],
  ])('arrives by asking where all of it is too long for a notification: %s', async (_, input) => {
    const { answer } = await parked()
    const job = await enqueue(await draft(input))
    expect(await stateOf(job)).toBe('claimed')
    const { jobs, replayed } = await answer
    expect(trips).toBe(1)
    expect(jobs.map((each) => each.input === input)).toEqual([true])
    expect(replayed).toBe(false)
  })

  it('arrives by asking where the clock was not understood well enough', async () => {
    accident = async (send) => {
      const answer = await send()
      claimerMs += 40
      return answer
    }
    const well = await parked()
    await enqueue()
    expect((await well.answer).jobs.length).toBe(1)
    expect(trips).toBe(0)

    accident = async (send) => {
      const answer = await send()
      claimerMs += 60
      return answer
    }
    const badly = await parked()
    await enqueue()
    expect((await badly.answer).jobs.length).toBe(1)
    expect(trips).toBe(1)
  })

  it('is seen for the first time where it came before the answer that parked the claim, which took long', async () => {
    let job: Job | undefined
    accident = async (send) => {
      const answer = await send()
      job = await enqueue()
      // What is said later is heard later: then it has heard of the job, too.
      const mine = queue
      queue += 'later'
      await enqueue()
      await toldOf()
      queue = mine
      claimerMs += 60
      return answer
    }
    trips = 0
    const answer = await claimer.claim({ ...grantOf(queue, 5), waitMs: 60_000, pollMs: 60_000 })
    expect([idsOf(answer), answer.replayed, trips]).toEqual([[job?.id], false, 2])
  })

  it('is fenced as it says: it can be renewed and completed', async () => {
    const { grant, answer } = await parked()
    const job = await enqueue()
    expect(await countParked(), 'it is parked no more').toBe(0)
    const { now, jobs } = await answer
    const [claimed] = jobs
    if (claimed === undefined) throw new Error('it was given')
    const record = claimedBy(claimed, grant)
    expect((await producer.load([{ id: job.id }])).items[0]?.job).toEqual(record)
    const fence = record.lease?.fence ?? ''
    expect((await claimer.heartbeat([{ id: job.id, fence, requestId: 'beat' }])).items[0]?.status).toBe('renewed')
    const renewed = (await claimer.load([{ id: job.id }])).items[0]?.job as Job
    expect((await claimer.commit([completion(renewed, now)])).verdicts).toEqual([{ status: 'applied' }])
  })

  it('may be asked for by a worker whose name is too long for an index', async () => {
    const workerId = `w${'ü'.repeat(3_000)}`
    const { grant, answer } = await parked({ workerId, actor: `worker:${workerId}`, requestId: `${workerId}/claim/1` })
    const job = await enqueue()
    expect(await stateOf(job)).toBe('claimed')
    expect(idsOf(await answer)).toEqual([job.id])
    expect(await claimer.claim({ ...grant, waitMs: 0 })).toMatchObject({ replayed: true })
    const { items } = await producer.load([{ id: job.id, requestId: grant.requestId }])
    expect(items[0]?.job.owner?.workerId).toBe(workerId)
    expect(items[0]?.caused.map(({ type }) => type)).toEqual(['claimed'])
  })
})

describe('a parked claim is answered', () => {
  it('alike, whatever way the job came', async () => {
    const left = async (made: (item: NewJob) => NewJob) => {
      const { answer } = await parked()
      const item = made(await draft('{"some":"input"}'))
      await enqueue(item)
      await answer
      const { rows } = await admin.query(LEFT_BY, [number])
      const { events } = await producer.events({ by: 'job', id: item.job.id, afterRev: 0, limit: 10 })
      queues += 1
      queue = `q${queues}`
      return { rows, events: events.map(({ rev, type, actor }) => [rev, type, actor]) }
    }
    const alone = await left(WAYS.alone)
    expect(alone.events).toEqual([
      [1, 'enqueued', 'producer'],
      [2, 'claimed', 'worker:w1'],
    ])
    expect(alone.rows.length).toBe(2)
    expect(await left(keyed)).toEqual(alone)
  })

  it('once under one request, and never while its queue is paused', async () => {
    const first = await parked()
    await admin.query('update pawl.queue set paused = true where name = $1', [queue])
    const job = await enqueue()
    expect([await stateOf(job), await countParked()]).toEqual(['queued', 1])
    expect((await first.leave()).jobs).toEqual([])

    queue += 'b'
    // It was answered on a connection that was given up, after it had been parked by another.
    const second = await parked()
    await admin.query(
      `insert into pawl.claim (request, worker, actor, nonce, at, refs, jobs) select request, worker, actor, nonce, pawl.clock(), 1, '{1}'
       from pawl.parked`,
    )
    expect(await stateOf(await enqueue())).toBe('queued')
    expect((await second.leave()).jobs).toEqual([])
  })

  it('only where it is parked for the lane, and as long as it said', async () => {
    const { leave } = await parked()
    const mine = queue
    queue += 'b'
    expect(await stateOf(await enqueue())).toBe('queued')
    queue = mine
    // By the producer's clock, which is ahead.
    const tomorrow = newJob(kindOf(queue), 500_000, (await producer.load([])).now + 86_400_000)
    expect(await stateOf(await enqueue(tomorrow)), 'not before it is ready').toBe('queued')
    await leave()

    const late = await parked()
    await admin.query('update pawl.parked set until = pawl.clock() - 1')
    const job = await enqueue()
    expect(idsOf(await late.answer), 'by the hint, then').toEqual([job.id])
    expect(trips).toBeGreaterThan(0)
  })

  it('without keeping back what was to be said of other queues', async () => {
    const { answer } = await parked()
    const mine = queue
    // So much that it is told of a moment later, which is when the commit of something else takes the words along.
    queue += 'much'
    await producer.insert(await Promise.all(Array.from({ length: 200 }, () => draft())))
    const more = await Promise.all(Array.from({ length: 10 }, () => draft()))
    queue = `${mine}other`
    await producer.insert([await draft(), ...more])
    const other = queue
    queue = mine
    const next = await draft()
    heard = []
    producerMs += 1_000
    expect((await producer.insert([next])).items).toEqual([{ status: 'inserted' }])
    expect(await stateOf(next.job)).toBe('claimed')
    await toldOf(other)
    await answer
  })

  it('by few at a time: who brings many does not even keep others from it', async () => {
    const { answer } = await parked()
    const { rows } = await admin.query('select lanes[1] as lane from pawl.parked')
    await using many = await connected()
    await many.query('begin')
    const born = `{${Array.from({ length: 17 }, (_, i) => 700_000_000 + i)}}`
    await many.query(`select pawl.offer($1, $2, 'nobody', '{}', null)`, [rows[0].lane, born])
    expect(await stateOf(await enqueue())).toBe('claimed')
    await many.query('rollback')
    await answer
  })

  it('without keeping back what was to be said of jobs that have ended', async () => {
    const { grant, answer } = await parked()
    const first = await enqueue()
    const [claimed] = (await answer).jobs
    if (claimed === undefined) throw new Error('it was given')
    const next = await parked()
    const over = completion(claimedBy(claimed, grant), (await producer.load([])).now)
    expect((await producer.commit([over])).verdicts).toEqual([{ status: 'applied' }])
    expect(await stateOf(await enqueue())).toBe('claimed')
    await eventually('to hear of the end', () => heard.some((hint) => hint.about === 'job' && hint.id === first.id))
    await next.answer
  })

  it('by keyed jobs, too, but not by one that exists', async () => {
    const keys = [{ purpose: 'dedupe', key: queue, until: undefined } as const]
    const first = await parked()
    const job = await enqueue({ ...(await draft()), keys })
    expect(idsOf(await first.answer)).toEqual([job.id])

    const second = await parked()
    producerMs += 1_000
    const { items } = await producer.insert([{ ...(await draft()), keys }])
    expect(items[0]).toMatchObject({ status: 'exists', by: 'dedupe' })
    const next = await enqueue()
    expect(await stateOf(next)).toBe('claimed')
    expect(idsOf(await second.answer)).toEqual([next.id])
  })

  it('a moment later with what a caller enqueued in a transaction of its own', async () => {
    const { answer } = await parked()
    await admin.query('begin')
    const item = await draft()
    await producer.insert([item], admin)
    await admin.query('commit')
    expect(idsOf(await answer)).toEqual([item.job.id])
  })

  it('with all there are, where many are waiting, and then nobody else is told', async () => {
    const { answer } = await parked({ limit: 64 })
    const items = await Promise.all(Array.from({ length: 20 }, () => draft()))
    await admin.query('begin')
    await producer.insert(items, admin)
    const { rows } = await admin.query(
      `select pawl.offer(lane, array[id], 'nobody', '{}', null) as given from pawl.job where id = $1`,
      [number],
    )
    await admin.query('commit')
    expect(rows).toEqual([{ given: true }])
    expect(idsOf(await answer).toSorted()).toEqual(items.map(({ job }) => job.id).toSorted())
  })
})

describe('a process that has parked a claim is answered', () => {
  it('before it can leave, if somebody is answering it just now', async () => {
    const { leave } = await parked()
    const { rows } = await admin.query('select lanes[1] as lane from pawl.parked')
    await admin.query('begin')
    const item = await draft()
    await producer.insert([item], admin)
    await admin.query(`select pawl.offer($1, $2, 'nobody', '{}', null)`, [rows[0].lane, [number]])
    const answer = leave()
    await eventually('it to wait', async () => {
      // Here: others are at work on this server.
      const locks = await admin.query(
        'select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()',
      )
      return locks.rows.length > 0
    })
    await admin.query('commit')
    expect(idsOf(await answer)).toEqual([item.job.id])
    expect(await answer).toMatchObject({ replayed: false })
  })

  it('no more once it has left, also where it was parked twice because an answer was lost', async () => {
    const lose = async (send: () => Promise<unknown>): Promise<never> => {
      await send()
      throw Object.assign(new Error('injected'), { code: '08006' })
    }
    accident = lose
    const { leave } = await parked()
    accident = lose
    expect((await leave()).jobs, 'asked for the last time, and lost again').toEqual([])
    expect(await countParked()).toBe(0)
    const job = await enqueue()
    expect(await stateOf(job)).toBe('queued')
  })

  it('only while it listens', async () => {
    const listeners = async () => {
      const { rows } = await admin.query<{ pid: number }>(
        `select l.pid from pg_locks l join pg_database d on d.oid = l.database
         where l.locktype = 'advisory' and l.mode = 'ExclusiveLock' and d.datname = current_database()`,
      )
      return rows.map(({ pid }) => pid)
    }
    const before = await listeners()
    const clock = { monotonicMs: () => 1_000, now: () => 1_000 }
    const leaver = await openPostgresStore({ url: database.url, connect: watched, clock })
    await using _subscription = await leaver.subscribe(() => {})
    const [pid] = (await listeners()).filter((each) => !before.includes(each))
    const { answer } = await parked({}, leaver)
    await admin.query('select pg_terminate_backend($1, 10000)', [pid])
    const job = await enqueue()
    expect(await stateOf(job)).toBe('queued')
    // It looks again once it listens again, since it may have missed something.
    expect(idsOf(await answer)).toEqual([job.id])
    await eventually('it to be parked again, and given something', async () => {
      const again = leaver.claim({ ...grantOf(queue, 5), waitMs: 60_000, pollMs: 60_000 })
      await eventually('it to have asked', async () => (await countParked()) === 1).catch(() => {})
      const next = await enqueue()
      const state = await stateOf(next)
      expect(idsOf(await again)).toEqual([next.id])
      return state === 'claimed'
    })
    await leaver.close()
  })

  itPooled('behind a pooler only if it can listen past it', async () => {
    await using pooler = await startPgbouncer(database.url)
    const { url } = pooler
    const blind = await openPostgresStore({ url, connect: watched })
    const waits = await parked({ pollMs: 200 }, blind, 0)
    const queued = await enqueue()
    expect(await stateOf(queued)).toBe('queued')
    expect(idsOf(await waits.answer), 'it looks by itself').toEqual([queued.id])

    const seeing = await openPostgresStore({ url, directUrl: database.url, connect: watched })
    await using _seeing = await seeing.subscribe(() => {})
    const { answer } = await parked({}, seeing)
    const job = await enqueue()
    expect(await stateOf(job)).toBe('claimed')
    expect(idsOf(await answer)).toEqual([job.id])
    await blind.close()
    await seeing.close()
  })

  it('by whoever is in the role of the installation, who cannot read what is parked', async () => {
    const url = new URL(database.url)
    url.username = `waiting_${admin.database}`
    await admin.query(`create role ${url.username} login in role pawl_app_${admin.database}`)
    const store = await openPostgresStore({ url: url.href, connect: watched })
    await using _subscription = await store.subscribe(() => {})
    const { answer } = await parked({}, store)
    const item = await draft()
    await store.insert([item])
    expect(idsOf(await answer)).toEqual([item.job.id])
    await store.close()
    await using app = await connected(url.href)
    for (const name of ['pawl.parked', 'pawl.parked_number']) {
      await expect(app.query(`select * from ${name}`), name).rejects.toMatchObject({ code: '42501' })
    }
  })

  it('for so many claims at a time; others wait for hints', async () => {
    const claims: Claim[] = []
    for (let n = 1; n <= 18; n += 1) claims.push(await parked({ limit: 1 }, claimer, Math.min(n, 16)))
    const jobs: Job[] = []
    for (const _ of claims) jobs.push(await enqueue())
    const given = (await Promise.all(claims.map(({ answer }) => answer))).flatMap(idsOf)
    expect(given.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted())
  })
})

describe('the table of parked claims', () => {
  it('is swept of those whose time is over', async () => {
    const { grant } = await parked()
    await admin.query(`insert into pawl.parked (request, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
      select 'over', worker, actor, nonce, lanes, wanted, max_bytes, pawl.clock() - 1, channel from pawl.parked`)
    await admin.query('select pawl.trim_feed(0, 100)')
    const { rows } = await admin.query('select request from pawl.parked')
    expect(rows).toEqual([{ request: grant.requestId }])
  })

  it('is read a bounded part of, whatever was parked while somebody holds a snapshot', async () => {
    await admin.query('alter table pawl.parked set (autovacuum_enabled = off)')
    await using holder = await connected()
    await holder.query('begin isolation level repeatable read')
    await holder.query('select 1 from pawl.job limit 1')
    await admin.query(`insert into pawl.parked (request, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
      select 'r' || n, 'w', 'a', 'n', '{7}', 1, 1, pawl.clock() + 60000, 'c' from generate_series(1, 20000) as n`)
    await admin.query('delete from pawl.parked')
    const plans: string[] = []
    await using client = await connected()
    client.on('notice', ({ message }) => plans.push(message ?? ''))
    await client.query(`load 'auto_explain'`)
    const settings = { log_min_duration: '0', log_nested_statements: 'on', log_analyze: 'on', log_buffers: 'on' }
    for (const [name, value] of Object.entries(settings)) await client.query(`set auto_explain.${name} = '${value}'`)
    await client.query('set client_min_messages = log')
    for (let round = 0; round < 7; round += 1) {
      plans.length = 0
      await client.query(`select pawl.offer(7, '{1}', 'nobody', '{}', null)`)
      const plan = plans.find((each) => each.includes('on parked p')) ?? ''
      expect(plan).toMatch(/Index Scan Backward using parked_pkey on parked[^\n]*\n\s*Index Cond/)
      expect(plan).not.toMatch(/Seq Scan on parked p|Sort|Bitmap/)
      expect(plans.join()).not.toMatch(/Seq Scan on (ready|claim|queue)/)
      const [, hit, read = 0] = /^ {2}Buffers: shared hit=(\d+)(?: read=(\d+))?/m.exec(plan) ?? []
      expect(Number(hit) + Number(read)).toBeGreaterThan(0)
      expect(Number(hit) + Number(read)).toBeLessThan(40)
    }
    const { answer } = await parked()
    const job = await enqueue()
    expect(await stateOf(job), 'and whoever is parked now is found').toBe('claimed')
    await answer
  })
})

describe('words of strangers', () => {
  it('are no hints, and do no harm', async () => {
    const { answer } = await parked()
    const { rows } = await admin.query('select channel from pawl.parked')
    const everybody = `pawl_${createHash('sha256').update('pawl').digest('hex').slice(0, 16)}`
    const garbage = ['', 'x', '{', 'null', '5', '[]', '"q"', '{"q":5}', '{"q":[5]}', '{"q":[["t"]]}', '{"q":[[1,2]]}']
    const more = ['{"q":"ab"}', '{"j":["x"]}', '{"j":[-1]}', '{"j":{}}', '{"s":{},"a":2}', '["nobody"]', '[null,[]]']
    for (const words of [...garbage, ...more]) {
      await admin.query('select pg_notify($1, $2), pg_notify($3, $2)', [everybody, words, rows[0].channel])
    }
    const last = { q: [['t', 'the last']] }
    await admin.query('select pg_notify($1, $2)', [everybody, JSON.stringify(last)])
    await toldOf('the last')
    expect(heard).toEqual([{ about: 'queue', tenant: 't', queue: 'the last' }])
    const job = await enqueue()
    expect(idsOf(await answer)).toEqual([job.id])
    expect(trips).toBe(0)
  })
})

/** What there is of a job that was given, but for its own numbers and the time: its rows, once for each of its commits. */
const LEFT_BY = `
  select l.rev, l.step, l.tick, l.again, l.doc, l.beat, l.expires_at - c.at as lease_ms, c.tick - c.at as tick_ms, c.refs,
    c.jobs = array[j.id] as alone, c.low, c.worker, c.request_words, e.claim = c.id as claims, e.jobs = array[j.id] as born,
    e.revs, e.shapes, e.void, j.input, j.head, j.correlation, j.marks, e.kinds = array[j.kind] as kinds,
    exists (select from pawl.ready r where r.id = j.id) as ready
  from pawl.job j join pawl.lease l using (id) join pawl.claim c on c.id = l.claim
  join pawl.entry e on e.claim = c.id or e.jobs @> array[j.id] where j.id = $1 order by e.id`
