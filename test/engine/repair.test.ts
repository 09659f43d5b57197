/** What is derived of limits, really damaged, found by `verify` and made anew by `limits.repair`: then all jobs run, and nothing above its limit. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { AuditLog } from '../../src/engine/audit.ts'
import { defineSpec, type Pawl } from '../../src/index.ts'
import { rawLink } from '../store/redis/raw.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES, type Place, STORES } from './opened.ts'

const limited = defineSpec({
  type: 'limited',
  limit: { key: 'site', concurrency: 2, rate: '100/h', budget: { amount: 100, per: '30d' } },
})
const turns = defineSpec({ type: 'turns', queue: 'fair', fair: () => 'ann' })
const LANES = [{ tenant: 'default', queue: 'default', priority: 5 }]

const next = (pawl: Pawl) =>
  eventually('one to claim', () =>
    pawl.contract.claimNext({ workerId: 'w', lanes: LANES, requestId: crypto.randomUUID() }),
  )

/** One has ended, one is owned, one stands, two are held; beside them one that only takes turns. */
async function begin(pawl: Pawl): Promise<void> {
  await pawl.enqueueMany(limited, [1, 2, 3, 4, 5])
  const { job, fence } = await next(pawl)
  await pawl.contract.start({ jobId: job.id, fence, requestId: 'start' })
  const word = { fence, actor: 'worker:w', requestId: 'spend' } as const
  await pawl.engine.settle([{ id: job.id, command: { type: 'record', spend: { amount: 7 }, ...word } }])
  await pawl.contract.complete({ jobId: job.id, fence, requestId: 'done', result: 1 })
  await next(pawl)
  await eventually('another stands', async () => (await pawl.limits.get('site'))?.taken === 2)
  await pawl.pause('fair')
  await pawl.enqueue(turns, 1)
  expect((await pawl.verify()).discrepancies).toEqual([])
}

async function doing({ url }: Place, deeds: readonly string[]): Promise<void> {
  if (url.startsWith('redis')) {
    const link = await rawLink({ url: url.replace(/\?.*$/, '') })
    const base = `{${new URL(url).searchParams.get('prefix')}:0}:`
    for (const deed of deeds) await link.send(['EVAL', deed, '1', base])
    await link.close()
  } else if (url.startsWith('postgres')) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    for (const deed of deeds) await client.query(deed)
    await client.end()
  } else {
    using file = new DatabaseSync(url)
    for (const deed of deeds) file.exec(deed.replaceAll('pawl.', ''))
  }
}

const SQL: Readonly<Record<string, readonly [found: RegExp, ...sql: readonly string[]]>> = {
  'a slot that nobody has': [
    /^slot: key site has 3 slots taken/,
    'insert into pawl.slot (key, job, flow, let_in, claimed) select key, 9, flow, let_in, claimed from pawl.slot limit 1',
  ],
  'a slot that its owner lacks': [/^slot: key site has 1 slots/, 'delete from pawl.slot where claimed is not null'],
  'a slot that is lacking in a lane': [/^slot: key site has 1 slots/, 'delete from pawl.slot where claimed is null'],
  'all slots': [/^slot: /, 'delete from pawl.slot'],
  'claims that a rate does not count': [
    /^slot: key site counts 1 starts within 3600000 ms, and logs have 2 claims/,
    'update pawl.slot set claimed = 1 where claimed is not null',
    'delete from pawl.pace',
  ],
  'what was spent': [/^slot: key site counts 0 spent/, 'update pawl.flow_key set spent = 0', 'delete from pawl.spend'],
  'what was counted and is not spent': [
    /^slot: key site counts 107 spent of its window, and logs have 7/,
    'insert into pawl.spend (key, at, amount) select id, extract(epoch from now()) * 1000, 100 from pawl.flow_key',
    'update pawl.flow_key set spent = spent + 100 where spent > 0',
  ],
  'a flow that waits nowhere': [
    /^flow: nobody will look at its flow: it waits nowhere/,
    "update pawl.flow set waits_at = null where waits_at like 'key %'",
  ],
  'a flow that waits at a key of others': [
    /^flow: nobody will look at its flow: it waits nowhere/,
    "update pawl.flow set waits_at = 'key 999' where waits_at like 'key %'",
  ],
  'a flow that waits for a queue which is not paused': [
    /^flow: nobody will look at its flow: it waits for its queue/,
    "update pawl.flow set waits_at = 'queue ' || (select id from pawl.queue where name = 'default' limit 1) where waits_at like 'key %'",
  ],
}

const EACH = (pattern: string, deed: string) =>
  `for _, key in ipairs(redis.call('KEYS', KEYS[1] .. '${pattern}')) do ${deed} end`

