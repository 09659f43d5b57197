/** Claims that wait: who is asked for, how often, and with which lanes. */
import { describe, expect, it } from 'vitest'
import type { Assignment, ClaimRequest } from '../../src/engine/engine.ts'
import { ClaimDesk, type Poll } from '../../src/gateway/waiting/claim-desk.ts'
import type { Lane } from '../../src/store/store.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'

const lane = (queue: string, priority = 5): Lane => ({ tenant: 't', queue, priority })
const hint = (queue: string) => ({ about: 'queue', tenant: 't', queue }) as const
const assignment = (queue: string): Assignment => ({ fence: queue }) as never as Assignment

/** A store that has so many jobs in each queue, and remembers what it was asked. */
class Counting {
  readonly asked: ClaimRequest[] = []
  readonly jobs = new Map<string, number>()
  /** Answers wait for this. */
  slow: Promise<void> = Promise.resolve()

  async claim(request: ClaimRequest): Promise<readonly Assignment[]> {
    this.asked.push(request)
    await this.slow
    const found: Assignment[] = []
    for (const { queue } of request.lanes) {
      for (let left = this.jobs.get(queue) ?? 0; left > 0 && found.length < request.limit; left -= 1) {
        found.push(assignment(queue))
        this.jobs.set(queue, left - 1)
      }
    }
    return found
  }
}

/** A desk that only looks when it is told to. */
function setUp() {
  const store = new Counting()
  const never = { ...realTimers, sleep: (_: number, signal?: AbortSignal) => realTimers.sleep(1e9, signal) }
  const desk = new ClaimDesk({ timers: never, log: silentLog })
  let calls = 0
  const wait = (lanes: readonly Lane[], more: Partial<Poll> & { limit?: number } = {}) => {
    const { limit = 1, ...rest } = more
    calls += 1
    const name = `call-${calls}`
    return desk.wait({
      lanes,
      limit,
      ask: (some, n) => store.claim({ requestId: `${name}/${n}`, workerId: name, lanes: some, limit }),
      waitMs: 60_000,
      signal: new AbortController().signal,
      stillWelcome: async () => {},
      ...rest,
    })
  }
  /** Everybody has asked once and found nothing. */
  const settled = async (count: number) => {
    await eventually('all have asked', () => store.asked.length >= count)
    await new Promise((resolve) => setImmediate(resolve))
    store.asked.length = 0
  }
  return { store, desk, wait, settled }
}

describe('a claim that waits', () => {
  it('is answered at once where there is something', async () => {
    const { store, wait, desk } = setUp()
    store.jobs.set('a', 1)
    expect(await wait([lane('a')])).toEqual([assignment('a')])
    await desk[Symbol.asyncDispose]()
  })

  it('is asked for when something comes for its queue, and for that queue only', async () => {
    const { store, desk, wait, settled } = setUp()
    const lanes = Array.from({ length: 1_000 }, (_, i) => lane(`q${i}`))
    const waiting = wait(lanes)
    await settled(1)
    desk.hinted(hint('elsewhere'))
    store.jobs.set('q7', 1)
    desk.hinted(hint('q7'))
    expect(await waiting).toEqual([assignment('q7')])
    expect(store.asked.map(({ lanes }) => lanes)).toEqual([[lane('q7')]])
    await desk[Symbol.asyncDispose]()
  })

  it('is one of many: a job is given to the first in line, and nobody else is asked for', async () => {
    const { store, desk, wait, settled } = setUp()
    const waiting = Array.from({ length: 300 }, () => wait([lane('a'), lane('b')]))
    await settled(300)
    store.jobs.set('a', 1)
    desk.hinted(hint('a'))
    expect(await waiting[0]).toEqual([assignment('a')])
    await eventually('the next has asked as well', () => store.asked.length === 2)
    await new Promise((resolve) => setImmediate(resolve))
    // The second found nothing more: nobody behind it need ask.
    expect(store.asked.map(({ workerId }) => workerId)).toEqual(['call-1', 'call-2'])
    await desk[Symbol.asyncDispose]()
    expect(await Promise.all(waiting.slice(1))).toEqual(new Array(299).fill([]))
  })

  it('comes on as long as there is more', async () => {
    const { store, desk, wait, settled } = setUp()
    const waiting = Array.from({ length: 10 }, () => wait([lane('a')], { limit: 2 }))
    await settled(10)
    store.jobs.set('a', 6)
    desk.hinted(hint('a'))
    expect((await Promise.all(waiting.slice(0, 3))).map((given) => given.length)).toEqual([2, 2, 2])
    await eventually('somebody found nothing', () => store.asked.length === 4)
    await desk[Symbol.asyncDispose]()
  })

  it('without any hint has each lane asked for once in a round, however many want it', async () => {
    const { store, desk, wait, settled } = setUp()
    const lanes = Array.from({ length: 100 }, (_, i) => lane(`q${i}`))
    const waiting = Array.from({ length: 200 }, (_, i) => wait(i % 2 === 0 ? lanes : lanes.toReversed()))
    await settled(200)
    await desk.look()
    expect(store.asked.flatMap(({ lanes }) => lanes)).toHaveLength(100)
    store.asked.length = 0
    store.jobs.set('q3', 2)
    await desk.look()
    expect((await Promise.all(waiting.slice(0, 2))).flat()).toHaveLength(2)
    // The first two got one each of what they asked for, the third asked for all of it and found nothing.
    expect(store.asked.map(({ lanes }) => lanes.length)).toEqual([100, 100, 100])
    await desk[Symbol.asyncDispose]()
  })

  it('hears what comes while it is being asked for', async () => {
    const { store, desk, wait } = setUp()
    let answer = () => {}
    store.slow = new Promise((resolve) => {
      answer = resolve
    })
    const waiting = wait([lane('a')])
    await eventually('it has asked', () => store.asked.length === 1)
    desk.hinted(hint('a'))
    store.slow.then(() => store.jobs.set('a', 1))
    answer()
    expect(await waiting).toEqual([assignment('a')])
    await desk[Symbol.asyncDispose]()
  })

  it('is not asked for once its caller has gone, or its token is not good any more', async () => {
    const { store, desk, wait, settled } = setUp()
    const gone = new AbortController()
    const left = wait([lane('a')], { signal: gone.signal })
    let welcome = true
    const revoked = wait([lane('a')], {
      stillWelcome: async () => {
        if (!welcome) throw new Error('revoked')
      },
    })
    revoked.catch(() => {})
    const good = wait([lane('a')])
    await settled(3)
    gone.abort()
    expect(await left).toEqual([])
    welcome = false
    store.jobs.set('a', 1)
    desk.hinted(hint('a'))
    await expect(revoked).rejects.toThrow('revoked')
    expect(await good).toEqual([assignment('a')])
    expect(store.asked).toHaveLength(1)
    await desk[Symbol.asyncDispose]()
  })

  it('ends with its time', async () => {
    const { desk, wait } = setUp()
    expect(await wait([lane('a')], { waitMs: 1 })).toEqual([])
    await desk[Symbol.asyncDispose]()
  })
})
