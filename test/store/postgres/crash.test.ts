import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { startPostgres } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { audit, drain, kindOf, Ledger, newJob, range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

describe('a server that is killed while jobs flow', () => {
  it('loses nothing that was acknowledged and doubles nothing; clients recover by themselves', async () => {
    const kills = scaled(2, 20)
    const jobs = scaled(1_000, 10_000)
    await using server = await startPostgres()
    const producer = await openPostgresStore({ url: server.url, migrate: true, retryForMs: 120_000 })
    const worker = await openPostgresStore({ url: server.url, retryForMs: 120_000 })
    const kind = kindOf('crash')
    const random = seeded(7)
    const ledger = new Ledger()
    const acknowledged: number[] = []
    const { now } = await producer.load([])

    const produce = async () => {
      for (let from = 1; from <= jobs; from += 20) {
        const numbers = range(from, Math.min(20, jobs - from + 1))
        const { items } = await producer.insert(numbers.map((n) => newJob(kind, n, now)))
        for (const item of items) expect(item.status).toBe('inserted')
        acknowledged.push(...numbers)
        await pause(Math.ceil((kills * 400) / (jobs / 20)))
      }
    }
    let flowing = true
    const crash = async () => {
      for (let n = 0; n < kills && flowing; n += 1) {
        await pause(150 + random() * 250)
        await server.kill()
        await server.restart()
      }
    }
    const crashing = crash()
    const workers = range(0, 4).map(() => drain(worker, 'crash', ledger, jobs, () => 1 + Math.floor(random() * 15)))
    await produce()
    await Promise.all(workers)
    flowing = false
    await crashing
    expect(acknowledged.length).toBe(jobs)
    await audit(worker, acknowledged)
    await producer.close()
    await worker.close()
  })
})

describe('a store whose server is gone', () => {
  it('can be closed at once, and says that what was asked has failed', async () => {
    const server = await startPostgres()
    const store = await openPostgresStore({ url: server.url, migrate: true })
    const { now } = await store.load([])
    await server.stop()
    const asked = store.insert([newJob(kindOf('gone'), 1, now)])
    const refused = expect(asked).rejects.toMatchObject({ name: 'PostgresUnavailable' })
    const started = performance.now()
    await store.close()
    await refused
    expect(performance.now() - started, 'not after all the time it would have tried for').toBeLessThan(15_000)
  })
})