const LUA: typeof SQL = {
  'a slot that nobody has': [/^slot: key site has 3 slots/, EACH('slots:*', "redis.call('ZADD', key, 1, '9')")],
  'a slot that its owner lacks': [
    /^slot: key site has 1 slots/,
    EACH(
      'claims:*',
      "for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZREM', string.gsub(key, 'claims:', 'slots:'), id) end",
    ),
  ],
  'all slots': [/^slot: key site has \d slots taken/, EACH('slots:*', "redis.call('DEL', key)")],
  'claims that a rate does not count': [
    /^slot: key site counts 1 starts within 3600000 ms, and logs have 2 claims/,
    EACH('claims:*', "redis.call('DEL', key)"),
    EACH('paces:*', "redis.call('DEL', key)"),
  ],
  'what was spent': [
    /^slot: key site counts 0 spent/,
    EACH('spends:*', "redis.call('DEL', key)"),
    EACH('limit:*', "redis.call('HSET', key, 'spent', '0')"),
  ],
  'what was counted and is not spent': [
    /^slot: key site counts 107 spent of its window, and logs have 7/,
    EACH(
      'limit:*',
      "redis.call('ZADD', string.gsub(key, 'limit:', 'spends:'), redis.call('TIME')[1] .. '000', '100:0:0:1')",
    ),
  ],
  'a flow that is in no ring': [/^flow: nobody will look at its flow/, EACH('ring:*key *', "redis.call('DEL', key)")],
  'a flow that nobody has heard of': [/^flow: nobody will look at its flow/, EACH('flow:*', "redis.call('DEL', key)")],
}

const LESS: Readonly<Record<string, typeof SQL>> = {
  sqlite: Object.fromEntries(
    Object.entries(SQL).map(([name, [found, ...sql]]) => [
      name,
      [found, ...sql.filter((each) => !each.includes('pawl.spend'))] as const,
    ]),
  ),
  postgres: Object.fromEntries(
    Object.entries(SQL).map(([name, [found, ...sql]]) => [
      name,
      [found, ...sql.filter((each) => !each.includes('set spent = spent'))] as const,
    ]),
  ),
  redis: LUA,
}

describe.each(STORES.filter((name) => name !== 'memory'))('repair on %s', (name) => {
  it.each(Object.entries(LESS[name] ?? {}))('makes anew %s', async (_, [found, ...deeds]) => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await begin(pawl)
    await doing(place, deeds)
    const { discrepancies } = await pawl.verify()
    expect(discrepancies.map(({ about, what }) => `${about}: ${what}`)).toContainEqual(expect.stringMatching(found))
    expect(await pawl.limits.repair()).toMatchObject({ tenants: ['default'], keys: 1 })
    expect((await pawl.verify()).discrepancies).toEqual([])
    await pawl.resume('fair')
    await allRun(pawl)
  })
})

describe.each(STORES)('repair of what is whole, on %s', (name) => {
  it('changes nothing, and is written down', async () => {
    await using place = await PLACES[name]()
    await using pawl = await openAt(place)
    await begin(pawl)
    const before = await pawl.limits.get('site')
    expect(await pawl.limits.repair({ actor: 'ann' })).toEqual({
      tenants: ['default'],
      keys: 1,
      jobs: 2,
      flows: 2,
      counts: 0,
    })
    expect(await pawl.limits.get('site')).toEqual(before)
    expect((await pawl.verify()).discrepancies).toEqual([])
    const { entries } = await new AuditLog(pawl.engine).page('default', undefined, 10)
    expect(entries).toContainEqual(expect.objectContaining({ act: 'limits.repaired', by: 'ann', about: 'default' }))
    await pawl.resume('fair')
    await allRun(pawl)
  })
})

/** Nobody is held for ever, and never more than two are owned. */
async function allRun(pawl: Pawl): Promise<void> {
  const owned = (await pawl.find({ states: ['claimed'], limit: 10 })).jobs
  for (const { id, lease } of owned)
    await pawl.contract.complete({ jobId: id, fence: lease?.fence ?? '', requestId: id, result: 1 })
  for (let n = 0; n < 3; n += 1) {
    const { job, fence } = await next(pawl)
    const taken = (await pawl.limits.get('site'))?.taken ?? 0
    expect(taken).toBeLessThanOrEqual(2)
    await pawl.contract.complete({ jobId: job.id, fence, requestId: job.id, result: 1 })
  }
  expect((await pawl.limits.get('site'))?.taken).toBe(0)
  const lanes = [{ tenant: 'default', queue: 'fair', priority: 5 }]
  await eventually('the one that takes turns', () =>
    pawl.contract.claimNext({ workerId: 'w', lanes, requestId: crypto.randomUUID() }),
  )
}
