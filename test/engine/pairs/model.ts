import { decide } from '../../../src/core/decide.ts'
import type { Event } from '../../../src/core/event.ts'
import type { Job } from '../../../src/core/job.ts'
import { speaksAsOwner } from '../../../src/core/ownership.ts'
import { isStripping } from '../../../src/core/stripped.ts'
import type { Answer, Word } from '../../../src/engine/engine.ts'
import { wordBodies } from '../../../src/engine/word-bodies.ts'

/** What is there afterwards: the answers by place, the record, its log, its bodies. */
export interface Outcome {
  readonly answers: readonly string[]
  readonly record: Job
  readonly log: readonly Event[]
  readonly bodies: Readonly<Record<string, string>>
}

export interface Start {
  readonly job: Job
  readonly log: readonly Event[]
  readonly bodies: Readonly<Record<string, string>>
}

/** In which order the words are heard, and whether an owner's request is looked up in the log before it is judged. */
export interface Hearing {
  readonly order: readonly number[]
  readonly lookedUp: boolean
}

/** What core makes of the words, one after the other. */
export function oneAfterTheOther(start: Start, words: readonly Word[], hearing: Hearing, now: number): Outcome {
  const answers: string[] = new Array(words.length)
  const log = [...start.log]
  const bodies = new Map(Object.entries(start.bodies))
  let { job } = start
  for (const place of hearing.order) {
    const word = words[place] as Word
    const caused = log.filter(({ requestId }) => requestId === word.command.requestId)
    const decision = judged(job, word, now, caused, hearing.lookedUp)
    if (decision.kind === 'replayed') {
      const { rev, state } = decision.receipt
      answers[place] = `${state} at ${rev} again`
    } else if (decision.kind === 'refused') answers[place] = decision.refusal.code
    else {
      for (const { name, text } of [...wordBodies(word, decision.events), ...decision.bodies]) bodies.set(name, text)
      if (isStripping(job, decision.job)) bodies.clear()
      job = decision.job
      log.push(...decision.events)
      answers[place] = `${job.state} at ${job.rev}`
    }
  }
  return { answers, record: job, log, bodies: Object.fromEntries(bodies) }
}

/**
 * An owner is known by its fence, and by what the record remembers of it: only where it is refused is the log asked. One that was
 * refused before the other word was heard, and asks the log after it, is judged by both.
 */
function judged(job: Job, word: Word, now: number, caused: readonly Event[], lookedUp: boolean) {
  if (lookedUp || !speaksAsOwner(word.command)) return decide(job, word.command, now, caused)
  const decision = decide(job, word.command, now)
  return decision.kind === 'refused' ? decide(job, word.command, now, caused) : decision
}

export const told = (answer: Answer): string =>
  answer.ok ? `${answer.state} at ${answer.rev}${answer.replayed ? ' again' : ''}` : answer.refusal.code

/** Without the hour: the model says both words in one moment, a store does not. Heartbeats may be kept as one. */
export const timeless = (outcome: Outcome): unknown =>
  JSON.parse(
    JSON.stringify({ ...outcome, log: outcome.log.filter(({ type }) => type !== 'heartbeat') }, (_, value: unknown) =>
      typeof value === 'number' && value > 1e12 ? 'then' : value,
    ),
  )
