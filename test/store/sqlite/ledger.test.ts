import { describe, expect, it, onTestFinished } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { Ledger } from '../../../src/store/sqlite/thread/ledger.ts'
import { openFile } from '../../../src/store/sqlite/thread/open.ts'
import { storeClock } from '../../../src/store/sqlite/thread/store-clock.ts'
import { realClock } from '../../../src/system/clock.ts'
import { ownFile } from './folder.ts'
import { clockOf, newJob } from './life.ts'

function ownLedger(path = ownFile()): Ledger {
  const file = openFile(path)
  onTestFinished(() => file.close())
  return new Ledger(file, storeClock(realClock), 1_000)
}

const kind = (queue: string) => [`{"queue":"${queue}"}`, 't', queue, 'type', 1_000] as const

describe('a transaction', () => {
  it('forgets the kinds of a part that did not last: their numbers go to others', () => {
    const ledger = ownLedger()
    ledger.begin()
    const doomed = () => {
      ledger.kinds.intern([kind('doomed')])
      throw new Error('no')
    }
    expect(() => ledger.atomically(doomed)).toThrow('no')
    const [number] = ledger.kinds.intern([kind('kept')])
    ledger.commit()
    expect(ledger.reading.kinds.unsent()).toEqual([[number, kind('kept')[0]]])
    expect(ledger.kinds.queue('t', 'doomed')).toBeUndefined()
  })

  it('that is rolled back leaves no kind, no count and no event', () => {
    const path = ownFile()
    const ledger = ownLedger(path)
    ledger.begin()
    const [number = 0] = ledger.kinds.intern([kind('q')])
    ledger.gathered.happened(1, 'e', number, 1, 1)
    ledger.gathered.count(number, 'q', 1)
    ledger.rollback()
    expect(ledger.reading.kinds.unsent()).toEqual([])
    ledger.begin()
    ledger.commit()
    const other = ownLedger(path)
    for (const table of ['kind', 'queue', 'entry', 'tally']) {
      expect(other.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 })
    }
  })
})

describe('the feed', () => {
  it('loses what is too old from its front, and goes on counting', async () => {
    const store = await openSqliteStore({ path: ownFile(), feedMs: 0 })
    const now = await clockOf(store)
    let last = 0
    for (let number = 1; number <= 200; number += 1) {
      // The sweep spares the present millisecond.
      while ((await clockOf(store)) === last);
      last = (await store.insert([newJob(number, now)])).now
    }
    const { feed } = await store.events({ by: 'feed', after: '', limit: 1_000 })
    expect(feed.length).toBeLessThan(200)
    expect(feed.at(-1)?.jobId).toBe(idText(200))
    expect(feed.at(-1)?.position).toBe('200.1')
    expect((await store.find({ order: 'oldest', limit: 300 })).jobs).toHaveLength(200)
    await store.close()
  })
})
