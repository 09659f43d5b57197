/**
 * Turns by account: whoever has jobs under many keys has many flows, and no more turns than whoever has one. Every small crowd of two
 * accounts is gone through: how many flows each has, with which weight, at a key or at a lane, who comes first, with all jobs at once or one by
 * one. While both wait, neither is ever ahead of its share by more than a turn of each and what may stand.
 */
import type { Limit } from '../../../src/core/flow/key.ts'
import { Breach, must } from '../breach.ts'
import type { Counterexample, Exploration } from '../explore.ts'
import type { FlowCore } from './flow-core.ts'
import { HallWorld, WINDOW, type WorldFlow } from './hall-world.ts'

interface Crowd {
  readonly flows: readonly [x: number, y: number]
  readonly weights: readonly [x: number, y: number]
  readonly at: 'key' | 'lane'
  readonly first: 'x' | 'y'
  /**
   * All jobs are there from the beginning; or each flow has few, and another comes while one runs, or once it has ended; or the second
   * account comes when the first has had many turns by itself, some of them after it had had one of its own.
   */
  readonly comes: (typeof COMES)[number]
  readonly isAlone: boolean
}

const COMES = ['at once', 'one by one', 'when dry', 'late'] as const
const TURNS = 24
/** Jobs of each flow to begin with: who comes one by one has some that wait all the same. */
const BEGUN: Readonly<Record<Crowd['comes'], number>> = {
  'at once': (TURNS + 1) * WINDOW,
  'one by one': 3,
  'when dry': 1,
  late: (TURNS + 1) * WINDOW,
}
/** Thirds are no whole numbers. */
const ABOUT = 1e-9
const ONE: Limit = { concurrency: 1 }

export function exploreAccounts(core: FlowCore): Exploration {
  let edges = 0
  let states = 0
  for (const crowd of crowds()) {
    states += 1
    const steps: string[] = []
    try {
      edges += takeTurns(core, crowd, steps)
    } catch (error) {
      const { rule, message } = error instanceof Breach ? error : { rule: 'total', message: String(error) }
      const counterexample: Counterexample = { rule, what: message, steps: [JSON.stringify(crowd), ...steps] }
      return { ...NOTHING, states, edges, counterexample }
    }
  }
  return { ...NOTHING, states, edges, counterexample: undefined }
}

const NOTHING = { units: 0, depth: TURNS, complete: true, rows: [] } as const

/**
 * Where strangers write, a flow that gets another job is looked at apart from those it waits among, so that whoever gets one all the time
 * is ahead of them until somebody looks at the place: there jobs come at once.
 */
function* crowds(): Generator<Crowd> {
  for (const x of [1, 2, 3, 5])
    for (const y of [1, 2])
      for (const weights of [
        [1, 1],
        [2, 1],
        [1, 3],
      ] as const)
        for (const at of ['key', 'lane'] as const)
          for (const first of ['x', 'y'] as const)
            for (const comes of COMES)
              for (const isAlone of comes === 'one by one' ? [true] : [true, false])
                yield { flows: [x, y], weights, at, first, comes, isAlone }
}

function takeTurns(core: FlowCore, crowd: Crowd, steps: string[]): number {
  const { at, first, comes, isAlone } = crowd
  const names = namesOf(crowd)
  const world = new HallWorld(
    core,
    isAlone,
    names.map(([name, account, weight]) => flowOf(name, account, weight, at)),
  )
  if (at === 'key') world.set('a', ONE)
  const inOrder = [...names].sort((a, b) => Number(b[1] === first) - Number(a[1] === first))
  const begun = comes === 'late' ? inOrder.filter(([, account]) => account === first) : inOrder
  for (let n = 0; n < BEGUN[comes]; n += 1) for (const [name] of begun) world.insert(name, 0)
  world.nudge()
  const had = { x: 0, y: 0 }
  for (let n = 0; n < TURNS; n += 1) {
    if (comes === 'late' && n === TURNS / 2) {
      // Nobody saves up turns while it has nothing to run: from here on it is as if both had come now.
      had.x = 0
      had.y = 0
      for (const [name, account] of inOrder)
        for (let i = 0; i < BEGUN[comes]; i += 1) if (account !== first) world.insert(name, 0)
      world.nudge()
    }
    for (let i = 0; i < WINDOW; i += 1) world.claim(LANE)
    const owned = [...world.jobs.values()].filter(({ place }) => place === 'owned')
    for (const { id, flow } of owned) {
      const { account } = world.flow(flow)
      had[account as 'x' | 'y'] += 1
      steps.push(flow)
      if (comes === 'one by one') world.insert(flow, 0)
      world.nudge()
      world.end(id, 'succeeded', 'ended')
      if (comes === 'when dry') world.insert(flow, 0)
    }
    world.nudge()
    world.due()
    world.now += 1
    if (comes !== 'late' || n >= TURNS / 2) judge(crowd, had)
  }
  const [less, more] = [had.x, had.y].sort((a, b) => a - b) as [number, number]
  must(less * 4 >= more, 'turns', `one of them was hardly served: ${JSON.stringify(had)}`)
  return steps.length
}

/** Turns in units of their weights differ by one of each, and by what stood before the others came. */
function judge({ weights: [x, y], comes }: Crowd, had: { readonly x: number; readonly y: number }): void {
  // Who has nothing that waits has no turn to take, and is served as it comes.
  if (comes === 'when dry' || (comes === 'one by one' && x !== y)) return
  const apart = Math.abs(had.x / x - had.y / y)
  const most = 1 / x + 1 / y + WINDOW / Math.min(x, y)
  must(
    apart <= most + ABOUT,
    'turns',
    `after ${had.x} and ${had.y} turns they are ${apart.toFixed(2)} apart, of at most ${most}`,
  )
}

function namesOf({ flows: [x, y], weights }: Crowd): readonly (readonly [string, string, number])[] {
  const some = (account: string, count: number, weight: number) =>
    Array.from({ length: count }, (_, n) => [`${account}${n}`, account, weight] as const)
  return [...some('x', x, weights[0]), ...some('y', y, weights[1])]
}

const LANE = 'p 5'
const flowOf = (name: string, account: string, weight: number, at: Crowd['at']): WorldFlow => [
  name,
  'p',
  5,
  at === 'key' ? ['a'] : [],
  weight,
  account,
]
