import { basename } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPgbouncer } from '../support/pgbouncer.ts'
import { itPooled } from '../support/pooled.ts'
import { type FreshDatabase, freshDatabase } from '../support/postgres.ts'
import { filesLike } from '../support/source.ts'
import { json, pawl } from './pawl.ts'

const MIGRATIONS = filesLike('src/store/postgres/schema/0*.sql').map((path) => basename(path))

interface Doctor {
  readonly ok: boolean
  readonly findings: readonly { readonly check: string; readonly status: string; readonly found: string }[]
}

describe('pawl on Postgres', () => {
  let database: FreshDatabase
  const at = (...words: readonly string[]) => [...words, '--url', database.url]
  const statuses = ({ findings }: Doctor) => Object.fromEntries(findings.map(({ check, status }) => [check, status]))

  const between = ({ findings }: Doctor) => findings.find(({ check }) => check === 'pooler')?.found

  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database[Symbol.asyncDispose]())

  it('asks for its schema before it does anything', async () => {
    const refused = await pawl(at('jobs', 'ls'))
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('pawl migrate')])
    const ill = await pawl([...at('doctor'), '--json'])
    expect(ill.code).toBe(1)
    expect(statuses(JSON.parse(ill.stdout) as Doctor)).toEqual({ postgres: 'ok', migrations: 'failure', pooler: 'ok' })
  })

  it('says what is pending, tries it, applies it, once', async () => {
    const before = await json<{ applied: string[]; pending: string[] }>(at('migrate', '--status'))
    expect(before.applied).toEqual([])
    expect(before.pending).toEqual([...MIGRATIONS, 'functions'])
    expect(await json(at('migrate', '--dry-run'))).toMatchObject({
      dryRun: true,
      applied: [],
      wouldApply: before.pending,
    })
    expect(await json(at('migrate', '--status'))).toEqual(before)
    expect(await json(at('migrate'))).toMatchObject({ applied: before.pending })
    expect(await json(at('migrate'))).toMatchObject({ applied: [] })
    expect((await pawl(at('migrate', '--status'))).stdout).toContain('is up to date')
    const script = await pawl(['migrate', '--sql', '--schema', 'elsewhere'])
    expect(script.stdout).toMatch(/^begin;[\s\S]*create schema if not exists "?elsewhere"?/)
    expect(script.stdout).not.toMatch(/\bpawl\.job\b/)
  })

  it('takes no schema that is somebody else’s, and no name that cannot be one', async () => {
    const taken = await pawl(at('migrate', '--schema', 'public'))
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('everybody')])
    expect((await pawl(at('migrate', '--sql', '--role', 'pg_mine'))).code).toBe(2)
    expect((await pawl(['migrate', '--sql', '--role', 'orders'])).stdout).toContain(`pawl_migration.role = 'orders'`)
  })

  it('works like any other store', async () => {
    const { id } = await json<{ id: string }>(at('enqueue', 'mail', '--queue', 'mail', '-p', 'to=ann', '--delay', '1h'))
    expect(await json(at('jobs', 'show', id))).toMatchObject({ state: 'queued', input: { to: 'ann' } })
    expect(await json(at('queues', 'ls'))).toMatchObject({ queues: [{ queue: 'mail', counts: { queued: 1 } }] })
    expect(await json(at('verify'))).toEqual({ jobs: 1, events: 1, discrepancies: [] })
    expect((await pawl([...at('tail', '--no-follow'), '--json'])).stdout).toContain('"type":"enqueued"')
  })

  it('is measured, and left as it was', async () => {
    const before = await json<{ jobs: unknown[] }>(at('jobs', 'ls'))
    const figures = await json<{ enqueuePerSecond: number; drainPerSecond: number }>(at('bench', '--jobs', '200'))
    expect(figures.enqueuePerSecond).toBeGreaterThan(0)
    expect(figures.drainPerSecond).toBeGreaterThan(0)
    expect(figures).toMatchObject({ jobs: 200, left: 0, latencyMs: { samples: 50 } })
    expect(await json(at('jobs', 'ls'))).toEqual(before)
  })

  it('says that a schema is newer than it is, and whether that matters', async () => {
    await using other = await freshDatabase()
    await pawl(['migrate', '--url', other.url])
    const client = new pg.Client({ connectionString: other.url })
    await client.connect()
    const insert = `insert into pawl.migration (number, name, checksum) values (9001, '9001_later.sql', 'x')`
    await client.query(insert)
    const newer = await pawl(['migrate', '--status', '--url', other.url])
    expect(newer.stdout).toContain('newer    9001_later.sql')
    expect(newer.stdout).toContain('Schema pawl is newer than this version, which goes on')
    expect((await pawl(['migrate', '--url', other.url])).stdout).toContain('is newer than this version')
    expect(statuses(await json<Doctor>(['doctor', '--url', other.url]))).toMatchObject({ migrations: 'warning' })
    await client.query('update pawl.migration set needs = number where number = 9001')
    await client.end()
    const tooNew = await pawl(['jobs', 'ls', '--url', other.url])
    expect([tooNew.code, tooNew.stderr]).toEqual([1, expect.stringContaining('too new for this version')])
    expect((await pawl(['migrate', '--status', '--url', other.url])).stdout).toContain('use a later one')
  })

  itPooled('is healthy, and knows a pooler when it sees one', async () => {
    const direct = await json<Doctor>(at('doctor'))
    expect(statuses(direct)).toMatchObject({
      postgres: 'ok',
      migrations: 'ok',
      pooler: 'ok',
      store: 'ok',
      hints: 'ok',
      ticker: 'ok',
    })
    expect(between(direct)).toContain('no pooler is in between')
    await using pooler = await startPgbouncer(database.url)
    const pooled = await json<Doctor>(['doctor', '--url', pooler.url])
    expect(statuses(pooled)).toMatchObject({ pooler: 'warning', store: 'ok' })
    expect(between(pooled)).toContain('transaction mode')
    const past = await json<Doctor>(['doctor', '--url', pooler.url, '--direct-url', database.url])
    expect(statuses(past)).toMatchObject({ pooler: 'ok', hints: 'ok' })
    expect(between(past)).toContain('LISTEN works past it')
    await using lasting = await startPgbouncer(database.url, { mode: 'session' })
    const kept = await json<Doctor>(['doctor', '--url', lasting.url])
    expect(statuses(kept)).toMatchObject({ pooler: 'ok', hints: 'ok' })
    expect(between(kept)).toMatch(/session mode.*LISTEN works$/)
  })

  it('says that nobody answers, and not with what password', async () => {
    const { code, stdout } = await pawl(['doctor', '--url', 'postgres://ann:secret@127.0.0.1:9/none', '--json'])
    expect(code).toBe(1)
    expect(stdout).not.toContain('secret')
    expect(statuses(JSON.parse(stdout) as Doctor)).toEqual({ postgres: 'failure' })
  })
})
