import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { damageOf, openToOthers } from '../../../src/store/sqlite/check.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { openFile } from '../../../src/store/sqlite/thread/open.ts'
import { APPLICATION_ID, MIGRATIONS } from '../../../src/store/sqlite/thread/schema.ts'
import { ownFile, ownFolder } from './folder.ts'
import { clockOf, completed, grant, limitedJob, newJob, owned } from './life.ts'
import { rest, startHost, startHostWith } from './process.ts'

const REFUSED = { name: 'SqliteStoreError', code: 'STORE_FILE_REFUSED' }

const modeOf = (path: string): number => statSync(path).mode & 0o777

/** The last pages: the first ones are needed to open it at all. */
function overwrite(path: string): void {
  const bytes = readFileSync(path)
  bytes.fill(0xa5, (bytes.length * 3) >> 2)
  writeFileSync(path, bytes)
}

/** Makes a file of an older version that holds what another does, column by column. */
function asBefore(from: string, to: string, version: number): void {
  const db = new DatabaseSync(to)
  for (const migration of MIGRATIONS.slice(0, version)) db.exec(migration)
  db.exec(`PRAGMA user_version = ${version}`)
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  db.exec(`ATTACH '${from}' AS source`)
  for (const { name } of db.prepare(`SELECT name FROM main.sqlite_master WHERE type = 'table'`).all()) {
    const columns = db.prepare(`PRAGMA main.table_info(${name})`).all()
    const list = columns.map((column) => `"${column['name']}"`).join()
    db.exec(`DELETE FROM main.${name}; INSERT INTO main.${name} (${list}) SELECT ${list} FROM source.${name}`)
  }
  db.close()
}

