import { describe, expect, it } from 'vitest'
import { gateOf } from '../../../src/core/flow/gate.ts'
import {
  atKey,
  atLane,
  atQueue,
  type Flow,
  type Hall,
  joiningPass,
  type Place,
  passedOn,
} from '../../../src/core/flow/hall.ts'
import { atRest, type Limit } from '../../../src/core/flow/key.ts'
import { letIn } from '../../../src/core/flow/let-in.ts'
import { countOf } from '../../../src/core/flow/slots.ts'
import type { Priority } from '../../../src/core/job.ts'

const NOW = 1_000_000

interface Given {
  readonly flows: readonly (Partial<Flow> & { readonly name: string })[]
  /** How many each flow holds; ready at once. */
  readonly held?: Readonly<Record<string, number>>
  readonly limits?: Readonly<Record<string, Limit>>
  readonly window?: number
  readonly standing?: number
  readonly paused?: boolean
  readonly hungry?: Readonly<Record<string, number>>
  readonly readyAt?: number
}

function hallOf({
  flows,
  held = {},
  limits = {},
  window = 1_000,
  standing = 0,
  paused = false,
  hungry = {},
  readyAt = NOW,
}: Given): Hall {
  const all = flows.map(
    (flow): Flow => ({
      queue: 'q',
      lane: 'q 5',
      priority: 5,
      keys: [],
      account: flow.name,
      weight: 1,
      pass: 0,
      waitsAt: undefined,
      nextAt: undefined,
      ...flow,
    }),
  )
  const at = (place: Place) => all.filter(({ waitsAt }) => waitsAt === place)
  return {
    window,
    flow: (name) => all.find((flow) => flow.name === name) as Flow,
    ring: (place, priority) =>
      at(place)
        .filter((flow) => flow.priority === priority)
        .sort((a, b) => a.pass - b.pass),
    lastOf: (place, priority, account) => {
      const passes = at(place).filter((flow) => flow.priority === priority && flow.account === account)
      return passes.length === 0 ? undefined : Math.max(...passes.map(({ pass }) => pass))
    },
    prioritiesAt: (place) => [...new Set(at(place).map(({ priority }) => priority))],
    hungrySince: (place, priority) => hungry[`${place} ${priority}`] ?? NOW,
    held: (name) => Array.from({ length: held[name] ?? 0 }, (_, i) => ({ job: `${name}${i + 1}`, readyAt })),
    key: (name) => {
      const gate = gateOf(atRest(name), limits[name] ?? {})
      return { gate, count: countOf({ gate, slots: [], paces: [], spent: 0, window: 0 }, NOW) }
    },
    standing: () => standing,
    isPaused: () => paused,
  }
}

const jobsOf = (given: Given, places: readonly Place[], arrived: readonly string[] = []) =>
  letIn(hallOf(given), places, arrived, NOW).admitted.map(({ job }) => job)

