/**
 * Whose turn it is to speak about a job, among those who speak in this process. A speaker that is not its owner takes the turn
 * before it reads; an owner, who hardly ever meets anybody, only where it has met somebody. Who finds the turn taken
 * lines up, and all who have lined up speak together when it comes: a hundred signals at once are two or three commits,
 * instead of a hundred that are all judged on the same record, of which one is right.
 *
 * Other processes are met in the store, which compares revisions. Turns save trips and protect nothing: a speaker that has no
 * time for them (a caller's transaction, which may hold what the one before waits for) goes without.
 *
 * Invariant: a job is in `#lines` exactly while its turn is taken.
 */
import { assert } from '../core/assert.ts'
import type { JobId } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Answer, Word } from './engine.ts'

/** How long words about a job that others speak about are tried, and how long they wait in line for it. */
export const PATIENCE_MS = 5_000
/** Words in one line. More than this is a mistake of their sender, and refused as overload. */
const LINE_MAX = 10_000
const RETRY_AFTER_MS = 500

interface Waiting {
  readonly words: readonly Word[]
  readonly untilMs: number
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

interface Line {
  readonly waiting: Waiting[]
  /** Words of all who wait in this line. */
  words: number
}

export interface TurnsParts {
  /** Says what those in line have to say, all at once. The turn is theirs meanwhile. */
  readonly speak: (words: readonly Word[]) => Promise<readonly Answer[]>
  readonly monotonicMs: () => number
}

export class Turns {
  readonly #parts: TurnsParts
  readonly #lines = new Map<JobId, Line>()

  constructor(parts: TurnsParts) {
    this.#parts = parts
  }

  isTaken(id: JobId): boolean {
    return this.#lines.size > 0 && this.#lines.has(id)
  }

  /** Takes the turn; false where another speaker has it. */
  take(id: JobId): boolean {
    if (this.#lines.has(id)) return false
    this.#lines.set(id, emptyLine())
    return true
  }

  /** Waits in line for a turn that is taken; answers once the words have had theirs. */
  lineUp(id: JobId, words: readonly Word[]): Promise<readonly Answer[]> {
    const line = this.#lines.get(id)
    assert(line !== undefined, 'nobody lines up for a turn that is free')
    if (line.words + words.length > LINE_MAX) return Promise.resolve(words.map(crowdedOut))
    const untilMs = this.#parts.monotonicMs() + PATIENCE_MS
    line.words += words.length
    return new Promise((resolve, reject) => line.waiting.push({ words, untilMs, resolve, reject }))
  }

  /** The holder of the turn is done: the next in line has it. */
  pass(id: JobId): void {
    const line = this.#lines.get(id)
    assert(line !== undefined, 'only a turn that was taken is passed on')
    if (line.waiting.length === 0) {
      this.#lines.delete(id)
      return
    }
    this.#lines.set(id, emptyLine())
    void this.#speak(line.waiting).then(() => this.pass(id))
  }

  async #speak(line: readonly Waiting[]): Promise<void> {
    const nowMs = this.#parts.monotonicMs()
    const patient = line.filter(({ untilMs }) => untilMs > nowMs)
    for (const { words, untilMs, resolve } of line) if (untilMs <= nowMs) resolve(words.map(crowdedOut))
    try {
      const answers = await this.#parts.speak(patient.flatMap(({ words }) => words))
      let at = 0
      for (const { words, resolve } of patient) {
        resolve(answers.slice(at, at + words.length))
        at += words.length
      }
    } catch (error) {
      for (const { reject } of patient) reject(error)
    }
  }
}

const emptyLine = (): Line => ({ waiting: [], words: 0 })

const crowdedOut = (word: Word): Answer => ({ ok: false, refusal: crowded(word) })

/** The refusal of a word that got no turn in time: too many spoke about the job, or a transaction keeps it locked. */
export function crowded({ id, command }: Word): Refusal {
  const message = `Others spoke about job ${id} for more than ${PATIENCE_MS} ms without a gap, or a transaction holds it. Nothing was changed.`
  return refuse('OVERLOADED', { command: command.type, jobId: id, message, retryAfterMs: RETRY_AFTER_MS })
}
