import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { ownFile } from './folder.ts'
import { clockOf, grant, newJob } from './life.ts'

/** Takes the file's write lock, as another process would. */
function lock(path: string): { free(): void } {
  const db = new DatabaseSync(path)
  db.exec('BEGIN IMMEDIATE')
  return {
    free() {
      db.exec('ROLLBACK')
      db.close()
    },
  }
}

describe('while somebody else has the file', () => {
  it('the event loop turns, reads are answered, and the write goes through in the end', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    const other = lock(path)
    let settled = false
    const writes = Promise.all(
      [1, 2, 3].map(async (number) => {
        const answer = await store.insert([newJob(number, now)])
        settled = true
        return answer.items
      }),
    )
    // Each read is a round trip through the thread that cannot write: it waits for nobody either.
    for (let round = 0; round < 50; round += 1) {
      await turn()
      expect((await store.load([{ id: idText(1) }])).items).toEqual([undefined])
    }
    expect(settled).toBe(false)
    other.free()
    expect(await writes).toEqual([1, 2, 3].map(() => [{ status: 'inserted' }]))
    await store.close()
  })

  it('a worker with nothing to claim does not wait', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const other = lock(path)
    expect((await store.claim(grant(10))).jobs).toEqual([])
    expect((await store.due(10)).jobs).toEqual([])
    other.free()
    await store.close()
  })

  it('for too long, the call is refused by name, and nothing was changed', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path, busyMs: 30 })
    const now = await clockOf(store)
    const other = lock(path)
    await expect(store.insert([newJob(1, now)])).rejects.toMatchObject({ code: 'STORE_BUSY' })
    other.free()
    expect((await store.load([{ id: idText(1) }])).items).toEqual([undefined])
    expect((await store.insert([newJob(1, now)])).items).toEqual([{ status: 'inserted' }])
    await store.close()
  })

  it('closing waits for what was asked before', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    const other = lock(path)
    const write = store.insert([newJob(1, now)])
    const closed = store.close()
    await turn()
    other.free()
    expect((await write).items).toEqual([{ status: 'inserted' }])
    await closed
  })
})