describe('letting in', () => {
  it('takes a slot of every key or none, and the flow waits at the first without room', () => {
    const flows = [{ name: 'f', keys: ['a', 'b'] }]
    const given = { flows, held: { f: 3 }, limits: { a: { concurrency: 2 }, b: { concurrency: 1 } } }
    const { admitted, flows: after, wakes } = letIn(hallOf(given), [], ['f'], NOW)
    expect(admitted).toEqual([{ job: 'f1', flow: 'f', keys: ['a', 'b'] }])
    expect(after).toMatchObject([{ name: 'f', waitsAt: 'key b', nextAt: undefined, pass: 1 }])
    expect([...wakes]).toEqual([])
  })

  it('says when a key that only time can free is to be looked at', () => {
    const given = {
      flows: [{ name: 'f', keys: ['a'] }],
      held: { f: 2 },
      limits: { a: { rate: { most: 1, perMs: 500 } } },
    }
    const { admitted, wakes } = letIn(hallOf(given), [], ['f'], NOW)
    expect(admitted).toHaveLength(1)
    expect([...wakes]).toEqual([['a', NOW + 500]])
  })

  it('keeps the order within a flow, and comes back for what is to run later', () => {
    const flows = [{ name: 'f' }]
    expect(jobsOf({ flows, held: { f: 3 } }, [], ['f', 'f'])).toEqual(['f1', 'f2', 'f3'])
    const { flows: after } = letIn(hallOf({ flows, held: { f: 1 }, readyAt: NOW + 9 }), [], ['f'], NOW)
    expect(after).toMatchObject([{ nextAt: NOW + 9, waitsAt: undefined }])
    expect(letIn(hallOf({ flows }), [], ['f'], NOW).flows).toMatchObject([{ nextAt: undefined, waitsAt: undefined }])
  })

  it('lets nothing into a lane that is full or a queue that is paused; the flow waits there', () => {
    const given = { flows: [{ name: 'f' }], held: { f: 2 } }
    expect(letIn(hallOf({ ...given, window: 3, standing: 3 }), [], ['f'], NOW).flows).toMatchObject([
      { waitsAt: 'lane q 5' },
    ])
    expect(letIn(hallOf({ ...given, paused: true }), [], ['f'], NOW).flows).toMatchObject([{ waitsAt: 'queue q' }])
    const waiting = { ...given, flows: [{ name: 'f', waitsAt: atQueue('q') }], paused: true }
    expect(letIn(hallOf(waiting), [atQueue('q'), atQueue('q')], [], NOW).flows).toMatchObject([
      { waitsAt: 'queue q', pass: 0 },
    ])
  })

  it('shares turns by weight: three to one over four hundred', () => {
    const flows = ['a', 'b'].map((name) => ({ name, waitsAt: atLane('q 5'), weight: name === 'a' ? 3 : 1 }))
    const counts = { a: 0, b: 0 }
    let passes: Readonly<Record<string, number>> = { a: 0, b: 0 }
    for (let round = 0; round < 4; round += 1) {
      const hall = hallOf({
        flows: flows.map((flow) => ({ ...flow, pass: passes[flow.name] ?? 0 })),
        held: { a: 500, b: 500 },
      })
      const { admitted, flows: after, again } = letIn(hall, [atLane('q 5')], [], NOW)
      for (const { flow } of admitted) counts[flow as 'a' | 'b'] += 1
      passes = Object.fromEntries(after.map(({ name, pass }) => [name, pass]))
      expect(after.every(({ nextAt }) => nextAt === NOW)).toBe(true)
      expect(again).toEqual(['lane q 5'])
    }
    expect(counts).toEqual({ a: 300, b: 100 })
  })

  it('gives no turn to who saved them up, nor lets anybody owe more than one', () => {
    expect(joiningPass({ pass: 3, weight: 2 }, undefined)).toBe(3)
    expect(joiningPass({ pass: 3, weight: 2 }, 10)).toBe(10)
    expect(joiningPass({ pass: 10.2, weight: 2 }, 10)).toBe(10.2)
    expect(joiningPass({ pass: 99, weight: 2 }, 10)).toBe(10.5)
    expect(passedOn({ pass: 3, weight: 2 }, undefined)).toBe(3.5)
    expect([passedOn({ pass: 3, weight: 2 }, 10), passedOn({ pass: 3, weight: 2 }, 2)]).toEqual([10.5, 3.5])
    const flows = [
      { name: 'old', waitsAt: atKey('a'), pass: 7, keys: ['a'] },
      { name: 'new', pass: 0, keys: ['a'] },
    ]
    const given = { flows, held: { old: 2, new: 2 }, limits: { a: { concurrency: 3 } } }
    expect(jobsOf(given, [atKey('a')], ['new'])).toEqual(['old1', 'new1', 'old2'])
    expect(jobsOf(given, [], ['new', 'old'])).toEqual(['new1', 'new2', 'old1'])
  })

  it('shares turns by account: one with many flows has those of one', () => {
    const hers = ['a1', 'a2', 'a3', 'a4'].map((name) => ({ name, account: 'ann' }))
    const his = { name: 'b', account: 'bob' }
    const held = { a1: 2, a2: 2, a3: 1, a4: 1, b: 4 }
    const areInTurn = (jobs: readonly string[]) => {
      expect(jobs.filter((job) => job.startsWith('a'))).toEqual(['a11', 'a21', 'a31', 'a41', 'a12', 'a22'])
      for (const n of [0, 2, 4, 6]) expect(jobs.slice(n, n + 2).map(([whose]) => whose)).toContain('a')
      for (const n of [0, 2, 4, 6]) expect(jobs.slice(n, n + 2).map(([whose]) => whose)).toContain('b')
    }
    areInTurn(jobsOf({ flows: [...hers, his], held }, [], ['a1', 'a2', 'a3', 'a4', 'b']))
    // Those who come to wait have a turn after each other, and so have those who had one and stay.
    const full = { flows: [...hers, his], held, standing: 3, window: 3 }
    const { flows: waiting } = letIn(hallOf(full), [], ['a1', 'a2', 'a3', 'a4', 'b'], NOW)
    expect(waiting.map(({ name, pass }) => [name, pass])).toEqual([
      ['a1', 0],
      ['b', 0],
      ['a2', 1],
      ['a3', 2],
      ['a4', 3],
    ])
    areInTurn(jobsOf({ flows: waiting, held }, [atLane('q 5')]))
    const late = { name: 'a5', account: 'ann', weight: 2 }
    const { flows: joined } = letIn(hallOf({ ...full, flows: [...waiting, late], held: { a5: 1 } }), [], ['a5'], NOW)
    expect(joined).toMatchObject([{ name: 'a5', waitsAt: 'lane q 5', pass: 3.5 }])
  })

  it('serves the more urgent first, until another was passed over for long enough', () => {
    const flows = [
      { name: 'late', priority: 9 as Priority, waitsAt: atKey('a'), keys: ['a'] },
      { name: 'soon', priority: 2 as Priority, waitsAt: atKey('a'), keys: ['a'] },
    ]
    const given = { flows, held: { late: 1, soon: 1 }, limits: { a: { concurrency: 1 } } }
    expect(jobsOf(given, [atKey('a')])).toEqual(['soon1'])
    const starved = { ...given, hungry: { 'key a 9': NOW - 9 * 15_000 } }
    const { admitted, fed } = letIn(hallOf(starved), [atKey('a')], [], NOW)
    expect(admitted.map(({ job }) => job)).toEqual(['late1'])
    expect(fed).toEqual([{ place: 'key a', priority: 9 }])
  })

  it('passes a saturated key by: another key’s jobs are let in as if alone', () => {
    const flows = [
      { name: 'full', keys: ['x'] },
      { name: 'free', keys: ['y'] },
    ]
    const held = { full: 10_000, free: 2 }
    const { admitted, flows: after } = letIn(
      hallOf({ flows, held, limits: { x: { concurrency: 1 } } }),
      [],
      ['full', 'free'],
      NOW,
    )
    expect(admitted.map(({ job }) => job)).toEqual(['full1', 'free1', 'free2'])
    expect(after.find(({ name }) => name === 'full')?.waitsAt).toBe('key x')
  })

  it('brings a flow that moves to where others wait up to their pass', () => {
    const flows = [
      { name: 'there', keys: ['b'], waitsAt: atKey('b'), pass: 20 },
      { name: 'mover', keys: ['b'] },
    ]
    const given = { flows, held: { there: 1, mover: 1 }, limits: { b: { concurrency: 0 } } }
    expect(letIn(hallOf(given), [], ['mover'], NOW).flows).toMatchObject([
      { name: 'mover', waitsAt: 'key b', pass: 20 },
    ])
  })
})

