/** A list as far as it was read: where it goes on, what it keeps, and that it never tells an end that is none. */
import { describe, expect, it } from 'vitest'
import type { Job, JobsAnswer, State, TheseAnswer } from '../../dashboard/src/api/wire.ts'
import { Listing, PORTION } from '../../dashboard/src/jobs/listing.ts'
import { eventually } from '../support/eventually.ts'

const PAGE = 100
const KEPT = 1_000

const jobOf = (n: number, state: State = 'queued'): Job => ({
  id: `pj_${n}`,
  type: 't',
  queue: 'q',
  state,
  phase: 'run',
  priority: 5,
  generation: 0,
  attempt: 0,
  rev: 1,
  failures: 0,
  stalls: 0,
  steps: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  executionMs: 0,
  counters: {},
  correlationId: 'c',
})
const numberOf = (id: string) => Number(id.slice(3))

interface Fake {
  /** How many there are. */
  readonly jobs: number
  /** Where they are looked at one by one: which of them match, and how many are looked at for one page. */
  readonly scan?: { readonly matches: (n: number) => boolean; readonly perPage: number }
}

/** A gateway with so many jobs, the newest first. */
class FakeGateway {
  readonly pages: number[] = []
  readonly named: (readonly string[])[] = []
  readonly states = new Map<string, State>()
  readonly gone = new Set<string>()
  readonly removed = new Set<string>()
  fails = false
  readonly #fake: Fake

  constructor(fake: Fake) {
    this.#fake = fake
  }

  async page(cursor: string | undefined): Promise<JobsAnswer> {
    const from = Number(cursor ?? 0)
    this.pages.push(from)
    if (this.fails) throw new Error('no answer')
    const { jobs: all, scan } = this.#fake
    const to = Math.min(all, from + (scan?.perPage ?? PAGE))
    const found = Array.from({ length: to - from }, (_, n) => from + n).filter(scan?.matches ?? (() => true))
    return {
      jobs: found.map((n) => jobOf(n)),
      ...(to < all ? { cursor: String(to) } : {}),
      ...(scan === undefined ? {} : { read: to - from }),
    }
  }

  async these(ids: readonly string[]): Promise<TheseAnswer> {
    this.named.push(ids)
    const jobs = ids.filter((id) => !this.removed.has(id)).map((id) => jobOf(numberOf(id), this.states.get(id)))
    return { jobs, gone: ids.filter((id) => this.gone.has(id)) }
  }
}

function opened(fake: Fake) {
  const gateway = new FakeGateway(fake)
  const listing = new Listing(gateway)
  const settled = () => eventually('it has read', () => !listing.extent().isReading)
  const see = (first: number, last: number) => {
    listing.see(first, last)
    return settled()
  }
  return { gateway, listing, see, settled }
}

