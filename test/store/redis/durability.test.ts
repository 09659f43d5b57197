import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/library/define-job.ts'
import { open } from '../../../src/open.ts'
import { ledgerIn, redisPlace, sameRedis } from '../../../src/store/redis/connection/address.ts'
import { demandDurable, demandKept, durabilityBy, withLedger } from '../../../src/store/redis/connection/durability.ts'
import type { LogFields } from '../../../src/system/log.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'

const AOF = { appendonly: 'yes', appendfsync: 'always', 'no-appendfsync-on-rewrite': 'no', save: '' }

describe('what a server promises', () => {
  it.each([
    ['syncs every write', AOF, false, 'kept'],
    [
      'syncs every write but while it rewrites its log',
      { ...AOF, 'no-appendfsync-on-rewrite': 'yes' },
      false,
      'seconds',
    ],
    ['syncs every write and has a replica that may take over', AOF, true, 'seconds'],
    ['syncs once a second', { ...AOF, appendfsync: 'everysec' }, false, 'seconds'],
    ['leaves syncing to the machine', { ...AOF, appendfsync: 'no' }, false, 'seconds'],
    ['takes snapshots', { ...AOF, appendonly: 'no', save: '3600 1' }, false, 'snapshots'],
    ['keeps nothing', { ...AOF, appendonly: 'no' }, false, 'none'],
    ['keeps nothing, twice', { ...AOF, appendonly: 'no' }, true, 'none'],
    ['does not tell', undefined, false, 'unknown'],
  ] as const)('that %s', (_, settings, isReplicated, level) => {
    const durability = durabilityBy(settings, isReplicated)
    expect(durability.level).toBe(level)
    if (level === 'none') expect(() => demandDurable(durability, settings)).toThrow(/appendonly/)
    else expect(() => demandDurable(durability, settings)).not.toThrow()
  })

  it('is nothing where keys are thrown away', () => {
    const settings = { ...AOF, 'maxmemory-policy': 'allkeys-lru' }
    expect(() => demandDurable(durabilityBy(settings, false), settings)).toThrow(/allkeys-lru.*noeviction/)
    expect(() => demandKept(settings)).toThrow(/allkeys-lru.*no ledger would notice/)
    expect(() => demandKept({ ...AOF, appendonly: 'no' })).not.toThrow()
  })

  it('with a ledger is the ledger’s where answers wait for it, else the server’s own but for what the ledger has', () => {
    const none = durabilityBy({ ...AOF, appendonly: 'no' }, false)
    expect(withLedger(none, 'ledger').level).toBe('kept')
    expect(withLedger(none, 'redis')).toMatchObject({ level: 'seconds', promise: expect.stringMatching(/ledger/) })
    expect(withLedger(durabilityBy(AOF, false), 'redis').level).toBe('kept')
  })
})

describe('an address', () => {
  it('tells prefix and durability, and leads another thread to the same place', () => {
    const place = redisPlace('redis://u:p@host:1/2?prefix=shop&durability=none', {})
    const without = { ledger: undefined, ack: 'redis' }
    expect(place).toEqual({ url: 'redis://u:p@host:1/2', prefix: 'shop', mayBeLost: true, ...without })
    expect(redisPlace(sameRedis(place), {})).toEqual(place)
    const mine = { url: 'redis://host', prefix: 'mine', mayBeLost: false, ...without }
    expect(redisPlace('redis://host', { prefix: 'mine' })).toEqual(mine)
  })

  it('names a ledger, and whom an answer waits for', () => {
    const ledger = 'postgres://u:p%26@a,b/db?sslmode=require'
    const place = redisPlace(`redis://host?ledger=${encodeURIComponent(ledger)}`, { ack: 'redis' })
    expect(place).toMatchObject({ ledger, ack: 'redis' })
    expect(redisPlace(sameRedis(place), {})).toEqual(place)
    expect(ledgerIn(sameRedis(place))).toBe(ledger)
    expect(redisPlace('redis://host?ledger=postgres://u:p@h/db', {})).toMatchObject({
      url: 'redis://host',
      ledger: 'postgres://u:p@h/db',
      ack: 'ledger',
    })
  })

  it('that says something else is refused, with what may be said', () => {
    expect(() => redisPlace('redis://host?leger=x', {})).toThrow(/prefix.*durability/)
    expect(() => redisPlace('redis://host?ledger=postgres://h/db?a=1&b=2', {})).toThrow(/%26/)
    expect(() => redisPlace('redis://host?ledger=x', {})).toThrow(/postgres:/)
    expect(() => redisPlace('redis://host?ack=redis', {})).toThrow(/ledger/)
    expect(() => redisPlace('redis://host?ledger=postgres://h/db&ack=both', {})).toThrow(/ack/)
    expect(() => redisPlace('redis://host?ledger=postgres://h/db&durability=none', {})).toThrow(/lost/)
    expect(() => redisPlace('redis://host?prefix={a}', {})).toThrow(/prefix/)
    expect(() => redisPlace('redis://host?durability=some', {})).toThrow(/durability/)
  })
})

describeOnRedis('open', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis(['--appendonly', 'no'])
  })
  afterAll(() => server.stop())

  it('refuses a server that keeps nothing, unless that is asked for by name, and says what it promises', async () => {
    await expect(open(server.url, { log: 'silent' })).rejects.toThrow(/does not keep jobs/)
    const lines: (LogFields | undefined)[] = []
    const log = { info: () => {}, warn: (_: string, fields?: LogFields) => void lines.push(fields), error: () => {} }
    await using pawl = await open(server.url, { durability: 'none', log, ticker: false, retention: false })
    expect(pawl.below.durability).toMatchObject({ level: 'none' })
    expect(lines).toContainEqual(
      expect.objectContaining({ durability: 'none', promise: expect.stringMatching(/loses/) }),
    )
    const job = defineJob({ type: 'a', run: () => undefined })
    await pawl.enqueue(job)
    const address = `${server.url}?durability=none&prefix=other`
    await using other = await open(address, { ticker: false, retention: false, log: 'silent' })
    const counts = [await pawl.find({ limit: 10 }), await other.find({ limit: 10 })].map(({ jobs }) => jobs.length)
    expect(counts).toEqual([1, 0])
  })

  it('says who does not answer', async () => {
    await expect(open('redis://127.0.0.1:1', { log: 'silent' })).rejects.toThrow(/does not answer at 127.0.0.1:1/)
  })
})
