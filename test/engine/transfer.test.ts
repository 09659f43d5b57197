import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExportedJob, lineOf } from '../../src/cli/exported.ts'
import { derive } from '../../src/core/evolve.ts'
import { isOwned, STATES } from '../../src/core/job.ts'
import type { Discrepancy } from '../../src/engine/discrepancy.ts'
import { type Brought, broughtIn } from '../../src/engine/transfer/bring-in.ts'
import { type CarriedJob, carriedJob } from '../../src/engine/transfer/carried.ts'
import { verify } from '../../src/engine/verify.ts'
import { eventFromWire, eventToWire } from '../../src/gateway/contract/wire.ts'
import { defineSpec } from '../../src/index.ts'
import { openOn } from '../../src/open.ts'
import { openStore } from '../../src/open-store.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { runPrograms } from '../store/programs/run-programs.ts'
import { scaled } from '../support/scale.ts'
import { openAt, PLACES, STORES } from './opened.ts'
import { VirtualClock } from './virtual-clock.ts'

const NONCE = '00000000000000aa'
const DAY = 24 * 3_600_000
const BATCH = 50
const OF_EACH_STATE = scaled(10, 10_000)

/** A store in which programs have done everything that can be done to jobs, ten days ago, and some jobs of each state in it. */
let source: Store
let still: readonly CarriedJob[]
let owned: readonly CarriedJob[]
let wrongBefore: ReadonlySet<string>

beforeAll(async () => {
  const clock = new VirtualClock()
  clock.set(Date.now() - 10 * DAY - clock.now())
  source = openMemoryStore({ clock })
  await runPrograms({ store: source, count: scaled(300, 3_000), seed: 4, pass: () => clock.advance(700) })
  const jobs: CarriedJob[] = []
  for (const state of STATES) {
    const { jobs: some } = await source.find({ states: [state], order: 'oldest', limit: OF_EACH_STATE })
    expect(some.length, `there are ${state} jobs`).toBeGreaterThan(0)
    for (const { id } of some) jobs.push(await carriedFrom(source, id))
  }
  const isOfOwner = ({ log }: CarriedJob) => isOwned(derive(log))
  still = jobs.filter((job) => !isOfOwner(job))
  owned = jobs.filter(isOfOwner)
  const { engine } = openOn(source, { ticker: false, retention: false, log: 'silent' })
  wrongBefore = new Set((await verify(engine)).discrepancies.map(told))
})

afterAll(() => source.close())

/** A job with its events as the lines of a file have them. */
async function carriedFrom(store: Store, id: string): Promise<CarriedJob> {
  const one = await carriedJob(store, id)
  if (one === undefined) throw new Error(`${id} moves`)
  const { events } = JSON.parse(JSON.stringify(lineOf(one))) as ExportedJob
  return { ...one, log: events.map(eventFromWire) }
}

const told = ({ job, about }: Discrepancy): string => `${job}: ${about}`

const idOf = ({ log }: CarriedJob): string => log[0]?.jobId ?? ''

async function bring(store: Store, jobs: readonly CarriedJob[]): Promise<readonly Brought[]> {
  const all: Brought[] = []
  for (let i = 0; i < jobs.length; i += BATCH) all.push(...(await broughtIn(store, jobs.slice(i, i + BATCH), NONCE)))
  return all
}

const statuses = (answers: readonly Brought[]) => [...new Set(answers.map(({ status }) => status))]

/** As anybody may see them: fences are named anew. Late words come in an order of each store’s own. */
const seen = (jobs: readonly CarriedJob[]) =>
  jobs.map(({ log, notes, ...rest }) => ({
    ...rest,
    log: log.map(eventToWire),
    notes: notes.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1)),
  }))

async function opened(url: string): Promise<Store> {
  return (await openStore(url, { migrate: true, log: 'silent' })).store
}

describe.each(STORES)('jobs brought into %s', (name) => {
  it('are what they were: log, bodies, late words and keys, in every state; and once, however often', async () => {
    await using place = await PLACES[name]()
    const store = await opened(place.url)
    expect(statuses(await bring(store, still))).toEqual(['brought'])
    const there: CarriedJob[] = []
    for (const job of still) there.push(await carriedFrom(store, idOf(job)))
    expect(seen(there)).toEqual(seen(still))
    expect(statuses(await bring(store, still))).toEqual(['there'])
    await using pawl = openOn(store, { ticker: false, retention: false, log: 'silent' })
    const { jobs, discrepancies } = await verify(pawl.engine)
    expect(jobs).toBe(still.length)
    // Programs say things about bodies and keys that no engine would: whatever is wrong here was wrong there.
    expect(discrepancies.map(told).filter((each) => !wrongBefore.has(each))).toEqual([])
  })

  it('have lost their leases, where their owners stayed behind', async () => {
    await using place = await PLACES[name]()
    const store = await opened(place.url)
    const answers = await bring(store, owned)
    for (const [i, answer] of answers.entries()) {
      // A document in which another job follows has its successor from the store that has the number of it.
      if (answer.status === 'refused') expect(answer.why).toContain('has a new job follow')
      else {
        const { log } = await carriedFrom(store, idOf(owned[i] as CarriedJob))
        const told = owned[i]?.log.map(eventToWire) ?? []
        expect(log.slice(0, told.length).map(eventToWire)).toEqual(told)
        expect(isOwned(derive(log))).toBe(false)
      }
    }
    expect(statuses(answers)).toContain('brought')
    await store.close()
  })
})

