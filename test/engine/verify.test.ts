import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Discrepancy } from '../../src/engine/discrepancy.ts'
import { aesGcm, defineSpec, type Pawl } from '../../src/index.ts'
import { EVERYWHERE } from '../library/placed.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES, type Place, STORES } from './opened.ts'

const work = defineSpec({ type: 'work', retry: { attempts: 2, jitter: 'none', base: 1 } })

/** One job that succeeded at the second attempt, one dead letter, one queued with an alias, one running. */
async function lives(pawl: Pawl): Promise<void> {
  const lanes = [{ tenant: 'default', queue: 'default', priority: 5 }]
  const next = async () => {
    const requestId = crypto.randomUUID()
    const claimed = await eventually('a job to claim', () =>
      pawl.contract.claimNext({ workerId: 'w', lanes, requestId: crypto.randomUUID() }),
    )
    return { jobId: claimed.job.id, fence: claimed.fence, requestId }
  }
  const error = { code: 'E_GPU_OOM', message: 'oom' }
  await pawl.enqueue(work, { n: 1 })
  await pawl.contract.fail({ ...(await next()), error })
  await pawl.contract.complete({ ...(await next()), result: 1 })
  const letter = await pawl.enqueue(work, { n: 2 })
  const word = { type: 'deadLetter', reason: 'policy_violation', stage: 'input', actor: 'ann', requestId: 'r' } as const
  await pawl.engine.settle([{ id: letter.id, command: word }])
  await pawl.enqueue(work, { n: 3 })
  await pawl.contract.start(await next())
  await pawl.enqueue(work, { n: 4 }, { id: 'order-4', dedupeKey: 'k4' })
}

const told = (found: readonly Discrepancy[]): readonly string[] => found.map(({ about, what }) => `${about}: ${what}`)

describe.each(STORES)('verify on %s', (name) => {
  it('finds nothing where there is nothing, and says how much it looked at', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await lives(pawl)
    expect(await pawl.verify()).toEqual({ jobs: 4, events: 13, discrepancies: [] })
    expect(await pawl.verify({ states: ['queued'] })).toEqual({ jobs: 1, events: 1, discrepancies: [] })
  })
})

it('over HTTP it finds nothing either where there is nothing', async () => {
  await using place = await EVERYWHERE.http()
  await place.pawl.enqueue(work, { n: 1 })
  expect(await place.pawl.verify()).toEqual({ jobs: 1, events: 1, discrepancies: [] })
})

const reading = async ({ url }: Place, sql: string): Promise<readonly unknown[]> => {
  if (!url.startsWith('postgres')) {
    using file = new DatabaseSync(url)
    return file.prepare(sql.replaceAll('pawl.', '')).all()
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

describe.each(['sqlite', 'postgres'] as const)('verify of encrypted jobs on %s', (name) => {
  it('looks at what is stored, where equal inputs have different sums', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place, { codec: aesGcm({ keys: { a: randomBytes(32) }, current: 'a' }) })
    const letters = await pawl.enqueueMany(work, [{ n: 1 }, { n: 1 }])
    for (const letter of letters) await letter.signal('read', { by: 'ann' })
    expect((await pawl.verify()).discrepancies).toEqual([])
    const sums = (await reading(place, 'select sum from pawl.job')) as readonly { readonly sum: number }[]
    expect(new Set(sums.map(({ sum }) => sum)).size).toBe(letters.length)
    await reading(place, 'update pawl.job set input = (select max(input) from pawl.job)')
    expect(told((await pawl.verify()).discrepancies)).toEqual(['body: input is not what was written'])
  })
})

