import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { openFile } from '../../../src/store/sqlite/thread/open.ts'
import { MIGRATIONS } from '../../../src/store/sqlite/thread/schema.ts'
import { ownFile, ownFolder } from './folder.ts'
import { clockOf, newJob } from './life.ts'
import { rest, startHost, startHostWith } from './process.ts'

const REFUSED = { name: 'SqliteStoreError', code: 'STORE_FILE_REFUSED' }

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