describe.each(STORES)('a job that admission has sent elsewhere, under a key, brought into %s', (name) => {
  it('stands where it was sent, and its key is there', async () => {
    await using there = await openAt({ url: 'memory:', [Symbol.asyncDispose]: async () => {} })
    const { id } = await there.enqueue(defineSpec({ type: 'render', queue: 'main', admission: true }), 1)
    const redirect = { from: 'job.render', to: 'job.cheap', queue: 'second', type: 'cheap', rule: 'r' }
    const recast = {
      redirect,
      labels: { risk: 'low' },
      throttles: [{ key: 'gpu', rule: 'r', limit: { concurrency: 1 } }],
    }
    const command = { type: 'admit', actor: 'ann', requestId: 'a', rule: 'r', policyHash: 'p', recast } as const
    expect(await there.engine.settle([{ id, command }])).toMatchObject([{ ok: true }])
    const one = (await carriedJob(there.engine, id)) as CarriedJob
    await using place = await PLACES[name]()
    const store = await opened(place.url)
    expect(await broughtIn(store, [one], NONCE)).toEqual([{ status: 'brought' }])
    await using pawl = openOn(store, { ticker: false, retention: false, log: 'silent' })
    const claim = { requestId: 'c', workerId: 'w', limit: 5, waitMs: 20_000 }
    const lanes = [{ tenant: 'default', queue: 'second', priority: 5 }]
    expect(await pawl.engine.claim({ ...claim, lanes })).toMatchObject([
      { job: { id, spec: { kind: { type: 'cheap' } } } },
    ])
    expect((await pawl.engine.limits({ tenant: 'default', limit: 5 })).limits).toMatchObject([
      { key: 'gpu', taken: 1, limit: { concurrency: 1 } },
    ])
  })
})

describe('bringing in', () => {
  it('goes on where it was cut off, whichever commit it was', async () => {
    for (const after of [0, 1, 2]) {
      await using place = await PLACES.sqlite()
      const store = await opened(place.url)
      let left = after
      const dying = {
        load: store.load.bind(store),
        insert: store.insert.bind(store),
        commit: (...changes: Parameters<Store['commit']>) => {
          left -= 1
          return left < 0 ? Promise.reject(new Error('died')) : store.commit(...changes)
        },
      }
      const some = still.filter(({ log }) => log.filter(({ type }) => type === 'claimed').length > 2).slice(0, BATCH)
      expect(some.length).toBeGreaterThan(0)
      await expect(broughtIn(dying, some, NONCE)).rejects.toThrow('died')
      expect(statuses(await bring(store, some))).toEqual(['brought'])
      const there: CarriedJob[] = []
      for (const job of some) there.push(await carriedFrom(store, idOf(job)))
      expect(seen(there)).toEqual(seen(some))
      await store.close()
    }
  })

  it('refuses a log that is not one of ours, an id that is another’s and a key that is held, and leaves nothing behind', async () => {
    await using place = await PLACES.sqlite()
    const store = await opened(place.url)
    const [one, two] = still.filter(({ log }) => log.length > 2) as [CarriedJob, CarriedJob]
    const keyed = still.find(({ holdsKey }) => holdsKey) as CarriedJob
    expect(await broughtIn(store, [{ ...one, log: one.log.toSpliced(1, 1) }], NONCE)).toMatchObject([
      { status: 'refused', why: expect.stringMatching(/^its log (?:is not one of ours|cannot be read)/) },
    ])
    expect((await store.find({ order: 'oldest', limit: 10 })).jobs).toEqual([])
    expect(await broughtIn(store, [one, keyed], NONCE)).toEqual([{ status: 'brought' }, { status: 'brought' }])
    const as = (job: CarriedJob, id: string) => ({ ...job, log: job.log.map((event) => ({ ...event, jobId: id })) })
    expect(await broughtIn(store, [as(two, idOf(one))], NONCE)).toEqual([
      { status: 'refused', why: 'another job has its id here' },
    ])
    expect(await broughtIn(store, [as(keyed, 'pj_zzzz')], NONCE)).toEqual([
      { status: 'refused', why: `job ${idOf(keyed)} holds its dedupe key here` },
    ])
    expect((await store.find({ order: 'oldest', limit: 10 })).jobs).toHaveLength(2)
    await store.close()
  })
})
