import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PRIORITIES } from '../../src/core/job.ts'
import {
  afterClaim,
  byPrecedence,
  AGE_MS as DEFAULT_AGE_MS,
  drawFrom,
  type LaneUse,
  orderLanes,
  passAfter,
} from '../../src/core/lanes.ts'
import { scaled } from '../support/scale.ts'

const AGE_MS = 1_000

const use = (queue: string, priority: number, weight = 1): LaneUse => ({
  lane: { tenant: 't', queue, priority },
  weight,
  pass: 0,
  hungrySince: 0,
})

/** Claims `limit` jobs at a time from lanes with the given backlogs; answers what each lane gave. */
function serve(uses: readonly LaneUse[], backlog: Map<string, number>, claims: number, limit: number, stepMs: number) {
  const given = new Map<string, number>()
  let now = 0
  let lanes = uses
  for (let n = 0; n < claims; n += 1) {
    now += stepMs
    const asked = orderLanes(lanes, now, AGE_MS)
    let wanted = limit
    const gave = asked.map(({ lane }) => {
      const name = `${lane.queue}/${lane.priority}`
      const count = Math.min(wanted, backlog.get(name) ?? 0)
      wanted -= count
      backlog.set(name, (backlog.get(name) ?? 0) - count)
      given.set(name, (given.get(name) ?? 0) + count)
      return count
    })
    lanes = afterClaim(lanes, asked, gave, limit, now)
  }
  return given
}

describe('lanes', () => {
  it('are asked by priority', () => {
    const order = orderLanes([use('a', 5), use('b', 1), use('a', 0)], 0, AGE_MS)
    expect(order.map(({ lane }) => lane.priority)).toEqual([0, 1, 5])
  })

  it('share by weight while all have work, to within one claim', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 50 }), (all, limit) => {
        const uses = all.map((weight, i) => use(`q${i}`, 5, weight))
        const backlog = new Map(uses.map(({ lane }) => [`${lane.queue}/5`, 1e9]))
        const claims = 400
        // No time passes: nothing ages.
        const given = serve(uses, backlog, claims, limit, 0)
        const total = all.reduce((sum, weight) => sum + weight, 0)
        for (const [i, weight] of all.entries()) {
          const share = (claims * limit * weight) / total
          const most = all.length * limit
          expect(Math.abs((given.get(`q${i}/5`) ?? 0) - share)).toBeLessThanOrEqual(most + 1)
        }
      }),
      { numRuns: scaled(100, 2_000) },
    )
  })

  it('never starve: a lane of low priority is served within its age', () => {
    const few = { min: 1, max: 9 }
    fc.assert(
      fc.property(
        fc.integer(few),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 10, max: 300 }),
        (priority, limit, stepMs) => {
          const uses = [use('busy', 0), use('starving', priority)]
          const backlog = new Map([
            ['busy/0', 1e9],
            [`starving/${priority}`, 1e9],
          ])
          const claims = Math.ceil((priority * AGE_MS) / stepMs) + 3
          const given = serve(uses, backlog, claims, limit, stepMs)
          expect(given.get(`starving/${priority}`)).toBeGreaterThan(0)
          // And yet it stays what it is: the urgent lane gets more.
          expect(given.get('busy/0')).toBeGreaterThanOrEqual(given.get(`starving/${priority}`) ?? 0)
        },
      ),
      { numRuns: scaled(200, 5_000) },
    )
  })

  it('that were empty have saved nothing up', () => {
    const idle = use('idle', 5)
    const busy = use('busy', 5)
    const backlog = new Map([['busy/5', 1e9]])
    let lanes: readonly LaneUse[] = [idle, busy]
    for (let n = 0; n < 100; n += 1) {
      const asked = orderLanes(lanes, 0, AGE_MS)
      lanes = afterClaim(
        lanes,
        asked,
        asked.map(({ lane }) => (lane.queue === 'busy' ? 10 : 0)),
        10,
        0,
      )
    }
    backlog.set('idle/5', 1e9)
    const given = serve(lanes, backlog, 20, 10, 0)
    expect(given.get('idle/5')).toBeLessThanOrEqual(110)
    expect(given.get('idle/5')).toBeGreaterThanOrEqual(90)
  })

  it('count what each of two claims gave that were under way together', () => {
    const lanes = [use('a', 5, 2), use('b', 5), use('c', 5)]
    const first = orderLanes(lanes, 0, AGE_MS)
    const second = orderLanes(lanes, 0, AGE_MS)
    const once = afterClaim(lanes, second, [3, 4], 10, 20)
    const twice = afterClaim(once, first, [6, 2], 8, 10)
    expect(twice.map(({ lane, pass, hungrySince }) => [lane.queue, pass, hungrySince])).toEqual([
      ['a', 4.5, 20],
      ['b', 6, 20],
      // Empty when the first was answered, and not asked by the second, which had enough before.
      ['c', 1.5, 20],
    ])
  })

  it('are all asked, whatever their order', () => {
    const lane = fc.record({
      lane: fc.record({ tenant: fc.constant('t'), queue: fc.string(), priority: fc.integer({ min: 0, max: 9 }) }),
      weight: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
      pass: fc.double({ min: 0, max: 1e12, noNaN: true }),
      hungrySince: fc.integer({ min: 0, max: 1e15 }),
    })
    fc.assert(
      fc.property(fc.array(lane), fc.integer({ min: 0, max: 1e15 }), (uses, now) => {
        const order = orderLanes(uses, now, AGE_MS)
        expect(new Set(order)).toEqual(new Set(uses))
        expect(order.length).toBe(uses.length)
      }),
    )
  })
})

