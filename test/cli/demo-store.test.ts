/** Where the demo keeps its jobs between two runs, and what it says about a file it cannot use. */
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { ended, folder, json, type Running, started } from './pawl.ts'

interface Served {
  readonly store: string
  readonly refund: string
}

const START = ['demo', '--port', '0', '--json']

const home = folder()
afterAll(() => home[Symbol.dispose]())

const file = home.at('.pawl/demo.db')
const begun = async (running: Running) => JSON.parse(await running.line(/^\{/)) as Served
const refused = (...words: readonly string[]) => ended([...START, ...words], { cwd: home.path })
const since = async (refund: string) =>
  (await json<{ createdAt: string }>(['jobs', 'show', refund, '--url', file])).createdAt

async function once<T>(words: readonly string[], meanwhile: (served: Served) => Promise<T>): Promise<T> {
  await using demo = started([...START, ...words], { cwd: home.path })
  const found = await meanwhile(await begun(demo))
  demo.child.kill('SIGINT')
  expect((await demo.ended).code).toBe(0)
  return found
}

describe('the jobs of the demo', () => {
  let first = ''
  let at = ''

  it('are in a file of this folder, and are not cleared while it is in use', async () => {
    await once([], async ({ store, refund }) => {
      expect(store).toBe(file)
      const { code, stderr } = await refused('--reset')
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('another demo runs in this folder. Nothing was cleared'),
      ])
      first = refund
      at = await since(refund)
    })
  })

  it('are there the next time', async () => {
    expect(await once([], async ({ refund }) => [refund, await since(refund)])).toEqual([first, at])
  })

  it('are somebody else’s to remove where --url names their file', async () => {
    const { code, stderr } = await refused('--reset', '--url', file)
    expect([code, stderr]).toEqual([2, expect.stringContaining('Remove that one yourself.')])
  })

  it('of a newer version, or damaged, are refused with how to begin anew', async () => {
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 9999')
    expect((await refused()).stderr).toMatch(/was written by a newer pawl.*npm start -- --reset/s)
    db.close()
    writeFileSync(file, 'this is no database, and long enough to be taken for one'.repeat(100))
    const { code, stderr } = await refused()
    expect([code, stderr]).toEqual([2, expect.stringMatching(/is not a readable SQLite file.*npm start -- --reset/s)])
  })

  it('are gone after --reset, whatever was in the file', async () => {
    expect(await once(['--reset'], ({ refund }) => since(refund))).not.toBe(at)
  })
})
