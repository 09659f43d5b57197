/** What a stream tells waits for its turn, by how much it is: streams of one tenant together do not take the loop away. */
import { describe, expect, it } from 'vitest'
import { Bell } from '../../src/gateway/waiting/bell.ts'
import { EventWalk } from '../../src/gateway/waiting/event-walk.ts'
import { FeedWindow } from '../../src/gateway/waiting/feed-window.ts'
import { Following } from '../../src/gateway/waiting/following.ts'
import type { EventPage, FeedItem } from '../../src/store/store.ts'
import { realTimers } from '../../src/system/timers.ts'

const LENGTH = 40_000
/** As where the events have been removed since: what is told of them does not need them. */
const NO_EVENTS: EventPage = {
  now: 0,
  events: [],
  annotations: [],
  feed: [],
  tally: [],
  backlog: [],
  purged: 0,
  cursor: undefined,
}

const item = (n: number): FeedItem => ({
  position: `${n}.1`,
  jobId: `pj_${n}`,
  rev: 1,
  type: 'enqueued',
  tenant: 't',
  queue: n % 2 === 0 ? 'even' : 'odd',
  jobType: 'x',
})

/** A walk over so many items, of which those of one queue are wanted; each may tell when `go` is called. */
function walking(items: number) {
  const window = new FeedWindow<{ length: number }>('0.0')
  window.push(Array.from({ length: items }, (_, n) => item(n + 1)))
  const following = new Following({
    window,
    engine: { events: () => Promise.resolve(NO_EVENTS) },
    framesOf: () => ({ length: LENGTH }),
    grown: new Bell(realTimers),
    leave: () => {},
  })
  const asked: { letters: number; go: () => void }[] = []
  const walk = new EventWalk({
    following,
    position: '0.0',
    opening: '',
    wants: (entry) => entry.item.queue === 'even',
    frame: () => 'x'.repeat(LENGTH),
    inTurn: (read) => read(),
    paced: (letters) => new Promise((go) => asked.push({ letters, go })),
  })
  return { walk, asked }
}

describe('a walk over the feed', () => {
  it('tells no piece before it may, and says how long it is', async () => {
    const { walk, asked } = walking(8)
    const told: (string | undefined)[] = []
    const telling = (async () => {
      for (let n = 0; n < 2; n += 1) told.push(await walk.frames())
    })()
    await expect.poll(() => asked.length).toBe(1)
    expect(told).toEqual([])
    asked[0]?.go()
    await expect.poll(() => asked.length).toBe(2)
    expect(told).toHaveLength(1)
    asked[1]?.go()
    await telling
    expect(asked.map(({ letters }) => letters)).toEqual(told.map((text) => text?.length))
    expect(asked.map(({ letters }) => letters)).toEqual([2 * LENGTH, 2 * LENGTH])
  })

  it('asks for nothing where there is nothing to tell', async () => {
    const { walk, asked } = walking(1)
    expect(await walk.frames()).toBe('')
    expect(await walk.frames()).toBeUndefined()
    expect(asked).toEqual([])
  })
})
