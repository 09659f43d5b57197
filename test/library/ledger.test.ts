/** A Redis with a ledger, by the address that a user would open it with. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import { json, pawl as ran } from '../cli/pawl.ts'
import { rawLink } from '../store/redis/raw.ts'
import { eventually } from '../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { describeOnRedis } from '../support/with-redis.ts'

describeOnRedis('a Redis with a ledger', () => {
  let server: RedisServer
  let database: FreshDatabase
  let url: string
  const lines: string[] = []
  const note = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const options: OpenOptions = { log: { info: note, warn: note, error: note } }

  beforeAll(async () => {
    // It keeps nothing: what is answered must not depend on it.
    server = await startRedis(['--appendonly', 'no'])
    database = await freshDatabase()
    url = `${server.url}?ledger=${encodeURIComponent(database.url)}`
  })

  afterAll(async () => {
    await server.stop()
    await database.drop()
  })

  interface Findings {
    readonly ok: boolean
    readonly findings: readonly { readonly check: string; readonly status: string; readonly found: string }[]
  }

  it('asks for the schema of its ledger, which pawl migrate makes, and doctor says what it promises', async () => {
    await expect(open(url, { log: 'silent' })).rejects.toThrow(/pawl migrate/)
    expect((await ran(['doctor', '--json', '--url', url])).code).toBe(1)
    expect(await json(['migrate', '--url', url])).toMatchObject({ applied: expect.arrayContaining(['0002_fold.sql']) })
    const { ok, findings } = await json<Findings>(['doctor', '--url', url])
    expect(ok).toBe(true)
    const kept = expect.objectContaining({
      check: 'durability',
      status: 'ok',
      found: expect.stringMatching(/in the ledger/),
    })
    expect(findings).toEqual(expect.arrayContaining([kept, expect.objectContaining({ check: 'ledger', status: 'ok' })]))
    expect(JSON.stringify(findings)).not.toContain('ledger=postgres%')
  })

  it('runs every job once and keeps every answer, although it is emptied meanwhile', async () => {
    await using pawl = await open(url, options)
    expect(pawl.below.durability).toMatchObject({ level: 'kept' })
    expect(lines.join('\n')).toMatch(/what this Redis promises.*ledger/)
    const runs = new Map<number, number>()
    const job = defineJob({
      type: 'count',
      run: ({ n }: { readonly n: number }) => {
        runs.set(n, (runs.get(n) ?? 0) + 1)
        return n * 2
      },
    })
    const handles = []
    for (let n = 0; n < 40; n += 1) handles.push(await pawl.enqueue(job, { n }))
    const link = await rawLink(server)
    await link.send(['FLUSHALL'])
    await using _worker = pawl.work([job])
    await eventually('some have run', () => runs.size > 10)
    await link.send(['FLUSHALL'])
    await link.close()
    const results = await Promise.all(handles.map((handle) => handle.result()))
    expect(results).toEqual(handles.map((_, n) => n * 2))
    expect([...runs.values()].filter((count) => count > 1)).toEqual([])
    expect(lines.join('\n')).toMatch(/Redis is loaded from its ledger/)
  }, 60_000)

  it('refuses a transaction by name, and says what an answer that does not wait for the ledger may cost', async () => {
    await using pawl = await open(url, { ...options, ack: 'redis', ticker: false, retention: false })
    expect(pawl.below.durability).toMatchObject({
      level: 'seconds',
      promise: expect.stringMatching(/does not have yet/),
    })
    const job = defineJob({ type: 'never', run: () => undefined })
    await expect(pawl.enqueue(job, undefined, { tx: {} as never })).rejects.toThrow(/transaction/)
  })
})