describe('a claim that got nothing', () => {
  it('leaves everybody where they were, whether it says so lane by lane or not at all', () => {
    const asked = [use('a', 5), use('b', 5)]
    for (const gave of [[], [0, 0]]) {
      expect(afterClaim(asked, asked, gave, 3, 7).map(({ pass, hungrySince }) => [pass, hungrySince])).toEqual([
        [0, 7],
        [0, 7],
      ])
    }
  })
})

describe('draws', () => {
  it('are as urgent as their lanes were when they were asked', () => {
    const [urgent, aged] = [use('a', 1), use('a', 9)]
    const now = 9 * AGE_MS
    const [fresh, old] = [{ ...urgent, hungrySince: now, pass: 100 }, aged]
    const draws = orderLanes([fresh, old], now, AGE_MS).map((each) => drawFrom(each, each, now, AGE_MS))
    expect(draws.map(({ urgency, priority }) => [urgency, priority])).toEqual([
      [0, 9],
      [1, 1],
    ])
    expect([...draws].reverse().sort(byPrecedence)).toEqual(draws)
  })

  it('of one lane follow each other, also where both claims were made before either was answered', () => {
    const lanes = [use('a', 5, 3)]
    const asked = orderLanes(lanes, 0, AGE_MS)
    const first = drawFrom(asked[0] as LaneUse, lanes[0] as LaneUse, 0, AGE_MS)
    const once = afterClaim(lanes, asked, [500], 500, 0)
    const second = drawFrom(asked[0] as LaneUse, once[0] as LaneUse, 0, AGE_MS)
    const last = { ...first, pass: passAfter(first, 499) }
    expect(byPrecedence(last, second)).toBeLessThan(0)
    expect(passAfter(first, 500)).toBe(second.pass)
  })

  it('of equally urgent lanes take turns by weight', () => {
    const draws = [use('heavy', 5, 3), use('light', 5)].map((each) => drawFrom(each, each, 0, AGE_MS))
    const gone = [0, 0]
    for (let n = 0; n < 40; n += 1) {
      const [heavy, light] = draws.map((draw, i) => ({ ...draw, pass: passAfter(draw, gone[i] ?? 0) }))
      if (heavy === undefined || light === undefined) throw new Error('two draws')
      const next = byPrecedence(heavy, light) <= 0 ? 0 : 1
      gone[next] = (gone[next] ?? 0) + 1
    }
    expect(gone).toEqual([30, 10])
  })
})

describe('the default of ageing', () => {
  it('has the last priority first after 135 s, and what is normal critical after a minute', () => {
    const urgencyAfter = (priority: number, ms: number) =>
      drawFrom(use('a', priority), use('a', priority), ms, DEFAULT_AGE_MS).urgency
    expect([urgencyAfter(9, 134_999), urgencyAfter(9, 135_000)]).toEqual([1, 0])
    expect(urgencyAfter(PRIORITIES.normal, 60_000)).toBe(PRIORITIES.critical)
    expect(urgencyAfter(PRIORITIES.batch, 90_000)).toBe(PRIORITIES.critical)
  })
})
