import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/client.ts'
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
/** Happens once, to the claimer's next claim. */
let accident: ((send: () => Promise<{ rows: unknown[] }>) => Promise<{ rows: unknown[] }>) | undefined
/** Their own clocks: they stand still unless a test moves them, so that what is judged by them is always judged alike. */
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
  await admin.query('delete from pawl.standing')
})

async function stood(options: Partial<Grant> = {}, store = claimer): Promise<Grant> {
  const grant = { ...grantOf(queue, 5), stand: { ms: 30_000, limit: 5 }, ...options }
  expect((await store.claim(grant)).jobs).toEqual([])
  heard = []
  trips = 0
  return grant
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
const asked = (grant: Grant, store = claimer): Promise<ClaimAnswer> =>
  store.claim({ ...grant, nonce: '00000000000000ff', stand: undefined, limit: 0 })
const stateOf = async ({ id }: Job) => (await producer.load([{ id }])).items[0]?.job.state
const idsOf = ({ jobs }: ClaimAnswer) => jobs.map(({ before }) => before.id)
const countStanding = async () => {
  const { rows } = await admin.query<{ n: number }>('select count(*)::int as n from pawl.standing')
  return rows[0]?.n
}

describe('what is given to a claim that stands', () => {
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
  it.each(everyText)('arrives with the words that tell of it: $name, $way', async ({ made, input }) => {
    const grant = await stood()
    const job = await enqueue(made(await draft(input)))
    await toldOf()
    const answer = await asked(grant)
    expect(trips).toBe(0)
    expect(answer.jobs.map((each) => [each.before.id, each.input])).toEqual([[job.id, input]])
    expect([answer.nonce, answer.replayed]).toEqual([grant.nonce, false])
  })

  it('is no longer than was asked for, also where it came before anybody asked', async () => {
    const job = await enqueue(await draft('x'.repeat(100)))
    const { jobs } = await claimer.claim({ ...grantOf(queue, 5), maxInputBytes: 50 })
    expect(jobs.map(({ before, input }) => [before.id, input])).toEqual([[job.id, undefined]])
  })

  it.each([
    ['letters', 'x'.repeat(9_000)],
    ['bytes', `"${'é'.repeat(4_500)}"`],
  ])('arrives without its input where that is too long to be told: %s', async (_, input) => {
    const grant = await stood()
    const job = await enqueue(await draft(input))
    await toldOf()
    const answer = await asked(grant)
    expect([trips, answer.jobs.map((each) => [each.before.id, each.input])]).toEqual([0, [[job.id, undefined]]])
    const { items } = await claimer.load([{ id: job.id, bodies: ['input'] }])
    expect(items[0]?.bodies['input'] === input).toBe(true)
  })

  it.each([
    ['escapes', '\\'.repeat(4_500)],
    ['worse', '\u0002'.repeat(2_000)],
  ])('arrives by asking where it is too long to be told: %s', async (_, input) => {
    const grant = await stood()
    const job = await enqueue(await draft(input))
    expect(await stateOf(job)).toBe('claimed')
    await toldOf()
    const answer = await asked(grant)
    expect(trips).toBe(1)
    expect(answer.jobs.map((each) => each.input === input)).toEqual([true])
    expect([answer.nonce, answer.replayed]).toEqual([grant.nonce, false])
  })

  it('arrives by asking where the clock was not understood well enough, or it has been lying about', async () => {
    accident = async (send) => {
      const answer = await send()
      claimerMs += 60
      return answer
    }
    const grant = await stood()
    await enqueue()
    await toldOf()
    expect((await asked(grant)).jobs.length).toBe(1)
    expect(trips).toBe(1)

    const other = await stood()
    await enqueue()
    await toldOf()
    claimerMs += 1_000
    expect((await asked(other)).jobs.length).toBe(1)
    expect(trips).toBe(1)
  })

  it('is seen for the first time where it came before the word that it stands, which took long', async () => {
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
    const answer = await claimer.claim({ ...grantOf(queue, 5), stand: { ms: 30_000, limit: 5 } })
    expect([idsOf(answer), answer.replayed, trips]).toEqual([[job?.id], false, 2])
  })

  it('is fenced as it says: it can be renewed and completed', async () => {
    const grant = await stood()
    const job = await enqueue()
    expect(await countStanding(), 'it stands no more').toBe(0)
    await toldOf()
    const answer = await asked(grant)
    const given = { ...grant, nonce: answer.nonce ?? '' }
    const [claimed] = answer.jobs
    if (claimed === undefined) throw new Error('it was given')
    const record = claimedBy(claimed, given)
    expect((await producer.load([{ id: job.id }])).items[0]?.job).toEqual(record)
    const fence = record.lease?.fence ?? ''
    expect((await claimer.heartbeat([{ id: job.id, fence, requestId: 'beat' }])).items[0]?.status).toBe('renewed')
    const renewed = (await claimer.load([{ id: job.id }])).items[0]?.job as Job
    expect((await claimer.commit([completion(renewed, answer.now)])).verdicts).toEqual([{ status: 'applied' }])
  })

  it('may be asked for by a worker whose name is too long for an index', async () => {
    const workerId = `w${'ü'.repeat(3_000)}`
    const grant = await stood({ workerId, actor: `worker:${workerId}`, requestId: `${workerId}/claim/1` })
    const job = await enqueue()
    expect(await stateOf(job)).toBe('claimed')
    await toldOf()
    expect(idsOf(await asked(grant))).toEqual([job.id])
    expect(await asked(grant)).toMatchObject({ replayed: true, nonce: grant.nonce })
    const { items } = await producer.load([{ id: job.id, requestId: grant.requestId }])
    expect(items[0]?.job.owner?.workerId).toBe(workerId)
    expect(items[0]?.caused.map(({ type }) => type)).toEqual(['claimed'])
  })
})

describe('a claim that stands is answered', () => {
  it('alike, whatever way the job came', async () => {
    const left = async (made: (item: NewJob) => NewJob) => {
      await stood()
      const item = made(await draft('{"some":"input"}'))
      await enqueue(item)
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

  it('not where its queue is paused, and not twice under one request', async () => {
    const grant = await stood()
    await admin.query('update pawl.queue set paused = true where name = $1', [queue])
    const first = await enqueue()
    expect([await stateOf(first), await countStanding()]).toEqual(['queued', 1])
    expect((await asked(grant)).jobs).toEqual([])

    queue += 'a'
    await stood({ stand: { ms: 30_000, limit: 0 } })
    expect(await stateOf(await enqueue()), 'who wants none is given none').toBe('queued')
    await admin.query('delete from pawl.standing')

    queue += 'b'
    // It was answered on a connection that was given up, after it had been asked to stand on another.
    const other = await stood()
    await admin.query(
      `insert into pawl.claim (request, worker, actor, nonce, at, refs, jobs) select request, worker, actor, nonce, pawl.clock(), 1, '{1}'
       from pawl.standing`,
    )
    const lastNumber = async () => (await admin.query('select last_value from pawl.claim_id_seq')).rows
    const before = await lastNumber()
    const second = await enqueue()
    expect(await lastNumber(), 'no claim was tried that had to fail').toEqual(before)
    expect(await stateOf(second)).toBe('queued')
    expect((await asked(other)).jobs).toEqual([])
  })

  it('only where it stands for the lane, and as long as it said', async () => {
    const grant = await stood()
    const mine = queue
    queue += 'b'
    expect(await stateOf(await enqueue())).toBe('queued')
    queue = mine
    // By the producer's clock, which is ahead.
    const tomorrow = newJob(kindOf(queue), 500_000, (await producer.load([])).now + 86_400_000)
    expect(await stateOf(await enqueue(tomorrow)), 'not before it is ready').toBe('queued')
    await admin.query('update pawl.standing set until = pawl.clock() - 1')
    expect(await stateOf(await enqueue())).toBe('queued')
    await asked(grant)
  })

  it('and what was to be said of other queues is said all the same', async () => {
    const grant = await stood()
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
    await asked(grant)
  })

  it('by few at a time: who brings many does not even keep others from it', async () => {
    const grant = await stood()
    const { rows } = await admin.query('select lanes[1] as lane from pawl.standing')
    await using many = await connected()
    await many.query('begin')
    const born = `{${Array.from({ length: 17 }, (_, i) => 700_000_000 + i)}}`
    await many.query(`select pawl.offer($1, $2, 'nobody', '{}', null)`, [rows[0].lane, born])
    expect(await stateOf(await enqueue())).toBe('claimed')
    await many.query('rollback')
    await asked(grant)
  })

  it('and what was to be said besides is said all the same', async () => {
    const grant = await stood()
    const first = await enqueue()
    await toldOf()
    const [claimed] = (await asked(grant)).jobs
    if (claimed === undefined) throw new Error('it was given')
    const next = await stood()
    const over = completion(claimedBy(claimed, grant), (await producer.load([])).now)
    expect((await producer.commit([over])).verdicts).toEqual([{ status: 'applied' }])
    expect(await stateOf(await enqueue())).toBe('claimed')
    await eventually('to hear of the end', () => heard.some((hint) => hint.about === 'job' && hint.id === first.id))
    await asked(next)
  })

  it('by keyed jobs, too, but not by one that exists', async () => {
    const keys = [{ purpose: 'dedupe', key: queue, until: undefined } as const]
    const first = await stood()
    const job = await enqueue({ ...(await draft()), keys })
    await toldOf()
    expect(idsOf(await asked(first))).toEqual([job.id])

    const second = await stood()
    producerMs += 1_000
    const { items } = await producer.insert([{ ...(await draft()), keys }])
    expect(items[0]).toMatchObject({ status: 'exists', by: 'dedupe' })
    const next = await enqueue()
    expect(await stateOf(next)).toBe('claimed')
    expect(idsOf(await asked(second))).toEqual([next.id])
  })

  it('not by what a caller enqueues in a transaction of its own', async () => {
    const grant = await stood()
    await admin.query('begin')
    const item = await draft()
    await producer.insert([item], admin)
    await admin.query('commit')
    expect(await stateOf(item.job)).toBe('queued')
    const next = await enqueue()
    expect(idsOf(await asked(grant)), 'the older first').toEqual([item.job.id, next.id])
  })

  it('with all there are, where many are waiting, and then nobody else is told', async () => {
    const grant = await stood({ stand: { ms: 30_000, limit: 64 } })
    const items = await Promise.all(Array.from({ length: 20 }, () => draft()))
    await admin.query('begin')
    await producer.insert(items, admin)
    const { rows } = await admin.query(
      `select pawl.offer(lane, array[id], 'nobody', '{}', null) as given from pawl.job where id = $1`,
      [number],
    )
    await admin.query('commit')
    expect(rows).toEqual([{ given: true }])
    await toldOf()
    expect(idsOf(await asked(grant)).toSorted()).toEqual(items.map(({ job }) => job.id).toSorted())
    expect(trips).toBe(0)
  })

  it('before it can sit down, if somebody is answering it just now', async () => {
    const grant = await stood()
    const { rows } = await admin.query('select lanes[1] as lane from pawl.standing')
    await admin.query('begin')
    const item = await draft()
    await producer.insert([item], admin)
    await admin.query(`select pawl.offer($1, $2, 'nobody', '{}', null)`, [rows[0].lane, [number]])
    const answer = asked(grant)
    await eventually('it to wait', async () => {
      // Here: others are at work on this server.
      const waiting = await admin.query(
        'select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()',
      )
      return waiting.rows.length > 0
    })
    await admin.query('commit')
    expect(idsOf(await answer)).toEqual([item.job.id])
    expect(await answer).toMatchObject({ replayed: false, nonce: grant.nonce })
  })

  it('not once it sat down, also where it stands twice because an answer was lost', async () => {
    accident = async (send) => {
      await send()
      throw Object.assign(new Error('injected'), { code: '08006' })
    }
    const grant = await stood()
    expect(await countStanding()).toBe(1)
    accident = async (send) => {
      await send()
      throw Object.assign(new Error('injected'), { code: '08006' })
    }
    expect((await claimer.claim(grant)).jobs, 'asked again, and lost again').toEqual([])
    expect((await asked(grant)).jobs).toEqual([])
    expect(await countStanding()).toBe(0)
    const job = await enqueue()
    expect(await stateOf(job)).toBe('queued')
  })

  it('only while its process listens', async () => {
    const listeners = async () => {
      const { rows } = await admin.query<{ pid: number }>(
        `select l.pid from pg_locks l join pg_database d on d.oid = l.database
         where l.locktype = 'advisory' and l.mode = 'ExclusiveLock' and d.datname = current_database()`,
      )
      return rows.map(({ pid }) => pid)
    }
    const before = await listeners()
    const leaver = await openPostgresStore({ url: database.url })
    await using _subscription = await leaver.subscribe(() => {})
    const [pid] = (await listeners()).filter((each) => !before.includes(each))
    const grant = await stood({}, leaver)
    await admin.query('select pg_terminate_backend($1, 10000)', [pid])
    const job = await enqueue()
    expect(await stateOf(job)).toBe('queued')
    await toldOf()
    expect(idsOf(await claimer.claim(grantOf(queue, 5)))).toEqual([job.id])
    expect((await asked(grant, leaver)).jobs).toEqual([])
    await eventually('it to listen again, and be given something', async () => {
      const again = await stood({}, leaver)
      const next = await enqueue()
      const state = await stateOf(next)
      expect(idsOf(await leaver.claim(again))).toEqual([next.id])
      return state === 'claimed'
    })
    await leaver.close()
  })

  itPooled('not at all behind a pooler, unless its process can listen past it', async () => {
    await using pooler = await startPgbouncer(database.url)
    const { url } = pooler
    const blind = await openPostgresStore({ url })
    await using _blind = await blind.subscribe(() => {})
    await stood({}, blind)
    expect(await countStanding()).toBe(0)
    const queued = await enqueue()
    expect(await stateOf(queued)).toBe('queued')
    await blind.claim(grantOf(queue, 5))

    const seeing = await openPostgresStore({ url, directUrl: database.url })
    let told = false
    await using _seeing = await seeing.subscribe(() => {
      told = true
    })
    const grant = await stood({}, seeing)
    const job = await enqueue()
    expect(await stateOf(job)).toBe('claimed')
    await eventually('a hint', () => told)
    expect(idsOf(await asked(grant, seeing))).toEqual([job.id])
    await blind.close()
    await seeing.close()
  })

  it('by whoever is in the role of the installation, who cannot read who stands', async () => {
    const url = new URL(database.url)
    url.username = `standing_${admin.database}`
    await admin.query(`create role ${url.username} login in role pawl_app_${admin.database}`)
    const store = await openPostgresStore({ url: url.href })
    await using _subscription = await store.subscribe(() => {})
    const grant = await stood({}, store)
    const item = await draft()
    await store.insert([item])
    expect(await stateOf(item.job)).toBe('claimed')
    expect(idsOf(await asked(grant, store))).toEqual([item.job.id])
    await store.close()
    await using app = await connected(url.href)
    for (const name of ['pawl.standing', 'pawl.standing_number']) {
      await expect(app.query(`select * from ${name}`), name).rejects.toMatchObject({ code: '42501' })
    }
  })
})

describe('the table of standing claims', () => {
  it('is swept of those whose time is over', async () => {
    await stood({ stand: { ms: 1, limit: 5 } })
    await stood()
    expect(await countStanding()).toBe(2)
    await eventually('the first to be over, and swept', async () => {
      await admin.query('select pawl.trim_feed(0, 1)')
      return (await countStanding()) === 1
    })
    await admin.query('select pawl.trim_feed(0, 1)')
    expect(await countStanding()).toBe(1)
  })

  it.each([
    ['offer', () => `select pawl.offer(7, '{1}', 'nobody', '{}', null)`],
    [
      'insert_one',
      (n: number) =>
        `select pawl.insert_one(${900_000_000 + n}, '', '', 1, 1, 7, 1, null, null, '-eq', 'nobody', '{}', null)`,
    ],
  ])('is read a bounded part of, whatever stood while somebody holds a snapshot: %s', async (_, call) => {
    await admin.query('alter table pawl.standing set (autovacuum_enabled = off)')
    await using holder = await connected()
    await holder.query('begin isolation level repeatable read')
    await holder.query('select 1 from pawl.job limit 1')
    await admin.query(`insert into pawl.standing (request, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
      select 'r' || n, 'w', 'a', 'n', '{7}', 1, 1, pawl.clock() + 60000, 'c' from generate_series(1, 20000) as n`)
    await admin.query('delete from pawl.standing')
    const plans: string[] = []
    await using client = await connected()
    client.on('notice', ({ message }) => plans.push(message ?? ''))
    await client.query(`load 'auto_explain'`)
    const settings = { log_min_duration: '0', log_nested_statements: 'on', log_analyze: 'on', log_buffers: 'on' }
    for (const [name, value] of Object.entries(settings)) await client.query(`set auto_explain.${name} = '${value}'`)
    await client.query('set client_min_messages = log')
    for (let round = 0; round < 7; round += 1) {
      plans.length = 0
      await client.query(call(round))
      const plan = plans.find((each) => each.includes('on standing s')) ?? ''
      expect(plan).toMatch(/Index Scan Backward using standing_pkey on standing[^\n]*\n\s*Index Cond/)
      expect(plan).not.toMatch(/Seq Scan on standing s|Sort|Bitmap/)
      expect(plans.join()).not.toMatch(/Seq Scan on (ready|claim|queue)/)
      const [, hit, read = 0] = /^ {2}Buffers: shared hit=(\d+)(?: read=(\d+))?/m.exec(plan) ?? []
      expect(Number(hit) + Number(read)).toBeGreaterThan(0)
      expect(Number(hit) + Number(read)).toBeLessThan(40)
    }
    const grant = await stood()
    const job = await enqueue()
    expect(await stateOf(job), 'and whoever stands now is found').toBe('claimed')
    await asked(grant)
  })
})

describe('words of strangers', () => {
  it('are no hints, and do no harm', async () => {
    const grant = await stood()
    const { rows } = await admin.query('select channel from pawl.standing')
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
    await toldOf()
    expect(idsOf(await asked(grant))).toEqual([job.id])
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
