/** However fat records are, a turn of a thread carries so much and no more, and whoever keeps a lease waits for one turn. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { LENGTHS, SIZES } from '../../../src/core/limits.ts'
import { bearable, lettersIn } from '../../../src/store/sqlite/burden.ts'
import type { Answer, Answered, Asked, Call } from '../../../src/store/sqlite/protocol.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { GroupCommit } from '../../../src/store/sqlite/thread/group-commit.ts'
import { Ledger } from '../../../src/store/sqlite/thread/ledger.ts'
import { openFile } from '../../../src/store/sqlite/thread/open.ts'
import { storeClock } from '../../../src/store/sqlite/thread/store-clock.ts'
import type { Key, NewJob, Store } from '../../../src/store/store.ts'
import { realClock } from '../../../src/system/clock.ts'
import { realTimers } from '../../../src/system/timers.ts'
import { ownFile } from './folder.ts'
import { clockOf, completed, grant, newJob, owned } from './life.ts'

/** As long as an environment makes a record. */
const env = Object.fromEntries(
  Array.from({ length: SIZES.env }, (_, i) => [`${i}`.padEnd(LENGTHS.name, '-'), 'é'.repeat(LENGTHS.entry)]),
)
const FAT = 40_000
/** A turn ends with the record that makes it as long as it may be. */
const MOST = 1024 * 1024 + 2 * FAT
const JOBS = 80

function fatJob(number: number, now: number): NewJob {
  const item = newJob(number, now)
  const spec = { ...item.job.spec, env }
  const event = { ...item.event, payload: { ...item.event.payload, spec } } as NewJob['event']
  const keys: readonly Key[] = [{ purpose: 'dedupe', key: `d${number}`, until: undefined }]
  return { ...item, job: { ...item.job, spec }, event, keys }
}

async function fatStore(path = ownFile()): Promise<{ readonly store: Store; readonly items: readonly NewJob[] }> {
  const store = await openSqliteStore({ path })
  onTestFinished(() => store.close())
  const now = await clockOf(store)
  const items = Array.from({ length: JOBS }, (_, n) => fatJob(n + 1, now))
  expect((await store.insert(items)).items.every(({ status }) => status === 'inserted')).toBe(true)
  return { store, items }
}

describe('the writing thread', () => {
  /** Its loop, on a file of its own; each list is what one turn has answered. */
  async function loop() {
    const path = ownFile()
    const { store } = await fatStore(path)
    const one = grant(1)
    const [held] = owned(await store.claim(one), one) as [Job]
    await store.close()
    const file = openFile(path)
    onTestFinished(() => file.close())
    const turns: (readonly Answer[])[] = []
    const group = new GroupCommit(new Ledger(file, storeClock(realClock), 1_000_000), {
      path,
      busyMs: 1_000,
      timers: realTimers,
      monotonicMs: () => realClock.monotonicMs(),
      gather: () => [],
      report: (answers) => turns.push(answers),
    })
    return { group, turns, held }
  }

  const claim = (n: number): Call => {
    const { requestId, workerId, actor, nonce, limit, maxInputBytes } = grant(JOBS)
    const lanes = [['t', 'q', 5]] as const
    const asked = {
      request: requestId,
      worker: workerId,
      actor,
      nonce,
      lanes,
      serves: undefined,
      limit,
      limited: limit,
      maxInputBytes,
    }
    return { n, op: 'claim', asked }
  }
  const load = (n: number): Call => {
    const rows = Array.from({ length: JOBS }, (_, i) => [i + 1, null, 'alias', null, [], null, null, false] as const)
    return { n, op: 'load', asked: rows satisfies Asked<'load'> }
  }
  const heartbeat = (n: number, { id, lease }: Job): Call => {
    expect(id).toBe(idText(1))
    return { n, op: 'heartbeat', asked: [[1, lease?.fence ?? '', `beat ${n}`]] }
  }
  const carried = (answers: readonly Answer[]): number =>
    answers.reduce((sum, answer) => {
      const { jobs } = (answer.ok ? answer.answered : null) as Partial<Answered<'claim'>>
      return sum + lettersIn(jobs ?? (answer.ok ? answer.answered : null))
    }, 0)

  it('carries so much in a turn, whoever asks for more goes on in the next', async () => {
    const { group, turns, held } = await loop()
    group.take([claim(1), load(2), claim(3), load(4), claim(5), heartbeat(6, held)])
    expect(turns.length).toBeGreaterThan(2)
    for (const answers of turns) expect(carried(answers)).toBeLessThan(MOST)
    expect(turns[0]?.some(({ n, ok }) => n === 6 && ok)).toBe(true)
    expect(
      turns
        .flat()
        .map(({ n }) => n)
        .toSorted(),
    ).toEqual([1, 2, 3, 4, 5, 6])
    const given = turns.flat().filter(({ n }) => n % 2 === 1)
    const counts = given.map((answer) => ((answer.ok && answer.answered) as Answered<'claim'>).jobs.length / 5)
    for (const count of counts) {
      expect(count).toBeGreaterThan(0)
      expect(count * FAT).toBeLessThan(MOST)
    }
  })
})

describe('fat records', () => {
  it('are claimed so many at a time, in their order, until all are', async () => {
    const { store, items } = await fatStore()
    const given: string[] = []
    while (given.length < JOBS) {
      const { jobs } = await store.claim(grant(JOBS))
      expect(jobs.length).toBeGreaterThan(0)
      expect(jobs.length * FAT).toBeLessThan(MOST)
      given.push(...jobs.map(({ before }) => before.id))
    }
    expect(given).toEqual(items.map(({ job }) => job.id))
  })

  it('are loaded, met and settled whole, however many are named', async () => {
    const { store, items } = await fatStore()
    const jobs = items.map(({ job }) => job)
    expect((await store.load(jobs.map(({ id }) => ({ id })))).items.map((item) => item?.job)).toEqual(jobs)
    const now = await clockOf(store)
    const seconds = items.map((item, n) => ({
      ...newJob(1_000 + n, now, n % 2 === 0 ? item.input : '[]'),
      keys: item.keys,
    }))
    const met = await store.insert(seconds)
    expect(met.items).toEqual(jobs.map((job, n) => ({ status: 'exists', by: 'dedupe', job, sameInput: n % 2 === 0 })))
    const together = await store.insert([...seconds, newJob(5_000, now)], undefined, true)
    expect(together.items.slice(0, -1)).toEqual(met.items)
    const asked = grant(JOBS)
    const claimed = await store.claim(asked)
    const ends = owned(claimed, asked).map((job) => completed(job, claimed.now))
    expect((await store.commit(ends)).verdicts.every(({ status }) => status === 'applied')).toBe(true)
  })
})

describe('parts that can be borne', () => {
  it('are all there is, in order', () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ n, weight: n % 7 === 0 ? 3_000_000 : 100_000 }))
    const parts = [...bearable(rows, ({ weight }) => weight)]
    expect(parts.flat()).toEqual(rows)
    for (const part of parts)
      expect(part.slice(0, -1).reduce((sum, { weight }) => sum + weight, 0)).toBeLessThan(1024 * 1024)
    expect([...bearable([], () => 1)]).toEqual([[]])
  })
})
