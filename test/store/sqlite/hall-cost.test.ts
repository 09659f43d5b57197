/** What it costs to be let in and to be claimed, in rows read and statements that wrote: the same whatever else waits. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { claimedJobs } from '../../../src/store/sqlite/decode.ts'
import { changeRow, insertRow } from '../../../src/store/sqlite/encode.ts'
import type { Asked } from '../../../src/store/sqlite/protocol.ts'
import { claim } from '../../../src/store/sqlite/thread/claim.ts'
import { commit } from '../../../src/store/sqlite/thread/commit.ts'
import { heartbeat } from '../../../src/store/sqlite/thread/heartbeat.ts'
import { insert } from '../../../src/store/sqlite/thread/insert.ts'
import { Ledger } from '../../../src/store/sqlite/thread/ledger.ts'
import { openFile } from '../../../src/store/sqlite/thread/open.ts'
import { OpenFile } from '../../../src/store/sqlite/thread/open-file.ts'
import { storeClock } from '../../../src/store/sqlite/thread/store-clock.ts'
import { realClock } from '../../../src/system/clock.ts'
import { scaled } from '../../support/scale.ts'
import { watched } from './counting.ts'
import { ownFile } from './folder.ts'
import { cancelled, completed, grant, KIND, limitedJob, newJob, owned } from './life.ts'

const ONE = { concurrency: 1 }
const { tenant, queue, type } = KIND
const KINDS = [[JSON.stringify(KIND), tenant, queue, type, 30_000]] as const
const MANY = scaled(10_000, 100_000)

/** A file of jobs with keys, and the cost of what is done with it. */
class Hall {
  readonly #ledger: Ledger
  #rows = 0
  #jobs = 0

  constructor() {
    const file = openFile(ownFile())
    onTestFinished(() => file.close())
    file.db.exec('PRAGMA synchronous = OFF')
    const db = watched(file.db, (rows) => {
      this.#rows += rows
    })
    this.#ledger = new Ledger(new OpenFile(db), storeClock(realClock), 1_000)
  }

  /** Jobs of a key that allows one at a time. */
  insert(keys: readonly string[]): number {
    return this.#cost(() => {
      const rows = keys.map((key) => {
        this.#jobs += 1
        return insertRow(limitedJob(this.#jobs, this.#ledger.now, key, ONE), () => -1)
      })
      expect(insert(this.#ledger, { kinds: KINDS, rows, together: false }).every((answer) => answer === 1)).toBe(true)
    })
  }

  claim(limit: number): { readonly claimed: number; readonly cost: number } {
    const words = { request: `r${this.#jobs}`, worker: 'w', actor: 'worker:w', nonce: '0123456789abcdef' }
    const lanes = [[tenant, queue, 5]] as const
    const asked: Asked<'claim'> = { ...words, lanes, serves: undefined, limit, limited: limit, maxInputBytes: 0 }
    let claimed = 0
    const cost = this.#cost(() => {
      claimed = claim(this.#ledger, asked).jobs.length / 5
    })
    return { claimed, cost }
  }

  /** What one that is owned does last: the first job of all. */
  free(): number {
    return this.#cost(() => this.#ledger.usher.free(1, this.#ledger.now))
  }

  /** One transaction, its look included. */
  #cost(work: () => void): number {
    this.#ledger.begin()
    this.#rows = 0
    work()
    this.#ledger.commit()
    return this.#rows
  }
}

const repeated = (key: string, count: number): readonly string[] => new Array<string>(count).fill(key)

/** The first job's key has so many waiting behind it; then one of a key of its own comes, is let in and claimed. */
function besideHeld(count: number): readonly number[] {
  const hall = new Hall()
  hall.insert(['busy'])
  expect(hall.claim(1).claimed).toBe(1)
  hall.insert(repeated('busy', count))
  const inserted = hall.insert(['calm'])
  const { claimed, cost } = hall.claim(10)
  expect(claimed).toBe(1)
  return [inserted, cost, hall.free()]
}

/** So many keys with a job each, of which more wait than a lane has room for. */
function besideKeys(count: number): readonly number[] {
  const hall = new Hall()
  hall.insert(Array.from({ length: count }, (_, i) => `key ${i}`))
  expect(hall.claim(1).claimed).toBe(1)
  const inserted = hall.insert(['calm'])
  const { claimed, cost } = hall.claim(10)
  expect(claimed).toBe(10)
  return [inserted, cost, hall.free()]
}

describe('a job without a flow', () => {
  it('meets no table of the hall from its birth to its end', () => {
    const file = openFile(ownFile())
    onTestFinished(() => file.close())
    const run = new Set<string>()
    const ledger = new Ledger(new OpenFile(watched(file.db, (_, sql) => run.add(sql))), storeClock(realClock), 1_000)
    const reference = () => -1
    const asked = grant(2)
    ledger.begin()
    const rows = [1, 2].map((number) => insertRow(newJob(number, ledger.now), reference))
    insert(ledger, { kinds: KINDS, rows, together: false })
    const { requestId: request, workerId: worker, actor, nonce, limit, maxInputBytes } = asked
    const lanes = [[tenant, queue, 5]] as const
    const words = { request, worker, actor, nonce, lanes, serves: undefined, limit, limited: limit, maxInputBytes }
    const answer = claim(ledger, words)
    const jobs = claimedJobs(answer, { get: () => KIND })
    const [first, second] = owned({ now: ledger.now, replayed: false, jobs }, asked)
    if (first === undefined || second === undefined) throw new Error('both were claimed')
    heartbeat(ledger, [[1, first.lease?.fence ?? '', 'beat']])
    const changes = [completed(second, ledger.now), cancelled(first, ledger.now)].map((each) =>
      changeRow(each, reference, true),
    )
    expect(commit(ledger, { kinds: KINDS, rows: changes })).toEqual(['applied', 'conflict'])
    ledger.commit()
    expect(run.size).toBeGreaterThan(20)
    expect([...run].filter((sql) => /\b(flow|flow_key|slot|pace|hunger|crossing)\b/.test(sql))).toEqual([])
  })
})

describe('the cost of inserting a job, claiming it and giving its slot on', () => {
  it(`is the same beside ${MANY} that are held at one key`, () => {
    expect(besideHeld(MANY)).toEqual(besideHeld(10))
  })

  it(`is the same beside ${MANY} keys`, () => {
    expect(besideKeys(MANY)).toEqual(besideKeys(100))
  })
})