describe.each(['sqlite', 'postgres'] as const)('verify of slots on %s', (name) => {
  const limited = defineSpec({ type: 'limited', limit: { key: 'site', concurrency: 2 } })
  const deeds: Readonly<Record<string, string>> = {
    'one that nobody has':
      'insert into pawl.slot (key, job, flow, let_in, claimed) select key, 9, flow, let_in, claimed from pawl.slot limit 1',
    'one that an owner lacks': 'delete from pawl.slot where claimed is not null',
    'one that is lacking in a lane': 'delete from pawl.slot where claimed is null',
  }

  it.each(Object.entries(deeds))('finds %s', async (_, sql) => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await pawl.enqueueMany(limited, [1, 2, 3])
    const claim = { workerId: 'w', lanes: [{ tenant: 'default', queue: 'default', priority: 5 }] }
    await eventually('one is claimed', () => pawl.contract.claimNext({ ...claim, requestId: crypto.randomUUID() }))
    await eventually('another stands', async () => (await pawl.limits.get('site'))?.taken === 2)
    expect((await pawl.verify()).discrepancies).toEqual([])
    await reading(place, sql)
    expect(told((await pawl.verify()).discrepancies)).toEqual([
      expect.stringMatching(/^slot: key site has \d slots taken, and \d jobs /),
    ])
  })
})

describe.each(['sqlite', 'postgres'] as const)('verify of keys on %s', (name) => {
  const counted = defineSpec({
    type: 'counted',
    limit: { key: 'site', concurrency: 2, rate: '100/h', budget: { amount: 100, per: '30d' } },
  })
  const deeds: Readonly<Record<string, readonly [found: RegExp, ...sql: readonly string[]]>> = {
    'a record that its changes do not come to': [
      /^record: key site: its changes and its record differ at state: "open" ≠ "slow"/,
      `update pawl.flow_key set text = replace(text, '"state":"open"', '"state":"slow"')`,
    ],
    'changes that do not follow each other': [
      /^record: key site: its changes do not follow each other: /,
      `update pawl.flow_key set log = replace(log, '"from":"open"', '"from":"broken"')`,
    ],
    'a claim that its rate does not count': [
      /^slot: key site counts 1 starts within 3600000 ms, and logs have 2 claims/,
      'update pawl.slot set claimed = 1 where claimed is not null',
      'delete from pawl.pace',
    ],
    'what was spent and is not counted': [
      /^slot: key site counts 0 spent of its window, and logs have 7/,
      'update pawl.flow_key set spent = 0',
      name === 'postgres' ? 'delete from pawl.spend' : 'select 1',
    ],
    'what was counted and is not spent': [
      /^slot: key site counts 9 spent of its window, and logs have 7/,
      name === 'postgres'
        ? 'insert into pawl.spend (key, at, amount) select id, extract(epoch from now()) * 1000, 2 from pawl.flow_key'
        : 'update pawl.flow_key set spent = spent + 2',
    ],
    'one that stands where nobody may': [
      /^slot: 1 jobs stand at key site, which is shut/,
      `update pawl.flow_key set gate = replace(gate, '"openAt":0', '"openAt":99999999999999')`,
    ],
  }

  it.each(Object.entries(deeds))('finds %s', async (_, [found, ...sql]) => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await pawl.enqueueMany(counted, [1, 2, 3])
    await pawl.limits.reset('site')
    const claim = { workerId: 'w', lanes: [{ tenant: 'default', queue: 'default', priority: 5 }] }
    const next = () =>
      eventually('one to claim', () => pawl.contract.claimNext({ ...claim, requestId: crypto.randomUUID() }))
    const { job, fence } = await next()
    await pawl.contract.start({ jobId: job.id, fence, requestId: 'start' })
    const word = { fence, actor: 'worker:w', requestId: 'spend' } as const
    await pawl.engine.settle([{ id: job.id, command: { type: 'record', spend: { amount: 7 }, ...word } }])
    await pawl.contract.complete({ jobId: job.id, fence, requestId: 'done', result: 1 })
    // Neither begins nor ends what is counted of its windows.
    await pawl.limits.set('site', { concurrency: 2, budget: { amount: 90, per: '30d' } })
    await next()
    await eventually('another stands', async () => (await pawl.limits.get('site'))?.taken === 2)
    expect((await pawl.verify()).discrepancies).toEqual([])
    for (const each of sql) await reading(place, each)
    expect(told((await pawl.verify()).discrepancies)).toEqual([expect.stringMatching(found)])
  })
})

