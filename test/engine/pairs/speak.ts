import type { Job } from '../../../src/core/job.ts'
import { differences } from '../../../src/engine/difference.ts'
import type { Engine, Word } from '../../../src/engine/engine.ts'
import type { Specimen } from '../../../src/store/conformance/specimens.ts'
import { grow } from '../../../src/store/conformance/specimens.ts'
import type { StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { type Outcome, oneAfterTheOther, type Start, timeless, told } from './model.ts'
import { type Pair, wordsOf } from './pair.ts'

/** Says both words. Answers in their places. */
export type Way = (words: readonly [Word, Word]) => Promise<readonly string[]>

export const inOneCall =
  (engine: Engine): Way =>
  async (words) =>
    (await engine.settle(words)).map(told)

export const inTwoCalls =
  (one: Engine, other: Engine): Way =>
  async ([a, b]) => {
    const answers = await Promise.all([one.settle([a]), other.settle([b])])
    return answers.flat().map(told)
  }

const AT_ONCE = 100
const ORDERS = [
  [0, 1],
  [1, 0],
]
const HEARINGS = [false, true].flatMap((lookedUp) => ORDERS.map((order) => ({ order, lookedUp })))
const BODIES = ['input', 'output', 'checkpoint', 'replaced', 'next', 'step/', 'signal/', 'error/']

/**
 * Says all pairs, a hundred jobs at a time, so that each has neighbours in every batch. Answers with those whose outcome
 * is neither that of the first word before the second nor that of the second before the first.
 */
export async function mistakes(fixture: StoreFixture, pairs: readonly Pair[], way: Way): Promise<readonly string[]> {
  const found: string[] = []
  for (let from = 0; from < pairs.length; from += AT_ONCE) {
    const some = pairs.slice(from, from + AT_ONCE)
    const outcomes = await Promise.all(some.map((pair, i) => mistake(fixture, pair, from + i, way)))
    found.push(...outcomes.filter((each) => each !== undefined))
  }
  return found
}

async function mistake(fixture: StoreFixture, pair: Pair, serial: number, way: Way): Promise<string | undefined> {
  const { id } = await grow(fixture, pair.specimen)
  const before = await look(fixture, id)
  const words = wordsOf(pair, before.job, serial * 2)
  const name = `${pair.specimen.name}: ${words.map(({ command }) => JSON.stringify(command)).join(' and ')}`
  const answers = await way(words).catch((error: unknown) => [String(error)])
  const { job, log, bodies } = await look(fixture, id)
  const outcome: Outcome = { answers, record: job, log, bodies }
  const now = Math.max(await fixture.now(), before.job.updatedAt)
  const right = HEARINGS.map((hearing) => oneAfterTheOther(before, words, hearing, now))
  const wrong = right.map((each) => differences(timeless(outcome), timeless(each)))
  return wrong.some((each) => each.length === 0)
    ? undefined
    : `${name}: ${wrong.map((each) => each.join('; ')).join(' or ')}`
}

async function look(fixture: StoreFixture, id: string): Promise<Start> {
  const loaded = await fixture.loaded(id, BODIES)
  if (loaded === undefined) throw new Error(`job ${id} is gone`)
  return { job: loaded.job, log: await fixture.events(id), bodies: loaded.bodies }
}

/** One of each kind, to see what it would answer. */
export async function grownOnce(
  fixture: StoreFixture,
  specimens: readonly Specimen[],
): Promise<ReadonlyMap<Specimen, Job>> {
  const jobs = await Promise.all(specimens.map((specimen) => grow(fixture, specimen)))
  return new Map(specimens.map((specimen, i) => [specimen, jobs[i] as Job]))
}
