/** What keys are owed by processes that are gone: told as of the end it is about, once, and of whomever it is. */
import { describe, expect, it } from 'vitest'
import { decodeKey, type KeyDocument } from '../../src/core/flow/document.ts'
import type { KeyRecord } from '../../src/core/flow/key.ts'
import type { Signal } from '../../src/core/flow/signal.ts'
import { FlowKeys } from '../../src/engine/flow-keys.ts'
import { announce, Owed, type Owing, tell } from '../../src/engine/owed.ts'
import { retention } from '../../src/engine/retention.ts'
import { type Log, silentLog } from '../../src/system/log.ts'
import { realTimers, type Timers } from '../../src/system/timers.ts'
import { Between } from './between.ts'
import { EngineFixture } from './engine-fixture.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const atOnce: Timers = { ...realTimers, sleep: async () => {} }
const RETRY_AFTER: Signal = { type: 'retry_after', retryAfterMs: 10 * MINUTE }

class Debts {
  readonly between = new Between()
  readonly fixture = new EngineFixture({ between: (store) => this.between.wrap(store) })
  readonly #operator = this.fixture.another()
  readonly warnings: unknown[] = []
  readonly #log: Log = { ...silentLog, warn: (_, fields) => void this.warnings.push(fields) }
  #sets = 0

  /** Those of a process that has ended none of the attempts. */
  readonly parts = this.#parts()
  readonly #owed = new Owed(this.parts)

  #parts() {
    const { store, clock } = this.fixture
    const keys = new FlowKeys({ store, log: silentLog })
    return { store, keys, timers: atOnce, log: this.#log, now: () => clock.now() }
  }

  get isAtItsEnd(): boolean {
    return this.#owed.isAtItsEnd
  }

  round(): Promise<void> {
    return this.#owed.round(this.fixture.clock.now())
  }

  /** An attempt that has ended, of which its key has not heard what it is noted to be owed. */
  async owing(tenant: string, key: string, signal: Signal): Promise<Owing> {
    const { fixture } = this
    const requestId = fixture.requestId()
    const kind = { ...fixture.kind, tenant }
    await fixture.enqueue({ kind, flow: { keys: [key], fair: undefined } })
    await fixture.engine.tick(100)
    const lanes = [{ tenant, queue: kind.queue, priority: 5 }]
    const [assignment] = await fixture.engine.claim({ requestId: fixture.requestId(), workerId: 'w', lanes, limit: 1 })
    if (assignment === undefined) throw new Error('nothing was claimed')
    const { job, fence } = assignment
    await fixture.must(job.id, { type: 'start', fence })
    // Of a kind that tells a key nothing.
    const fault = { code: 'invalid_url', message: 'no' }
    await fixture.must(job.id, { type: 'fail', fence, fault, executionMs: 0, requestId })
    const cause = { job: job.id, attempt: 1, code: 'E_429_RATE', actor: 'worker:w', requestId }
    return { tenant, heard: { key, input: { ...signal, claimedAt: fixture.clock.now(), cause } } }
  }

  async note(tenant: string, key: string, signal: Signal): Promise<Owing> {
    const owing = await this.owing(tenant, key, signal)
    await announce(this.fixture, [owing])
    return owing
  }