describe('verify finds what was done to the file by hand', () => {
  const deeds: Readonly<Record<string, readonly [sql: string, found: RegExp]>> = {
    'a log that ends otherwise': [
      `update ending set log = (select log from ending where state = 'L') where state = 'S'`,
      /record: |log: |unreadable/,
    ],
    'a count': ['update tally set count = count + 1', /count: counted and found differ/],
    'a lost stretch of the log': ['delete from past', /log: |record: log and record differ|unreadable/],
    'a record from elsewhere': [
      'update done set ending = (select ending from done where id = 1), state = (select state from done where id = 1) where id = 2',
      /record: |log: |unreadable/,
    ],
    'an input': [`update job set input = replace(input, '2', '9')`, /body: input is not what was written/],
    'an output': [`update done set output = '2' where output is not null`, /body: output is (not what was written|\d)/],
    'a record that is no record': [`update ending set record = '!' where state = 'S'`, /unreadable/],
    'a row removed from where it lives': ['delete from ready', /record: it is queued|unreadable|count: /],
    'a dedupe key that nobody holds': [
      `delete from key where purpose = 'dedupe'`,
      /key: dedupe key k4 is held by nobody/,
    ],
    'a dedupe key that somebody else holds': [
      `update key set job = 1 where purpose = 'dedupe'`,
      /key: dedupe key k4 is held by pj_1/,
    ],
    'an alias that leads nowhere': [`delete from key where purpose = 'alias'`, /key: alias order-4 leads to nothing/],
    'an alias that leads astray': [
      `update key set job = 1 where purpose = 'alias'`,
      /key: alias order-4 leads to pj_1/,
    ],
  }

  it.each(Object.entries(deeds))('%s', async (_, [sql, found]) => {
    await using place = await PLACES.sqlite()
    await using pawl = await openAt(place)
    await lives(pawl)
    await pawl.close()
    const file = new DatabaseSync(place.url)
    file.exec(sql)
    file.close()
    await using again = await openAt(place)
    expect(told((await again.verify()).discrepancies).join('\n')).toMatch(found)
  })
})

describe('verify finds what the owner of a Postgres database did by hand', () => {
  const deeds: Readonly<Record<string, readonly [sql: string, found: RegExp]>> = {
    'a count': ['update pawl.tally set count = count + 1', /count: counted and found differ/],
    'a lost stretch of the log': [
      'delete from pawl.past where job = 1 and rev < (select max(rev) from pawl.past where job = 1)',
      /log: |record: |unreadable/,
    ],
    'an input': [
      `update pawl.job set input = replace(input, '2', '9') where id = 2`,
      /^body: input is not what was written$/m,
    ],
    'an input that is gone': [
      'update pawl.job set input = null where id = 2',
      /^body: input is not what was written$/m,
    ],
    'an output': [
      `update pawl.past set output = '2' where output is not null`,
      /^body: output is not what was written$/m,
    ],
    'an output of another length': [
      `update pawl.past set output = '22' where output is not null`,
      /^body: output is 2 long, and was written as 1$/m,
    ],
    'an output that is gone': ['update pawl.past set output = null', /^body: output is not there$/m],
    'a log that is no log': [`update pawl.past set events = '!' where job = 1`, /unreadable/],
    'a dedupe key that nobody holds': [
      `delete from pawl.key where purpose = 'dedupe'`,
      /key: dedupe key k4 is held by nobody/,
    ],
    'a dedupe key that somebody else holds': [
      `update pawl.key set job = 1 where purpose = 'dedupe'`,
      /key: dedupe key k4 is held by pj_1/,
    ],
    'an alias that leads nowhere': [
      `delete from pawl.key where purpose = 'alias'`,
      /key: alias order-4 leads to nothing/,
    ],
    'an alias that leads astray': [
      `update pawl.key set job = 1 where purpose = 'alias'`,
      /key: alias order-4 leads to pj_1/,
    ],
    'a row removed from where it lives': [
      'delete from pawl.ready',
      /record: it is queued, and not where queued jobs are kept/,
    ],
  }

  it.each(Object.entries(deeds))('%s', async (_, [sql, found]) => {
    await using place = await PLACES.postgres()
    await using pawl = await openAt(place)
    await lives(pawl)
    expect((await pawl.verify()).discrepancies).toEqual([])
    const client = new pg.Client({ connectionString: place.url })
    await client.connect()
    await client.query(sql)
    await client.end()
    expect(told((await pawl.verify()).discrepancies).join('\n')).toMatch(found)
  })
})
