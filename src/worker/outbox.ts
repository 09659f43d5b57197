/**
 * Group commit. Words leave in the order they came, whatever has gathered since the last call in one call: a busy
 * worker pays one commit for many jobs, an idle one waits for nobody. A second call may be under way beside the first,
 * so that the store works while the handlers of the first go on; no job has words in both.
 *
 * Modes:
 *   idle       nothing waits, nothing is under way.
 *   gathering  words wait: for the end of this turn of the loop or, while a call is under way, for its answer.
 *   calling    one batch is under way, or two. Leaves when they are answered: to gathering where words have come since, else to idle.
 *   repeating  a call has failed: `redelivery.ts` has its batch, and takes over every later word about those jobs.
 *   closed     as before, but a call that fails is not repeated: its words are left to the leases of their jobs.
 *
 * Invariant: no word overtakes another about the same job; every word that was posted is answered once, or the process ends.
 *
 * What a call that fails becomes is `redelivery.ts`'s: every word has a request id, so repeating is harmless.
 */
import type { JobId } from '../core/job.ts'
import type { Answer, Engine, Word } from '../engine/engine.ts'
import { Few } from '../system/few.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import { soon } from '../system/turn.ts'
import { Redelivery } from './redelivery.ts'

/** Told the answer to a word. An object rather than a function: a closure per job would show in a drain. */
export interface Sender {
  answered(word: Word, answer: Answer): void
}

export interface OutboxOptions {
  readonly engine: Pick<Engine, 'settle' | 'heartbeat'>
  readonly timers: Timers
  readonly log: Log
}

interface Batch {
  words: Word[]
  senders: Sender[]
  /** Every word in it is the only one that will be said about its job until it is answered. */
  lone: boolean
}

const BATCH = 500
/**
 * Fewer wait for the call under way: two small commits cost more than one. Of words after which a job goes on fewer are
 * worth it: each costs a store ten times what an end does, and its handler waits.
 */
const ENDS_WORTH_A_SECOND_CALL = 100
const WORDS_WORTH_A_SECOND_CALL = 16

export class Outbox {
  readonly #engine: OutboxOptions['engine']
  readonly #redelivery: Redelivery
  #gathering: Batch = emptyBatch()
  /** Full batches, and what was left of one, oldest first. */
  readonly #full: Batch[] = []
  readonly #underway = new Few<Batch>()
  /** All that waits is about jobs of the call under way: nothing leaves before that is answered. */
  #held = false
  #scheduled = false
  #idle: (() => void)[] = []
  readonly #closing = new AbortController()

  constructor(options: OutboxOptions) {
    this.#engine = options.engine
    const closing = this.#closing.signal
    this.#redelivery = new Redelivery({ ...options, closing, done: () => this.#tellIdle() })
  }

  /** Words that have not left yet. */
  get backlog(): number {
    let words = this.#gathering.words.length
    for (const batch of this.#full) words += batch.words.length
    return words
  }

  /** `lone`: nothing else was said about this job under this lease, nor will be before this is answered. */
  post(word: Word, sender: Sender, lone: boolean): void {
    const batch = this.#gathering
    batch.words.push(word)
    batch.senders.push(sender)
    batch.lone &&= lone
    if (batch.words.length === BATCH) {
      this.#full.push(batch)
      this.#gathering = emptyBatch()
    }
    this.#schedule()
  }

  /** Resolves when every word has been answered. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** A call that fails from now on is not repeated. */
  close(): void {
    this.#closing.abort()
  }

  get #isIdle(): boolean {
    return this.backlog === 0 && this.#underway.size === 0 && this.#redelivery.isIdle
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayLeave) return
    this.#scheduled = true
    // At the end of this turn of the loop: handlers that end together are settled together.
    soon(() => {
      this.#scheduled = false
      for (let batch = this.#next(); batch !== undefined; batch = this.#next()) void this.#send(batch)
    })
  }

  get #mayLeave(): boolean {
    const { backlog } = this
    if (this.#underway.size === 0) return backlog > 0
    if (this.#underway.size > 1 || this.#held) return false
    const { lone } = this.#full[0] ?? this.#gathering
    return backlog >= (lone ? ENDS_WORTH_A_SECOND_CALL : WORDS_WORTH_A_SECOND_CALL)
  }

  #next(): Batch | undefined {
    if (!this.#mayLeave) return undefined
    const batch = this.#full.shift() ?? this.#gathering
    if (batch === this.#gathering) this.#gathering = emptyBatch()
    for (const other of this.#underway) if (!other.lone && !batch.lone) return this.#without(other, batch)
    return batch
  }

  /** What of a batch may leave beside another; the rest goes on waiting, before all that came later. */
  #without({ words }: Batch, batch: Batch): Batch | undefined {
    const jobs = new Set<JobId>()
    for (const { id } of words) jobs.add(id)
    if (!batch.words.some(({ id }) => jobs.has(id))) return batch
    const leaving = emptyBatch()
    const staying = emptyBatch()
    leaving.lone = false
    staying.lone = false
    for (const [i, word] of batch.words.entries()) {
      const { words, senders } = jobs.has(word.id) ? staying : leaving
      words.push(word)
      senders.push(batch.senders[i] as Sender)
    }
    this.#full.unshift(staying)
    this.#held = leaving.words.length === 0
    return this.#held ? undefined : leaving
  }

  async #send(batch: Batch): Promise<void> {
    this.#underway.add(batch)
    if (!this.#redelivery.isIdle) this.#redelivery.takeOver(batch)
    const { words, senders } = batch
    const redelivery = this.#redelivery
    try {
      if (words.length > 0) redelivery.tell(words, senders, await this.#engine.settle(words))
    } catch (error) {
      await redelivery.deliver(words, senders, error)
    }
    this.#underway.delete(batch)
    this.#held = false
    this.#schedule()
    this.#tellIdle()
  }

  #tellIdle(): void {
    if (!this.#isIdle) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }
}

const emptyBatch = (): Batch => ({ words: [], senders: [], lone: true })
