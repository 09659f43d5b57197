/** A lease that is over before a silent way to the store is found out: who works with one is told so, where there is such a way. */
import { expect, it } from 'vitest'
import { defineJob, open } from '../../src/index.ts'
import { type Log, silentLog } from '../../src/system/log.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { startRedis } from '../support/redis.ts'
import { describeOnRedis } from '../support/with-redis.ts'

const WARNING = 'a lease is too short to outlive a way to the store that falls silent'

const type = (name: string, lease: '4s' | '10s' | '30s') => defineJob({ type: name, lease, run: () => {} })

/** The leases that were warned of. */
async function warnedOf(url: string, answerWithin: '1s' | undefined, leases: readonly ('4s' | '10s' | '30s')[]) {
  const warned: unknown[] = []
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => {
      if (message === WARNING) warned.push([fields?.['lease_ms'], fields?.['found_out_after_ms']])
    },
  }
  await using pawl = await open(url, { log, answerWithin, migrate: true })
  pawl.work(leases.map((lease, n) => type(`t${n}`, lease)))
  return warned
}

async function warnsOnce(url: string) {
  expect(await warnedOf(url, undefined, ['30s', '10s', '4s'])).toEqual([[10_000, 5_000]])
  expect(await warnedOf(url, '1s', ['30s', '10s', '4s'])).toEqual([])
}

it('is told once, on Postgres', async () => {
  await using database = await migratedDatabase()
  await warnsOnce(database.url)
})

it('is nothing to worry about where the store is in this process', async () => {
  expect(await warnedOf('memory:', undefined, ['4s'])).toEqual([])
})

describeOnRedis('on Redis', () => {
  it('is told once', async () => {
    await using server = await startRedis()
    await warnsOnce(server.url)
  })
})
