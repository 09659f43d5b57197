/** Claims that wait: who is looked for, how often, and in which lanes. */
import { describe, expect, it } from 'vitest'
import type { ClaimAnswer, ClaimedJob, Grant, Hint, Lane } from '../../../src/store/store.ts'
import { ClaimDesk } from '../../../src/store/waiting/claim-desk.ts'
import { VirtualTime } from '../../../src/testing/virtual-time.ts'

const lane = (queue: string, priority = 5): Lane => ({ tenant: 't', queue, priority })
const hint = (queue: string): Hint => ({ about: 'queue', tenant: 't', queue })
const ANYTHING: Hint = { about: 'anything' }

interface Look {
  readonly requestId: string
  readonly lanes: readonly Lane[]
  readonly last: boolean
}

/** A desk over a store that has so many jobs in each queue, and remembers what it was asked. */
function setUp() {
  const time = new VirtualTime(0)
  const looks: Look[] = []
  const jobs = new Map<string, number>()
  const listeners = new Set<(hint: Hint) => void>()
  let calls = 0
  /** What each look waits for. */
  let slow: Promise<unknown> = Promise.resolve()
  const desk = new ClaimDesk({
    clock: time,
    timers: time,
    async look({ requestId, limit }, lanes, last): Promise<ClaimAnswer> {
      looks.push({ requestId, lanes, last })
      await slow
      const found: ClaimedJob[] = []
      for (const { queue } of lanes) {
        for (let left = jobs.get(queue) ?? 0; left > 0 && found.length < limit; left -= 1) {
          found.push({ input: queue } as ClaimedJob)
          jobs.set(queue, left - 1)
        }
      }
      return { now: time.now(), replayed: false, jobs: found }
    },
    async subscribe(wake) {
      listeners.add(wake)
      return { [Symbol.asyncDispose]: async () => void listeners.delete(wake) }
    },
  })
  const claim = async (lanes: readonly Lane[], more: Partial<Grant> = {}): Promise<readonly unknown[]> => {
    calls += 1
    const name = `call-${calls}`
    const grant = { requestId: name, workerId: name, actor: name, nonce: '', lanes, limit: 1, maxInputBytes: 0 }
    const answer = await desk.claim({ ...grant, waitMs: 60_000, pollMs: 60_000, ...more })
    return answer.jobs.map(({ input }) => input)
  }
  const tell = async (words: Hint) => {
    for (const listener of listeners) listener(words)
    await time.settle()
  }
  /** Everybody has looked once and found nothing. */
  const settled = async () => {
    await time.settle()
    looks.length = 0
  }
  return {
    time,
    looks,
    jobs,
    listeners,
    desk,
    claim,
    tell,
    settled,
    slowed: (until: Promise<unknown>) => {
      slow = until
    },
  }
}

