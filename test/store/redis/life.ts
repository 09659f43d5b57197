/**
 * A caller's life: it enqueues, claims, renews and completes, one after the other, and notes down what it was told. What it is told at once
 * is compared with what anybody was told before; several may live on one store, and on several.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { EVERY_PRIORITY, type Job, type JobId } from '../../../src/core/job.ts'
import { type JobOptions, openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { ClaimedJob, Key, NewJob, Store } from '../../../src/store/store.ts'
import { realRandom } from '../../../src/system/random.ts'
import { DOCUMENT, documentOf, lastRevision, TENANT, type Told } from './told.ts'

/** What only one job that lives may have. */
const WANTED: Key = { purpose: 'dedupe', key: 'one', until: undefined }
/** So many run under one key at once. */
const AT_ONCE = 2
const LIMITED: JobOptions = { queue: 'limited', flow: { keys: { two: { concurrency: AT_ONCE } } } }
const DELAY_MS = 300
/** Jobs that one caller keeps for a while, and for how many of its rounds. */
const KEPT = 2
const KEPT_FOR = 12
/** Rounds with one block of ids. */
const ROUNDS_OF_A_BLOCK = 25

interface Kept {
  readonly id: JobId
  readonly until: number
}

/** Until the server has room: what it refused then it has not done. */
async function untilRoom<T>(work: () => Promise<T>, refused: () => void = () => {}): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused()
      await pause(10)
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'OVERLOADED'

export async function live(store: Store, told: Told, signal: AbortSignal): Promise<void> {
  const life = new Life(store, told, await block(store, told))
  while (!signal.aborted) await life.round()
  await life.letGo()
}

/** All that was born and has not ended yet is claimed and ended: nothing is forgotten that has to wait. */
export async function liveOn(store: Store, told: Told): Promise<void> {
  const life = new Life(store, told, await block(store, told))
  const until = performance.now() + 10_000
  while (told.ended.size < told.born.size) {
    const left = [...told.born.keys()].filter((id) => !told.ended.has(id))
    if (performance.now() > until) {
      const { items } = await store.load(left.slice(0, 3).map((id) => ({ id, flow: true })))
      expect(items, `${left.length} of ${told.born.size} jobs are never run`).toEqual([])
    }
    await life.work()
  }
}

/** Ids that nobody else has. */
async function block(store: Store, told: Told): Promise<StoreFixture> {
  const fixture = await untilRoom(() => openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {}))
  const first = fixture.id()
  expect(told.blocks.has(first), `the ids from ${first} on were given out before`).toBe(false)
  told.blocks.add(first)
  return fixture
}

class Life {
  readonly #store: Store
  readonly #told: Told
  #fixture: StoreFixture
  #round = 0
  #kept: Kept[] = []

  constructor(store: Store, told: Told, fixture: StoreFixture) {
    this.#store = store
    this.#told = told
    this.#fixture = fixture
  }

