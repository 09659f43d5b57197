/** Ends of jobs whose key somebody changes before their every commit: none is kept from its store, and the key hears of each. */
import { describe, expect, it } from 'vitest'
import { decodeKey } from '../../src/core/flow/document.ts'
import type { Assignment } from '../../src/engine/engine.ts'
import { MET_AT_KEY } from '../../src/engine/hearsay.ts'
import type { Change } from '../../src/store/store.ts'
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
  #sets = 0

  /** From now on somebody sets a number just before an end is committed. */
  begin(): void {
    this.#between.beforeCommit = async (changes) => {
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
