import type { Command } from '../../../src/core/command.ts'
import { decide } from '../../../src/core/decide.ts'
import type { Job } from '../../../src/core/job.ts'
import { COMMANDS } from '../../../src/core/verb.ts'
import type { Word } from '../../../src/engine/engine.ts'
import { SPECIMENS, type Specimen } from '../../../src/store/conformance/specimens.ts'
import { wordsFor } from '../../store/programs/words.ts'

export type Spoken = Word['command']['type']

/** All that can be said about a job that exists. */
export const SPOKEN: readonly Spoken[] = COMMANDS.filter(
  (type): type is Spoken => type !== 'enqueue' && type !== 'claim',
)

/** How the two are related. Apart: each has a request of its own. */
export const TWISTS = ['apart', 'one name for both', 'the same word twice', 'a fence that is not theirs'] as const
export type Twist = (typeof TWISTS)[number]

/** Two words about a job of this kind. `n` chooses among whatever there is to choose from. */
export interface Pair {
  readonly specimen: Specimen
  readonly first: Spoken
  readonly second: Spoken
  readonly twist: Twist
  readonly n: number
}

const HOUR = 3_600_000
const FOREIGN = '0.1.00000000000000ff'

export function wordsOf({ first, second, twist, n }: Pair, job: Job, serial: number): readonly [Word, Word] {
  const one = word(first, job, n, serial, `${job.id}/1`)
  if (twist === 'the same word twice') return [one, one]
  const name = twist === 'one name for both' ? `${job.id}/1` : `${job.id}/2`
  // As often as not they say the same about the same: one step, one checkpoint, one signal.
  const other = n % 2 === 0 ? n : n * 7 + 3
  const fence = twist === 'a fence that is not theirs' ? FOREIGN : undefined
  return [one, word(second, job, other, serial + 1, name, fence)]
}

function word(type: Spoken, job: Job, n: number, serial: number, requestId: string, foreign?: string): Word {
  const fence = foreign ?? job.lease?.fence ?? job.lastClaim?.fence ?? '0.1.0000000000000000'
  const { command, bodies } = wordsFor(type, job, n, { requestId, fence, serial, at: job.updatedAt })
  return { id: job.id, command: patient(command) as Word['command'], bodies }
}

/** No wait ends by itself while a test looks. */
const patient = (command: Command): Command =>
  command.type === 'wait' && command.timeoutMs !== undefined
    ? { ...command, timeoutMs: command.timeoutMs + HOUR / 2 }
    : command

/** The specimens that have something to do when they hear this, or all of them if none has. */
export function whoHear(type: Spoken, grown: ReadonlyMap<Specimen, Job>, now: number): readonly Specimen[] {
  const all = Object.values(SPECIMENS).flat()
  const hearing = all.filter((specimen) => {
    const job = grown.get(specimen) as Job
    return decide(job, word(type, job, 0, 1, 'asked').command, now).kind === 'accepted'
  })
  return hearing.length > 0 ? hearing : all
}