  async round(): Promise<void> {
    if (this.#round % ROUNDS_OF_A_BLOCK === 0) this.#fixture = await block(this.#store, this.#told)
    await this.#bear(await this.#next())
    if (this.#round % 3 === 0) await this.#change()
    await this.work()
    for (const kept of this.#kept) await this.#renew(kept.id)
    await this.#lookBack()
  }

  /** Claims, and ends what it is given, or keeps it for a while; what it has kept for long enough it ends. */
  async work(): Promise<void> {
    this.#round += 1
    await untilRoom(() => this.#store.due(10))
    for (const queue of ['main', 'limited']) {
      const lanes = EVERY_PRIORITY.map((priority) => ({ tenant: TENANT, queue, priority }))
      const nonce = realRandom.hex64()
      const grant = this.#fixture.grant({ limit: 1, lanes, nonce })
      const { jobs } = await untilRoom(() => this.#store.claim(grant))
      for (const claimed of jobs) await this.#take(claimed, nonce, queue === 'limited')
    }
    const over = this.#kept.filter(({ until }) => until <= this.#round)
    this.#kept = this.#kept.filter((kept) => !over.includes(kept))
    for (const { id } of over) await this.#end(id)
  }

  async letGo(): Promise<void> {
    for (const { id } of this.#kept) await this.#end(id)
  }

  async #next(): Promise<JobOptions> {
    switch (this.#round % 4) {
      case 0:
        return { keys: [WANTED] }
      case 1:
        return LIMITED
      case 2:
        return { runAt: (await this.#load(undefined)).now + DELAY_MS }
      default:
        return {}
    }
  }

  /** New, perhaps under a key that others want too: it is there, or the one that holds the key is. */
  async #bear(options: JobOptions): Promise<void> {
    const told = this.#told
    const input = JSON.stringify(realRandom.uuid())
    const draft: NewJob = this.#fixture.draft({ ...options, tenant: TENANT, input })
    const { id } = draft.job
    if (options.keys !== undefined) told.keyed.add(id)
    const refused = () => told.refused.add(id)
    const { items } = await this.#store.insert([draft]).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      refused()
      return { items: [] }
    })
    const [said] = items
    if (said?.status === 'exists' && said.job.id !== id) {
      told.named.add(said.job.id)
      refused()
    } else if (said !== undefined) {
      // Asked again by the store itself after a crash, it may meet itself: with what nobody else has brought.
      if (said.status === 'exists') expect(said.sameInput, `${id} is another job’s id`).toBe(true)
      else expect(said.status).toBe('inserted')
      expect(told.born.has(id), `${id} was given out before`).toBe(false)
      told.born.set(id, input)
      if (options.runAt !== undefined) told.notBefore.set(id, options.runAt)
    }
  }

  /** A document is changed by whoever knows its last revision. */
  async #change(): Promise<void> {
    const told = this.#told
    const least = lastRevision(told)
    const { rev, text } = await untilRoom(() => documentOf(this.#store))
    expect(rev, 'a document does not go back').toBeGreaterThanOrEqual(least)
    expect(text, `revision ${rev} of the document`).toBe(told.documents.get(rev) ?? text)
    const next = JSON.stringify({ by: realRandom.uuid() })
    const [put] = await untilRoom(() => this.#store.settings([{ op: 'put', ...DOCUMENT, text: next, rev }]))
    if (put?.status !== 'ok') return
    expect(told.documents.get(rev + 1), `revision ${rev + 1} was written by one`).toBeUndefined()
    told.documents.set(rev + 1, next)
  }

  async #take({ before, attempt, at, leaseExpiresAt }: ClaimedJob, nonce: string, isLimited: boolean): Promise<void> {
    const { notBefore, owned, running } = this.#told
    const { id } = before
    const fence = `${before.generation}.${attempt}.${nonce}`
    expect(at, `${id} waits for its time`).toBeGreaterThanOrEqual(notBefore.get(id) ?? 0)
    expect(owned.get(id)?.fence ?? fence, `${id} has one owner`).toBe(fence)
    owned.set(id, { fence, until: leaseExpiresAt })
    if (isLimited) {
      running.add(id)
      expect(running.size, 'so many run under one key').toBeLessThanOrEqual(AT_ONCE)
    }
    const isKept = !isLimited && this.#kept.length < KEPT && this.#round % 2 === 0
    if (isKept) this.#kept.push({ id, until: this.#round + KEPT_FOR })
    else await this.#end(id)
  }

  /** Its lease is there as it was told, and is renewed. */
  async #renew(id: JobId): Promise<void> {
    const { fence, until } = this.#owned(id)
    await this.#owned(id, await this.#job(id))
    const [said] = (await untilRoom(() => this.#store.heartbeat([{ id, fence, requestId: this.#fixture.requestId() }])))
      .items
    expect(said, `the lease of ${id}`).toMatchObject({ status: 'renewed' })
    if (said?.status !== 'renewed') return
    expect(said.leaseExpiresAt).toBeGreaterThanOrEqual(until)
    this.#told.owned.set(id, { fence, until: said.leaseExpiresAt })
  }

  /** What its owner was told. `job`: as it is now, which is that or more. */
  #owned(id: JobId, job?: Job): { readonly fence: string; readonly until: number } {
    const owned = this.#told.owned.get(id)
    if (owned === undefined) throw new Error(`${id} is owned`)
    if (job !== undefined) {
      expect(job.lease?.fence, `${id} has one owner`).toBe(owned.fence)
      expect(job.lease?.expiresAt, `the end of the lease of ${id}`).toBeGreaterThanOrEqual(owned.until)
    }
    return owned
  }

  async #end(id: JobId): Promise<void> {
    const { ended, keyed, running, unsaid } = this.#told
    const job = await this.#job(id)
    const { fence } = this.#owned(id, job)
    const give = keyed.has(id) ? [WANTED] : []
    const word = () => {
      const change = this.#fixture.change(job, { type: 'complete', fence }, job.updatedAt)
      return { requestId: change.events[0]?.requestId ?? '', change: { ...change, give } }
    }
    let said = word()
    running.delete(id)
    const answer = await untilRoom(
      () => this.#store.commit([said.change]),
      () => {
        unsaid.set(said.requestId, id)
        said = word()
      },
    )
    // Asked again after a crash, it may meet itself: then it is there.
    const now = await this.#job(id)
    const { status } = answer.verdicts[0] ?? {}
    expect([status, now.rev], id).toEqual([expect.stringMatching(/applied|conflict/), said.change.after.rev])
    ended.set(id, now.rev)
    if (this.#round % 5 > 0) return
    const late = word()
    const { verdicts } = await untilRoom(() => this.#store.commit([late.change]))
    expect(verdicts, `${id} has ended`).toEqual([{ status: 'conflict' }])
    unsaid.set(late.requestId, id)
  }

  /** What anybody was told is so from then on. */
  async #lookBack(): Promise<void> {
    const { born, ended, named } = this.#told
    const some = [...[...born.keys()].slice(-2), ...[...ended.keys()].slice(-2), ...[...named].slice(-1)]
    const known = some.map((id) => ended.get(id))
    const { items } = await this.#load(some)
    for (const [i, id] of some.entries()) {
      expect(items[i], `${id} is there`).toBeDefined()
      if (known[i] !== undefined) expect(items[i]?.job.rev, `${id} has ended`).toBe(known[i])
    }
  }

  #load(ids: readonly JobId[] = []) {
    return untilRoom(() => this.#store.load(ids.map((id) => ({ id }))))
  }

  async #job(id: JobId): Promise<Job> {
    const { items } = await this.#load([id])
    expect(items[0], `${id} is there`).toBeDefined()
    return (items[0] as { readonly job: Job }).job
  }
}