  /** Before each commit from now on somebody sets another number for that key. */
  fight(tenant: string, key: string): void {
    this.between.beforeCommit = async (changes) => {
      if (changes.some((change) => change.kind === 'key' && change.tenant === tenant && change.move.key === key)) {
        this.#sets += 1
        await this.say(tenant, key, { type: 'set', limit: { concurrency: 5 + (this.#sets % 3) } })
      }
      this.fight(tenant, key)
    }
  }

  async say(
    tenant: string,
    key: string,
    ask: { readonly type: 'reset' } | { readonly type: 'set'; readonly limit: { readonly concurrency: number } },
  ): Promise<void> {
    const requestId = this.fixture.requestId()
    await this.#operator.sayToLimits([{ tenant, key, actor: 'operator:ann', requestId, ask }])
  }

  async document(tenant: string, key: string): Promise<KeyDocument> {
    const { keys } = await this.fixture.store.events({ by: 'keys', tenant, names: [key], limit: 1 })
    return decodeKey(key, keys?.[0]?.text ?? '')
  }

  async key(tenant = 't', key = 'host'): Promise<KeyRecord> {
    return (await this.document(tenant, key)).record
  }

  async notes(): Promise<number> {
    const [page] = await this.fixture.store.settings([{ op: 'list', collection: 'duty', after: 'owed/', limit: 1_000 }])
    return page?.settings.filter(({ key }) => key.startsWith('owed/')).length ?? 0
  }
}

describe('a round of what is owed', () => {
  it('goes on with others where a key cannot be had, tries its tenant once a walk, and says so', async () => {
    const debts = new Debts()
    for (const key of ['one', 'two']) await debts.note('a', key, RETRY_AFTER)
    await debts.note('z', 'host', RETRY_AFTER)
    debts.fixture.clock.advance(MINUTE)
    debts.fight('a', 'one')
    await debts.round()
    expect((await debts.key('z')).state).toBe('broken')
    expect(debts.warnings).toMatchObject([{ about: '["a","one"]', attempts: 1 }])
    expect(await debts.notes()).toBe(2)
    debts.between.beforeCommit = undefined
    await debts.round()
    expect([(await debts.key('a', 'one')).state, (await debts.key('a', 'two')).state]).toEqual(['broken', 'broken'])
    expect(await debts.notes()).toBe(0)
  })

  it('begins where the last one ended: notes that are young hide none behind them', async () => {
    const debts = new Debts()
    await debts.note('z', 'host', RETRY_AFTER)
    const young = await debts.owing('a', 'host', RETRY_AFTER)
    debts.fixture.clock.advance(MINUTE)
    await announce(debts.fixture, likes(young, 100))
    await debts.round()
    expect([debts.isAtItsEnd, (await debts.key('z')).state]).toEqual([false, 'open'])
    await debts.round()
    expect([debts.isAtItsEnd, (await debts.key('z')).state]).toEqual([true, 'broken'])
  })

  it('is followed by another one soon while there are more', async () => {
    const debts = new Debts()
    const { fixture } = debts
    await announce(fixture, likes(await debts.owing('t', 'host', RETRY_AFTER), 150))
    fixture.clock.advance(MINUTE)
    const pauses: number[] = []
    const sleep = async (ms: number): Promise<void> => {
      pauses.push(ms)
      if (pauses.length === 2) void upkeep.stop()
    }
    const timers: Timers = { ...realTimers, sleep }
    const options = { everyMs: 60_000 }
    const upkeep = retention({ store: fixture.store, engine: fixture.engine, timers, log: silentLog }, options)
    upkeep.start()
    await expect.poll(() => pauses).toEqual([1_000, 60_000])
    await upkeep.stop()
    expect(await debts.notes()).toBe(0)
  })
})

it('a note is kept while its end may be under way, and the key hears of it once it has come about', async () => {
  const debts = new Debts()
  const { clock } = debts.fixture
  const { tenant, heard } = await debts.owing('t', 'host', RETRY_AFTER)
  const cause = { ...heard.input.cause, requestId: 'yet to come' }
  const early = { tenant, heard: { ...heard, input: { ...heard.input, cause } } }
  await announce(debts.fixture, [early])
  clock.advance(MINUTE)
  await debts.round()
  expect([(await debts.key()).state, await debts.notes()]).toEqual(['open', 1])
  await tell(debts.parts, [{ ...early, endedAt: clock.now() }])
  expect([(await debts.key()).state, await debts.notes()]).toEqual(['broken', 0])
  await announce(debts.fixture, [early])
  clock.advance(10 * MINUTE)
  await debts.round()
  expect(await debts.notes()).toBe(0)
})

describe('what is told late', () => {
  it('is as of the end: a Retry-After runs from there, and is over when it is', async () => {
    const debts = new Debts()
    const endedAt = debts.fixture.clock.now()
    await debts.note('t', 'host', RETRY_AFTER)
    debts.fixture.clock.advance(9 * MINUTE)
    await debts.round()
    const { state, until } = await debts.key()
    expect(state).toBe('broken')
    expect(until).toBeGreaterThanOrEqual(endedAt + 10 * MINUTE)
    // A tenth more at most, of what is left.
    expect(until).toBeLessThanOrEqual(endedAt + 10.1 * MINUTE)
    const late = new Debts()
    await late.note('t', 'host', RETRY_AFTER)
    late.fixture.clock.advance(6 * HOUR)
    await late.round()
    expect([(await late.key()).state, await late.notes()]).toEqual(['open', 0])
  })

  it('slows no key that would have recovered by now, and keeps its session', async () => {
    const heard = async (lateMs: number) => {
      const debts = new Debts()
      await debts.note('t', 'host', { type: 'throttled' })
      debts.fixture.clock.advance(lateMs)
      await debts.round()
      const { state, session } = await debts.key()
      return [state, session, await debts.notes()]
    }
    expect(await heard(MINUTE)).toEqual(['slow', 1, 0])
    expect(await heard(6 * HOUR)).toEqual(['open', 0, 0])
  })
})

it('what was told counts once while its note is there, however many are told after it', async () => {
  const debts = new Debts()
  const { clock } = debts.fixture
  const first = await debts.note('t', 'host', { type: 'retry_after', retryAfterMs: 5 * HOUR })
  clock.advance(MINUTE)
  await debts.round()
  expect((await debts.key()).state).toBe('broken')
  // Who told it was gone before the note was taken off.
  await announce(debts.fixture, [first])
  await debts.say('t', 'host', { type: 'reset' })
  clock.advance(1)
  const others = likes(await debts.owing('t', 'host', { type: 'unavailable' }), 150)
  await announce(debts.fixture, others)
  await tell(
    debts.parts,
    others.map((each) => ({ ...each, endedAt: clock.now() })),
  )
  expect((await debts.key()).state).toBe('broken')
  await debts.say('t', 'host', { type: 'reset' })
  clock.advance(MINUTE)
  await debts.round()
  expect([(await debts.key()).state, await debts.notes()]).toEqual(['open', 0])
})

/** Notes of the same end, of attempts that differ. */
const likes = ({ tenant, heard }: Owing, count: number): readonly Owing[] =>
  Array.from({ length: count }, (_, n) => {
    const cause = { ...heard.input.cause, attempt: n + 1 }
    return { tenant, heard: { ...heard, input: { ...heard.input, cause } } }
  })
