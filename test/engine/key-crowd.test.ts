/** Ends of jobs whose key somebody changes before their every commit: none is kept from its store, and the key hears of each. */
import { describe, expect, it } from 'vitest'
import { decodeKey } from '../../src/core/flow/document.ts'
import type { Assignment } from '../../src/engine/engine.ts'
import { FlowKeys } from '../../src/engine/flow-keys.ts'
import { MET_AT_KEY } from '../../src/engine/hearsay.ts'
import { Owed } from '../../src/engine/owed.ts'
import type { Change, Setting } from '../../src/store/store.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { Between } from './between.ts'
import { EngineFixture, type Saying } from './engine-fixture.ts'

const FLOW = { keys: ['host'], fair: undefined }

class Crowd {
  readonly #between = new Between()
  readonly fixture = new EngineFixture({ between: (store) => this.#between.wrap(store) })
  readonly #operator = this.fixture.another()
  /** Commits of ends. */
  tries = 0
  /** The process goes when it is about to tell a key what it is owed. */
  isDying = false
  #sets = 0

  /** From now on somebody sets a number just before an end is committed. */
  begin(): void {
    this.#between.beforeCommit = async (changes) => {
      if (this.isDying && changes.some(({ kind }) => kind === 'key')) {
        this.begin()
        throw new Error('gone')
      }
      if (changes.some(isEnd)) {
        this.tries += 1
        await this.set()
      }
      this.begin()
    }
  }

  async set(): Promise<void> {
    this.#sets += 1
    const ask = { type: 'set', limit: { concurrency: 5 + (this.#sets % 3) } } as const
    await this.#operator.sayToLimits([
      { tenant: 't', key: 'host', actor: 'operator:ann', requestId: `${this.#sets}`, ask },
    ])
  }

  async running(count: number): Promise<readonly Assignment[]> {
    for (let n = 0; n < count; n += 1) await this.fixture.enqueue({ flow: FLOW })
    await this.fixture.engine.tick(100)
    const assignments = await this.fixture.claim(count)
    for (const { job, fence } of assignments) await this.fixture.must(job.id, { type: 'start', fence })
    return assignments
  }

  async end(assignments: readonly Assignment[], saying: (fence: string) => Saying): Promise<void> {
    const { fixture } = this
    const words = assignments.map(({ job, fence }) => fixture.word(job.id, saying(fence)))
    for (const answer of await fixture.engine.settle(words)) expect(answer).toMatchObject({ ok: true })
  }

  /** Upkeep of another process, later. */
  async upkeep(laterMs = 30_000): Promise<void> {
    const { store, clock } = this.fixture
    clock.advance(laterMs)
    this.#between.beforeCommit = undefined
    const keys = new FlowKeys({ store, log: silentLog })
    const owed = new Owed({ store, keys, timers: realTimers, log: silentLog, now: () => clock.now() })
    await owed.round(clock.now())
  }

  async notes(): Promise<readonly Setting[]> {
    const [page] = await this.fixture.store.settings([{ op: 'list', collection: 'duty', after: 'owed/', limit: 10 }])
    return page?.settings ?? []
  }

  async log(): Promise<readonly string[]> {
    const { limits } = await this.fixture.engine.limits({ tenant: 't', names: ['host'], limit: 1 })
    return (
      limits[0]?.log.filter(({ type }) => type !== 'limited').map(({ type, cause }) => `${type} ${cause.code}`) ?? []
    )
  }

  async strikes(): Promise<number> {
    const { keys } = await this.fixture.store.events({ by: 'keys', tenant: 't', names: ['host'], limit: 1 })
    return decodeKey('host', keys?.[0]?.text ?? '').record.strikes
  }
}

const isEnd = (change: Change): boolean => change.kind === 'move' && change.after.lease === undefined

const succeeds = (fence: string): Saying => ({ type: 'complete', fence, stats: {}, executionMs: 0 })
const fails = (fence: string): Saying => ({
  type: 'fail',
  fence,
  fault: { code: 'E_5XX_ORIGIN', message: 'down' },
  executionMs: 0,
})

describe('while numbers are set before the every commit of an end', () => {
  it('ends that change nothing about their key meet one conflict, and go through together', async () => {
    const crowd = new Crowd()
    const assignments = await crowd.running(5)
    crowd.begin()
    await crowd.end(assignments, succeeds)
    expect(crowd.tries).toBe(2)
  })

  it('ends that change their key go through all the same, and the key hears of each', async () => {
    const crowd = new Crowd()
    const assignments = await crowd.running(3)
    crowd.begin()
    await crowd.end(assignments, fails)
    expect(crowd.tries).toBeLessThanOrEqual(assignments.length * (MET_AT_KEY + 1))
    await eventually('three failures in a row to be counted', async () => (await crowd.strikes()) === 3)
  })

  it('what it has yet to hear is told by another process, where its own is gone before it could: a Retry-After, and once', async () => {
    const crowd = new Crowd()
    const assignments = await crowd.running(1)
    crowd.isDying = true
    crowd.begin()
    await crowd.end(assignments, (fence) => ({
      type: 'fail',
      fence,
      fault: { code: 'E_429_RATE', message: 'later', retryAfterMs: 600_000 },
      executionMs: 0,
    }))
    const [note] = await crowd.notes()
    expect(await crowd.log(), 'the end went first').toEqual([])
    await crowd.upkeep()
    expect(await crowd.log()).toEqual(['broken E_429_RATE'])
    expect(await crowd.notes()).toEqual([])
    // Told, and gone before the note was taken off.
    const again = {
      op: 'put',
      collection: 'duty',
      key: note?.key ?? '',
      text: note?.text ?? '',
      rev: undefined,
    } as const
    await crowd.fixture.store.settings([again])
    await crowd.upkeep()
    expect(await crowd.log()).toEqual(['broken E_429_RATE'])
    // Noted, and gone before the end was committed.
    await crowd.fixture.store.settings([
      { ...again, text: again.text.replace(/"requestId":"[^"]*"/, '"requestId":"never"') },
    ])
    await crowd.upkeep(600_000)
    expect([await crowd.log(), await crowd.notes()]).toEqual([['broken E_429_RATE'], []])
  })

  it('failures that are told again count once', async () => {
    const crowd = new Crowd()
    crowd.isDying = true
    const assignments = await crowd.running(2)
    crowd.begin()
    await crowd.end(assignments, fails)
    const notes = await crowd.notes()
    expect([notes.length, await crowd.strikes()]).toEqual([2, 0])
    const put = ({ key, text }: Setting) => ({ op: 'put', collection: 'duty', key, text, rev: undefined }) as const
    for (let n = 0; n < 2; n += 1) {
      await crowd.upkeep()
      expect(await crowd.strikes()).toBe(2)
      await crowd.fixture.store.settings(notes.map(put))
    }
  })

  it('what it has yet to hear is told before its process is gone', async () => {
    const crowd = new Crowd()
    const assignments = await crowd.running(2)
    const { store } = crowd.fixture
    const closing = store.close
    store.close = async () => {}
    crowd.begin()
    await crowd.end(assignments, fails)
    await crowd.fixture.engine[Symbol.asyncDispose]()
    expect(await crowd.strikes()).toBe(2)
    await closing()
  })
})

it('a success that is told late still ends a row of failures', async () => {
  const crowd = new Crowd()
  const assignments = await crowd.running(3)
  const [bad, good, other] = assignments as [Assignment, Assignment, Assignment]
  // Another process has it that the key is at rest, and does not hear of the failure.
  const elsewhere = crowd.fixture.another()
  await elsewhere.limits({ tenant: 't', names: ['host'], limit: 1 })
  await crowd.end([bad], fails)
  expect(await crowd.strikes()).toBe(1)
  await crowd.fixture.say(good.job.id, succeeds(good.fence), elsewhere)
  expect(await crowd.strikes()).toBe(0)
  await crowd.end([other], fails)
  expect(await crowd.strikes()).toBe(1)
})
