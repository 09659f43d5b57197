/** What a Redis with a ledger tells a collector: where each of them is, and what went wrong between them. */
import { expect } from 'vitest'
import { prometheus } from '../../src/gateway/prometheus.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { rawLink } from '../store/redis/raw.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { itOnRedis } from '../support/with-redis.ts'

const TOLD = defineJob({ type: 'told', run: (_: { readonly n: number }) => {} })

/** A number of the exposition; undefined where it is not told. */
const numberOf = (text: string, name: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

itOnRedis(
  'joins by reason, loads, refused scripts, the length of the log and how far the ledger is behind are told',
  async () => {
    await using server = await startRedis(['--appendonly', 'no'])
    await using database = await freshDatabase()
    const link = await rawLink(server)
    const metrics = prometheus()
    const options = { ledger: database.url, migrate: true, ticker: false, retention: false, log: 'silent' } as const
    {
      await using pawl = await open(server.url, { ...options, metrics })
      metrics.watch(pawl)
      for (let n = 0; n < 5; n += 1) await pawl.enqueue(TOLD, { n })
      await link.send(['FLUSHALL'])
      await pawl.enqueue(TOLD, { n: 5 })
      await link.send(['CONFIG', 'SET', 'maxmemory', '1'])
      await expect(pawl.enqueue(TOLD, { n: 6 })).rejects.toThrow(/memory/)
      await link.send(['CONFIG', 'SET', 'maxmemory', '0'])
      await pawl.enqueue(TOLD, { n: 7 })
      const text = await metrics.text()
      // The first time there was nothing, and so it was when it was emptied.
      expect(numberOf(text, 'pawl_ledger_joins_total{reason="empty"}')).toBe(2)
      expect(numberOf(text, 'pawl_ledger_loads_total')).toBe(2)
      expect(numberOf(text, 'pawl_script_errors_total{script="insert",code="OOM"}')).toBeGreaterThanOrEqual(1)
      expect(numberOf(text, 'pawl_ledger_refused_appends_total')).toBeDefined()
      expect(numberOf(text, 'pawl_ledger_log_entries')).toBeGreaterThanOrEqual(2)
      expect(numberOf(text, 'pawl_ledger_lag_entries')).toBe(0)
      expect(numberOf(text, 'pawl_ledger_lag_seconds')).toBe(0)
      expect(numberOf(text, 'pawl_ledger_unfolded_entries')).toBeGreaterThanOrEqual(0)
    }
    await link.close()
  },
  60_000,
)