describe('a list as far as it was read', () => {
  it('reads what is looked at and a little ahead, and no further', async () => {
    const { listing, gateway, see } = opened({ jobs: 5_000 })
    await see(0, 30)
    expect(gateway.pages).toEqual([0])
    expect(listing.extent()).toMatchObject({ count: 100, isEnd: false, isStopped: false, read: undefined })
    await see(60, 90)
    expect(gateway.pages).toEqual([0, 100])
  })

  it('goes on behind a thousand rows to the very last, keeps a thousand, and has the others again by their names', async () => {
    const { listing, gateway, see } = opened({ jobs: 3_450 })
    for (let n = 0; !listing.extent().isEnd; n += 80) await see(n, n + 30)
    expect(listing.extent().count).toBe(3_450)
    expect(listing.at(3_449)?.job.id).toBe('pj_3449')
    expect(listing.kept().length).toBe(KEPT)
    expect(listing.at(0)).toBeUndefined()
    const pages = gateway.pages.length
    await see(0, 30)
    expect(listing.at(0)?.job.id).toBe('pj_0')
    expect(listing.at(30)?.job.id).toBe('pj_30')
    expect(gateway.pages.length).toBe(pages)
    expect(Math.max(...gateway.named.map((ids) => ids.length))).toBeLessThanOrEqual(100)
    expect(listing.kept().length).toBeLessThanOrEqual(KEPT + 100)
  })

  it('finds the oldest of thousands by looking at each, and says that there is no more', async () => {
    const { listing, see } = opened({ jobs: 6_501, scan: { matches: (n) => n === 6_500, perPage: 500 } })
    await see(0, 30)
    expect(listing.extent()).toMatchObject({ count: 1, read: 6_501, isEnd: true, isStopped: false })
    expect(listing.at(0)?.job.id).toBe('pj_6500')
  })

  it('stops behind a portion, which is not the end, and goes on when somebody says so', async () => {
    const { listing, see, settled, gateway } = opened({
      jobs: 2 * PORTION + 10,
      scan: { matches: (n) => n === 2 * PORTION + 5, perPage: 500 },
    })
    await see(0, 30)
    expect(listing.extent()).toMatchObject({ count: 0, read: PORTION, isEnd: false, isStopped: true })
    const asked = gateway.pages.length
    await see(0, 30)
    expect(gateway.pages.length).toBe(asked)
    listing.on()
    await settled()
    expect(listing.extent()).toMatchObject({ read: 2 * PORTION, isEnd: false, isStopped: true })
    listing.on()
    await settled()
    expect(listing.extent()).toMatchObject({ count: 1, read: 2 * PORTION + 10, isEnd: true, isStopped: false })
  })

  it('does not take a page that is being read for the end', async () => {
    const { listing, settled } = opened({ jobs: 6_501, scan: { matches: (n) => n % 1_000 === 0, perPage: 500 } })
    const told: boolean[] = []
    listing.watch(() => told.push(listing.extent().isEnd))
    listing.see(0, 30)
    await settled()
    expect(told.length).toBeGreaterThan(13)
    expect(told.lastIndexOf(false)).toBeLessThan(told.indexOf(true))
    expect(listing.extent().count).toBe(7)
  })

  it('has rows on screen anew wherever they are, marks what no longer matches, and leaves the others alone', async () => {
    const { listing, gateway, see } = opened({ jobs: 1_000 })
    for (let n = 0; n < 500; n += 80) await see(n, n + 30)
    await see(400, 430)
    gateway.states.set('pj_410', 'succeeded').set('pj_10', 'succeeded')
    gateway.gone.add('pj_410')
    await listing.refresh()
    expect(gateway.named.at(-1)?.length).toBe(31)
    expect(listing.at(410)).toMatchObject({ job: { state: 'succeeded' }, isGone: true })
    expect(listing.at(411)).toMatchObject({ isGone: false })
    expect(listing.at(10)).toMatchObject({ job: { state: 'queued' } })
    gateway.gone.clear()
    await listing.refresh()
    expect(listing.at(410)?.isGone).toBe(false)
  })

  it('does not ask for ever for what was removed while nobody looked', async () => {
    const { listing, gateway, see } = opened({ jobs: 2_000 })
    for (let n = 0; !listing.extent().isEnd; n += 80) await see(n, n + 30)
    gateway.removed.add('pj_5')
    await see(0, 30)
    const asked = gateway.named.length
    expect(listing.at(5)).toBeUndefined()
    expect(listing.at(6)?.job.id).toBe('pj_6')
    await see(0, 29)
    expect(gateway.named.length).toBe(asked)
  })

  it('keeps its rows where a page fails, says so, and reads it again', async () => {
    const { listing, gateway, see, settled } = opened({ jobs: 300 })
    await see(0, 30)
    gateway.fails = true
    await see(70, 100)
    expect(listing.extent()).toMatchObject({ count: 100, isEnd: false, error: new Error('no answer') })
    gateway.fails = false
    await listing.refresh()
    await settled()
    expect(listing.extent()).toMatchObject({ count: 200, error: undefined })
  })
})