describe('one commit', () => {
  it('tries one of those who wait at a place without room, and leaves the others there', () => {
    const full = Array.from({ length: 500 }, (_, i) => ({ name: `f${i}`, keys: ['a'], waitsAt: atKey('a'), pass: i }))
    const flows = [
      ...full,
      { name: 'urgent', keys: ['a'], waitsAt: atKey('a'), priority: 1 as Priority },
      { name: 'mover', keys: ['c', 'a'], waitsAt: atKey('c') },
      { name: 'other', keys: ['b'], waitsAt: atKey('b') },
    ]
    const held = Object.fromEntries(flows.map(({ name }) => [name, 1]))
    const hall = hallOf({ flows, held, limits: { a: { concurrency: 0 } } })
    const { admitted, flows: after, again } = letIn(hall, [atKey('a'), atKey('b'), atKey('c')], [], NOW)
    expect(admitted.map(({ job }) => job)).toEqual(['other1'])
    expect(after.map(({ name, waitsAt }) => [name, waitsAt])).toEqual([
      ['urgent', 'key a'],
      ['other', undefined],
      ['mover', 'key a'],
    ])
    expect(again).toEqual([])
  })

  it('tries so often in one commit and no more; what was not looked at is looked at again', () => {
    const flows = Array.from({ length: 500 }, (_, i) => ({
      name: `f${i}`,
      keys: [`k${i}`],
      waitsAt: atKey('all'),
      pass: i,
    }))
    const { flows: after, again } = letIn(hallOf({ flows }), [atKey('all')], [], NOW)
    expect(after).toHaveLength(400)
    expect(again).toEqual(['key all'])
    const arrived = flows.map((flow) => ({ ...flow, waitsAt: undefined }))
    const names = arrived.map(({ name }) => name)
    const { flows: later } = letIn(hallOf({ flows: arrived }), [], names, NOW)
    expect(later.filter(({ nextAt }) => nextAt === NOW)).toHaveLength(100)
    const even = arrived.map((flow) => ({ ...flow, pass: 0 }))
    const held = Object.fromEntries(names.map((name) => [name, 2]))
    const busy = letIn(hallOf({ flows: even, held }), [], names, NOW)
    expect(busy.admitted).toHaveLength(100)
    expect(busy.flows.filter(({ nextAt }) => nextAt === NOW)).toHaveLength(500)
  })

  it('joins those of its own priority, and none that are not there', () => {
    const flows = [
      { name: 'other', waitsAt: atKey('a'), pass: 9, priority: 1 as Priority },
      { name: 'empty', waitsAt: atKey('b') },
      { name: 'new', pass: 3 },
    ]
    const { flows: after } = letIn(hallOf({ flows, held: { new: 1 } }), [atKey('a'), atKey('b')], ['new', 'empty'], NOW)
    expect(after.find(({ name }) => name === 'new')?.pass).toBe(1 + 1)
  })
})
