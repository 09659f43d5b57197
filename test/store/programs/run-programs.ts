import { OBSERVATION_TYPES, TRANSITION_TYPES } from '../../../src/core/event.ts'
import { STATES } from '../../../src/core/job.ts'
import type { Store } from '../../../src/store/store.ts'
import { type Failure, perform, TOGETHER } from './perform.ts'
import { type Program, programs } from './program.ts'

export interface Runner {
  readonly store: Store
  readonly count: number
  readonly seed: number
  readonly pass?: () => void
}

/**
 * Runs that many programs. The first that fails is cut down to the intents it needs, and told. Answers with what has
 * not come up at all: programs that never park a job prove nothing about parking.
 */
export async function runPrograms({ store, count, seed, pass }: Runner): Promise<readonly string[]> {
  const missing = new Set(EVERYTHING)
  let serial = 0
  const fixture = () => {
    serial += 1
    return { store, serial, ...(pass && { pass }) }
  }
  for (let done = 0; done < count; done += TOGETHER) {
    const some = programs(Math.min(TOGETHER, count - done), seed + done)
    const { failures, seen } = await perform(fixture(), some)
    for (const each of seen) missing.delete(each)
    const [failure] = failures
    if (failure === undefined) continue
    const alone = async (program: Program) => (await perform(fixture(), [program])).failures[0]
    const smallest = await cutDown(failure, alone)
    throw new Error(told(smallest, seed + done), { cause: smallest.error })
  }
  return [...missing]
}

const EVERYTHING: readonly string[] = [
  ...STATES.map((state) => `state ${state}`),
  ...[...TRANSITION_TYPES, ...OBSERVATION_TYPES].map((type) => `event ${type}`),
  ...['applied', 'conflict', 'late', 'taken'].map((status) => `move ${status}`),
  ...['insert inserted', 'insert exists', 'claim given', 'claim nothing', 'heartbeat renewed', 'heartbeat lost'],
  'heartbeat careful',
  ...['annotate applied', 'compact applied', 'purge applied', 'successor'],
]

/** Leaves out intent after intent, as long as it still fails. */
async function cutDown(first: Failure, alone: (program: Program) => Promise<Failure | undefined>): Promise<Failure> {
  let smallest = first
  for (let i = first.program.intents.length - 1; i >= 0; i -= 1) {
    const intents = smallest.program.intents.toSpliced(i, 1)
    smallest = (await alone({ ...smallest.program, intents })) ?? smallest
  }
  return smallest
}

function told({ program, step, error }: Failure, seed: number): string {
  const why = error instanceof Error ? error.message : String(error)
  const intents = program.intents.map((intent) => JSON.stringify(intent)).join('\n  ')
  const policy = JSON.stringify(program.policy)
  return `a program of seed ${seed} fails at step ${step}: ${why}\n  ${program.still ? 'still' : 'travelling'}, ${policy}\n  ${intents}`
}
