import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Event } from '../../../src/core/event.ts'
import type { Job } from '../../../src/core/job.ts'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { Agenda } from '../../../src/store/memory/agenda.ts'
import { commit } from '../../../src/store/memory/commit.ts'
import { events } from '../../../src/store/memory/events.ts'
import { find } from '../../../src/store/memory/find.ts'
import { insert } from '../../../src/store/memory/insert.ts'
import { load } from '../../../src/store/memory/load.ts'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { type Shelf, Shelves } from '../../../src/store/memory/shelves.ts'
import type { EventQuery, JobQuery, Store } from '../../../src/store/store.ts'

const NOW = 1_700_000_000_000
const FEW = 300
const MANY = 30_000

/** Jobs, counted whenever one is looked at; and the events of the one with the long log. */
class Counted extends Map<string, Shelf> {
  looked = 0

  override get(id: string): Shelf | undefined {
    this.looked += 1
    return super.get(id)
  }
}

interface Filled {
  readonly shelves: Shelves
  readonly counted: Counted
  readonly longId: string
}

/** `jobs` of one tenant that share all words, and a few of another; one of these with a long log. */
async function filled(jobs: number): Promise<Filled> {
  const counted = new Counted()
  const shelves: Shelves = Object.assign(new Shelves(), { jobs: counted })
  const fixture = await openStoreFixture(
    { store: storeOn(shelves), advance: async () => {}, close: async () => {} },
    {},
  )
  const words = { tenant: 'many', correlationId: 'shared', labels: { a: 'shared' } }
  const born = Array.from({ length: jobs }, (_, n) => fixture.draft({ ...words, at: NOW - jobs + n }))
  for (const item of born) insert(shelves, item, NOW)
  let job = await fixture.insertOne({ tenant: 'few', correlationId: 'own', at: NOW })
  job = await fixture.say(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' }, NOW)
  const fence = job.lease?.fence ?? ''
  job = await fixture.say(job, { type: 'start', fence }, NOW)
  for (let n = 0; n < jobs / 100; n += 1) {
    job = await fixture.say(job, { type: 'progress', fence, counters: { n: 1 } }, NOW)
  }
  await fixture.insertOne({ tenant: 'few', at: NOW })
  return { shelves, counted, longId: job.id }
}

/** As much of a store as the fixture needs. */
function storeOn(shelves: Shelves): Store {
  return {
    ...openMemoryStore({ clock: { now: () => NOW, monotonicMs: () => 0 } }),
    settings: async () => [{ now: NOW, status: 'ok', settings: [] }],
    load: async (items) => ({ now: NOW, items: items.map((item) => load(shelves, item)) }),
    insert: async (items) => ({ now: NOW, items: items.map((item) => insert(shelves, item, NOW)) }),
    commit: async (changes) => ({ now: NOW, verdicts: changes.map((change) => commit(shelves, change, NOW)) }),
  }
}

let few: Filled
let many: Filled

beforeAll(async () => {
  few = await filled(FEW)
  many = await filled(MANY)
})

function looksOf(
  { shelves, counted, longId }: Filled,
  question: (shelves: Shelves, longId: string) => unknown,
): number {
  counted.looked = 0
  question(shelves, longId)
  return counted.looked
}

const page = (query: Partial<JobQuery>): JobQuery => ({ order: 'newest', limit: 1, ...query })
const told = (query: EventQuery) => (shelves: Shelves) => events(shelves, query, NOW)

describe('what a page costs in memory', () => {
  it.each<[string, (shelves: Shelves, longId: string) => unknown]>([
    ['a tenant’s newest', (shelves) => find(shelves, page({ tenant: 'few', limit: 1 }), NOW)],
    [
      'what ended before anything was born',
      (shelves) => find(shelves, page({ endedBefore: 1, roughlyBornBefore: 1 }), NOW),
    ],
    ['a correlation that many share', told({ by: 'correlation', tenant: 'many', correlationId: 'shared', limit: 1 })],
    ['a correlation of others', told({ by: 'correlation', tenant: 'few', correlationId: 'shared', limit: 1 })],
    ['events of the last moment', told({ by: 'type', types: ['progressed'], from: NOW, to: NOW + 1, limit: 1 })],
    ['a page of a log', (shelves, id) => events(shelves, { by: 'job', id, afterRev: 3, limit: 2 }, NOW)],
  ])('does not grow with the store: %s', (_, question) => {
    expect(looksOf(many, question)).toBeLessThanOrEqual(looksOf(few, question) + 20)
  })

  it('takes what is gone from the beginning of the feed, and looks no further', () => {
    const shelves = new Shelves()
    const at = (n: number) => ({ at: NOW + n, position: n + 1 })
    for (let n = 0; n < MANY; n += 1) shelves.moments.add(at(n))
    let looked = 0
    shelves.moments.leave(({ position }) => {
      looked += 1
      return position <= 10
    })
    expect(looked).toBe(11)
    expect(shelves.moments.size).toBe(MANY - 10)
    expect(shelves.moments.at(0)).toEqual(at(10))
  })

  it('looks at so many lanes for the backlog, however many there are', () => {
    const shelves = new Shelves()
    const [shelf] = few.shelves.jobs.values()
    const { job } = shelf as Shelf
    for (let n = 0; n < 1_000; n += 1) {
      const kind = { ...job.spec.kind, queue: `q${n}` }
      shelves.lanes.enter({ ...job, spec: { ...job.spec, kind } } as Job, 0, n)
    }
    const first = vi.spyOn(Agenda.prototype, 'first')
    told({ by: 'backlog', lanes: 10 })(shelves)
    expect(first).toHaveBeenCalledTimes(10)
  })

  it('ends where enough has been looked at, and goes on from there until all is found', () => {
    const { shelves, counted } = many
    const seen: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      counted.looked = 0
      const answer = find(shelves, page({ tenant: 'few', order: 'oldest', limit: 10, cursor }), NOW)
      expect(counted.looked).toBeLessThan(11_000)
      seen.push(...answer.jobs.map(({ id }) => id))
      cursor = answer.cursor
      pages += 1
    } while (cursor !== undefined)
    expect(seen).toHaveLength(2)
    expect(pages).toBeGreaterThan(2)
  })

  it('finds a request without looking through the log, once it has been asked for one', () => {
    const { shelves, longId } = many
    const shelf = shelves.jobs.get(longId)
    const middle = shelf?.events[100] as Event
    const caused = () => load(shelves, { id: longId, requestId: middle.requestId })?.caused
    expect(caused()).toEqual([middle])
    if (shelf !== undefined) shelf.events = []
    expect(caused()).toEqual([middle])
  })
})
