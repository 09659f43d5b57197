/** Jobs that are due within a minute, on a Redis with a ledger that is killed and emptied before they are. */
import { expect } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { rawLink } from '../store/redis/raw.ts'
import { eventually } from '../support/eventually.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { scaled } from '../support/scale.ts'
import { itOnRedis } from '../support/with-redis.ts'

const JOBS = scaled(100, 10_000)
const WITHIN_MS = scaled(2_000, 60_000)
const AT_ONCE = 100

itOnRedis(
  'delayed jobs all run, and none twice, although Redis is killed and emptied before they are due',
  async () => {
    await using server = await startRedis(['--appendonly', 'no'])
    await using database = await freshDatabase()
    const runs = new Map<number, number>()
    const job = defineJob({
      type: 'delayed',
      run: ({ n }: { readonly n: number }) => void runs.set(n, (runs.get(n) ?? 0) + 1),
    })
    await using pawl = await open(server.url, { ledger: database.url, migrate: true, log: 'silent' })
    const handles: Awaited<ReturnType<typeof pawl.enqueue>>[] = []
    for (let first = 0; first < JOBS; first += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, i) => first + i)
      handles.push(
        ...(await Promise.all(
          some.map((n) => pawl.enqueue(job, { n }, { delay: Math.ceil((((n * 7_919) % JOBS) / JOBS) * WITHIN_MS) })),
        )),
      )
    }
    await using _worker = pawl.work([job], { concurrency: 50 })
    await eventually('some have run', () => runs.size >= JOBS / 10, { withinMs: 2 * WITHIN_MS })
    await server.kill()
    await server.restart()
    await eventually('half have run', () => runs.size >= JOBS / 2, { withinMs: 4 * WITHIN_MS })
    const link = await rawLink(server)
    await link.send(['FLUSHALL'])
    await link.close()
    await Promise.all(handles.map((handle) => handle.result()))
    expect(runs.size).toBe(JOBS)
    expect([...runs.values()].filter((count) => count > 1)).toEqual([])
  },
  scaled(90_000, 600_000),
)