describe('a claim that waits', () => {
  it('is answered at once where there is something', async () => {
    const { jobs, claim } = setUp()
    jobs.set('a', 1)
    expect(await claim([lane('a')])).toEqual(['a'])
  })

  it('is looked for when something comes for its queue, and in that queue only', async () => {
    const { jobs, claim, looks, tell, settled } = setUp()
    const waiting = claim(Array.from({ length: 1_000 }, (_, i) => lane(`q${i}`)))
    await settled()
    await tell(hint('elsewhere'))
    jobs.set('q7', 1)
    await tell(hint('q7'))
    expect(await waiting).toEqual(['q7'])
    expect(looks.map(({ lanes }) => lanes)).toEqual([[lane('q7')]])
  })

  it('is one of many: a job is given to the first in line, and the second alone looks besides', async () => {
    const { jobs, claim, looks, tell, settled, desk } = setUp()
    const waiting = Array.from({ length: 300 }, () => claim([lane('a'), lane('b')]))
    await settled()
    jobs.set('a', 1)
    await tell(hint('a'))
    expect(await waiting[0]).toEqual(['a'])
    expect(looks.map(({ requestId }) => requestId)).toEqual(['call-1', 'call-2'])
    await desk.close()
    expect(await Promise.all(waiting.slice(1))).toEqual(new Array(299).fill([]))
  })

  it('is looked for where what came needs what it serves, and the others are let alone', async () => {
    const { jobs, claim, looks, tell, settled, desk } = setUp()
    const waiting = [['x'], ['y', 'z'], undefined, ['y']].map((serves) => claim([lane('a')], { serves, limit: 2 }))
    await settled()
    jobs.set('a', 1)
    await tell({ about: 'queue', tenant: 't', queue: 'a', needs: 'y' })
    expect(await waiting[1]).toEqual(['a'])
    expect(looks.map(({ requestId }) => requestId)).toEqual(['call-2'])
    await desk.close()
    await Promise.all(waiting)
  })

  it('is looked for beside others who serve something else, where nobody says what there is', async () => {
    const { claim, looks, tell, settled, desk } = setUp()
    const waiting = [['x'], ['y'], ['x'], ['y']].map((serves) => claim([lane('a')], { serves }))
    await settled()
    await tell(ANYTHING)
    expect(looks.map(({ requestId }) => requestId)).toEqual(['call-1', 'call-2'])
    await desk.close()
    await Promise.all(waiting)
  })

  it('comes on as long as there is more', async () => {
    const { jobs, claim, looks, tell, settled } = setUp()
    const waiting = Array.from({ length: 10 }, () => claim([lane('a')], { limit: 2 }))
    await settled()
    jobs.set('a', 6)
    await tell(hint('a'))
    expect((await Promise.all(waiting.slice(0, 3))).map((given) => given.length)).toEqual([2, 2, 2])
    expect(looks).toHaveLength(4)
  })

  it('is looked for in each lane once in a round, however many want it', async () => {
    const { jobs, claim, looks, tell, settled } = setUp()
    const lanes = Array.from({ length: 100 }, (_, i) => lane(`q${i}`))
    const waiting = Array.from({ length: 200 }, (_, i) => claim(i % 2 === 0 ? lanes : lanes.toReversed()))
    await settled()
    await tell(ANYTHING)
    expect(looks.flatMap((look) => look.lanes)).toHaveLength(100)
    looks.length = 0
    jobs.set('q3', 2)
    await tell(ANYTHING)
    expect((await Promise.all(waiting.slice(0, 2))).flat()).toHaveLength(2)
    // The first two got one each of what they looked for, the third looked at all of it and found nothing.
    expect(looks.map((look) => look.lanes.length)).toEqual([100, 100, 100])
  })

  it('looks by itself, more and more seldom, and as often as it said in the end', async () => {
    const { time, claim, looks, desk } = setUp()
    void claim([lane('a')], { pollMs: 1_000 })
    const at: number[] = []
    for (let ms = 0; ms < 5_000; ms += 50) {
      await time.advance(50)
      for (const _ of looks.splice(0)) at.push(time.now())
    }
    expect(at).toEqual([50, 50, 150, 350, 750, 1_550, 2_550, 3_550, 4_550])
    await desk.close()
  })

  it('looks by itself for all who wait together', async () => {
    const { time, claim, looks, settled, desk } = setUp()
    for (let n = 0; n < 50; n += 1) void claim([lane('a')], { pollMs: 1_000 })
    await settled()
    await time.advance(10_000)
    expect(looks.length).toBeLessThan(20)
    await desk.close()
  })

  it('looks soon again after a hint: what was told of may be about to come', async () => {
    const { time, jobs, claim, tell, settled } = setUp()
    const waiting = claim([lane('a')])
    await settled()
    await time.advance(30_000)
    await tell(hint('a'))
    jobs.set('a', 1)
    await time.advance(50)
    expect(await waiting).toEqual(['a'])
  })

  it('hears what comes while it is being looked for', async () => {
    const { time, jobs, claim, tell, looks, slowed } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    slowed(promise)
    const waiting = claim([lane('a')])
    await time.settle()
    expect(looks).toHaveLength(1)
    await tell(hint('a'))
    void promise.then(() => jobs.set('a', 1))
    resolve()
    expect(await waiting).toEqual(['a'])
  })

  it('is told by whoever gave it something', async () => {
    const { jobs, claim, desk, settled, looks } = setUp()
    const [first, second] = [claim([lane('a')]), claim([lane('a')])]
    await settled()
    jobs.set('a', 1)
    await desk.lookFor('call-2')
    expect(await second).toEqual(['a'])
    expect(looks.map(({ requestId }) => requestId)).toEqual(['call-2'])
    await desk.close()
    expect(await first).toEqual([])
  })

  it('tells for how long it had waited when it was found', async () => {
    const { time, jobs, desk, tell, settled } = setUp()
    const base = { workerId: 'w', actor: 'w', nonce: '', lanes: [lane('a')], limit: 1, maxInputBytes: 0 }
    const waiting = desk.claim({ ...base, requestId: 'r', waitMs: 60_000 })
    await settled()
    await time.advance(10_000)
    jobs.set('a', 1)
    await tell(hint('a'))
    expect((await waiting).waitedMs).toBe(10_000)
  })
})

describe('a claim that leaves', () => {
  it('because its time is over looks for the last time, at all its lanes', async () => {
    const { time, jobs, claim, looks, settled, listeners } = setUp()
    const waiting = claim([lane('a'), lane('b')], { waitMs: 40 })
    await settled()
    jobs.set('b', 1)
    await time.advance(40)
    expect(await waiting).toEqual(['b'])
    expect(looks).toEqual([{ requestId: 'call-1', lanes: [lane('a'), lane('b')], last: true }])
    await time.settle()
    expect([listeners.size, time.pending]).toEqual([0, 0])
  })

  it('because nobody waits for it any more looks at no lane, and is not looked for again', async () => {
    const { time, jobs, claim, looks, tell, settled } = setUp()
    const gone = new AbortController()
    const left = claim([lane('a')], { signal: gone.signal })
    const good = claim([lane('a')])
    await settled()
    jobs.set('a', 1)
    gone.abort()
    expect(await left).toEqual([])
    expect(looks).toEqual([{ requestId: 'call-1', lanes: [], last: true }])
    await tell(hint('a'))
    expect(await good).toEqual(['a'])
    await time.settle()
    expect(time.pending).toBe(0)
  })

  it('waits for the look under way, and takes what that has found', async () => {
    const { time, jobs, claim, slowed, looks } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    slowed(promise)
    jobs.set('a', 1)
    const gone = new AbortController()
    const waiting = claim([lane('a')], { signal: gone.signal })
    await time.settle()
    gone.abort()
    await time.settle()
    resolve()
    expect(await waiting).toEqual(['a'])
    expect(looks).toHaveLength(1)
  })

  it('takes a failure along, and leaves its neighbours alone', async () => {
    const { time, claim, slowed, tell, settled, jobs } = setUp()
    const failing = claim([lane('a')])
    const other = claim([lane('b')])
    await settled()
    slowed(Promise.reject(new Error('connection lost')))
    const failed = expect(failing).rejects.toThrow('connection lost')
    await tell(hint('a'))
    await failed
    slowed(Promise.resolve())
    jobs.set('b', 1)
    await tell(hint('b'))
    expect(await other).toEqual(['b'])
    expect(time.pending).toBe(0)
  })

  it('finds nobody to wait with once the desk is closed', async () => {
    const { claim, desk } = setUp()
    await desk.close()
    await expect(claim([lane('a')])).rejects.toThrow('closed')
  })
})