describe('the file', () => {
  it('is made with its folder, and is what was left there the next time', async () => {
    const path = join(ownFolder(), 'deep', 'down', 'jobs.db')
    const first = await openSqliteStore({ path })
    const now = await clockOf(first)
    await first.insert([newJob(1, now)])
    await first.close()
    expect(existsSync(path)).toBe(true)
    const second = await openSqliteStore({ path })
    expect((await second.find({ order: 'newest', limit: 10 })).jobs).toHaveLength(1)
    expect(await clockOf(second)).toBeGreaterThanOrEqual(now)
    await second.close()
  })

  it('is its owner’s alone, with its folder and what is kept beside it, whatever the process makes otherwise', async () => {
    const umask = process.umask(0o000)
    onTestFinished(() => void process.umask(umask))
    const folder = join(ownFolder(), 'made')
    const path = join(folder, 'jobs.db')
    const store = await openSqliteStore({ path })
    await store.insert([newJob(1, await clockOf(store))])
    expect(modeOf(folder)).toBe(0o700)
    for (const each of ['', '-wal', '-shm']) expect(modeOf(path + each)).toBe(0o600)
    await store.close()
    expect(readdirSync(folder)).toEqual(['jobs.db'])
  })

  it('that somebody has opened to others stays so', async () => {
    const path = ownFile()
    await (await openSqliteStore({ path })).close()
    chmodSync(path, 0o660)
    await (await openSqliteStore({ path })).close()
    expect(modeOf(path)).toBe(0o660)
    expect(openToOthers(path)).toEqual([path])
  })

  it('that has been damaged is said to be so by whoever meets it, with what to do', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    await store.insert(Array.from({ length: 2_000 }, (_, i) => newJob(i + 1, now)))
    await store.close()
    expect(damageOf(path)).toBeUndefined()
    overwrite(path)
    const found = damageOf(path)
    expect(Object.keys(found?.tables ?? {}).length).toBeGreaterThan(0)
    expect(found?.next).toMatch(/backup.*\.recover/)
    const again = await openSqliteStore({ path })
    onTestFinished(() => again.close())
    const reading = again.find({ order: 'oldest', limit: 3_000 })
    await expect(reading).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    await expect(reading).rejects.toThrow(/backup.*\.recover/)
  })

  it('that is none of SQLite’s is refused in words', async () => {
    const path = ownFile()
    writeFileSync(path, 'this was a letter to my aunt'.repeat(1_000))
    const before = readFileSync(path)
    await expect(openSqliteStore({ path })).rejects.toMatchObject(REFUSED)
    await expect(openSqliteStore({ path })).rejects.toThrow(
      /not a readable SQLite file.*backup.*\.recover.*name another/i,
    )
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('that is another program’s is refused and left alone', async () => {
    const path = ownFile()
    const theirs = new DatabaseSync(path)
    theirs.exec('CREATE TABLE letters (text)')
    theirs.close()
    const before = readFileSync(path)
    await expect(openSqliteStore({ path })).rejects.toMatchObject(REFUSED)
    await expect(openSqliteStore({ path })).rejects.toThrow(/another program/)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('that a newer pawl has written is refused, naming both versions', async () => {
    const path = ownFile()
    await (await openSqliteStore({ path })).close()
    const newer = new DatabaseSync(path)
    newer.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`)
    newer.close()
    await expect(openSqliteStore({ path })).rejects.toMatchObject(REFUSED)
    const versions = new RegExp(`schema ${MIGRATIONS.length + 1}, this one knows ${MIGRATIONS.length}`)
    await expect(openSqliteStore({ path })).rejects.toThrow(versions)
  })

  it('is written ahead, and synced with every commit', () => {
    const file = openFile(ownFile())
    const FULL = 2
    expect(file.prepare('PRAGMA journal_mode').get()).toEqual(['wal'])
    expect(file.prepare('PRAGMA synchronous').get()).toEqual([FULL])
    file.close()
  })

  it('is one file again when the last one closes it', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    await store.insert([newJob(1, await clockOf(store))])
    expect(existsSync(`${path}-wal`)).toBe(true)
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('does not keep a process alive that has nothing more to ask', async () => {
    const host = startHost('forget', ownFile())
    expect(await rest(host)).toEqual(['inserted'])
    expect(await host.ended).toBe(0)
  })

  it('is opened under whatever flags the process has', async () => {
    const host = startHostWith(['--max-old-space-size=300', '--expose-gc', '--enable-source-maps'], 'forget', ownFile())
    expect(await rest(host)).toEqual(['inserted'])
    expect(await host.ended).toBe(0)
  })

  it('tells of kinds that others have made', async () => {
    const path = ownFile()
    const [one, other] = await Promise.all([openSqliteStore({ path }), openSqliteStore({ path })])
    const job = (number: number, queue: string) => {
      const item = newJob(number, 1_000)
      const kind = { ...item.job.spec.kind, queue }
      const spec = { ...item.job.spec, kind }
      const event = { ...item.event, payload: { ...item.event.payload, spec } } as typeof item.event
      return { ...item, job: { ...item.job, spec }, event }
    }
    await one.insert([job(1, 'a'), job(2, 'b')])
    // The other one has learnt the number of a later kind before it hears of the earlier ones.
    await other.insert([job(3, 'c')])
    const { jobs } = await other.find({ queues: ['a', 'c'], order: 'oldest', limit: 10 })
    expect(jobs.map(({ spec }) => spec.kind.queue)).toEqual(['a', 'c'])
    await Promise.all([one.close(), other.close()])
  })
})

it('a file that the version before has written goes on: its jobs run, and new ones may have limits', async () => {
  const [older, path] = [ownFile(), ownFile()]
  const source = await openSqliteStore({ path: older })
  const now = await clockOf(source)
  await source.insert([newJob(1, now), newJob(2, now), newJob(3, now)])
  const asked = grant(1)
  const [first] = owned(await source.claim(asked), asked)
  await source.close()
  asBefore(older, path, MIGRATIONS.length - 1)

  const store = await openSqliteStore({ path })
  await store.insert([limitedJob(4, now, 'host', { concurrency: 1 }), limitedJob(5, now, 'host', { concurrency: 1 })])
  const rest = (await store.claim(grant(10))).jobs.map(({ before }) => before.id)
  expect(new Set(rest)).toEqual(new Set([2, 3, 4].map(idText)))
  const { verdicts } = await store.commit(first === undefined ? [] : [completed(first, now)])
  expect(verdicts).toEqual([{ status: 'applied' }])
  await store.close()
})
