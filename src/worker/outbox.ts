/**
 * Group commit. Words leave in the order they came, whatever has gathered since the last call in one call: a busy
 * worker pays one commit for many jobs, an idle one waits for nobody. A second call may be under way beside the first
 * only where the first holds nothing but jobs' only words, so that no word ever overtakes another about the same job.
 *
 * A call that fails is repeated whole until it succeeds or the outbox is closed; every word has a request id, so
 * repeating is harmless.
 */
import type { Answer, Engine, Word } from '../engine/engine.ts'
import { Complaint } from '../system/complaint.ts'
import { Few } from '../system/few.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import { soon } from '../system/turn.ts'

/** Who hears the answer. An object rather than a function: a closure per job would show in a drain. */
export interface Sender {
  answered(word: Word, answer: Answer): void
}

export interface OutboxOptions {
  readonly engine: Pick<Engine, 'settle'>
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
/** Fewer words than this wait for the call under way: two small commits cost more than one. */
const WORTH_A_SECOND_CALL = 100
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1_000

export class Outbox {
  readonly #options: OutboxOptions
  #gathering: Batch = emptyBatch()
  /** Full batches, oldest first. */
  readonly #full: Batch[] = []
  readonly #underway = new Few<Batch>()
  readonly #complaint = new Complaint()
  #scheduled = false
  #idle: (() => void)[] = []
  readonly #closing = new AbortController()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Words that have not left yet. */
  get backlog(): number {
    return this.#full.length * BATCH + this.#gathering.words.length
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

  /** From now on a call that fails is not repeated. */
  close(): void {
    this.#closing.abort()
  }

  get #isIdle(): boolean {
    return this.backlog === 0 && this.#underway.size === 0
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayLeave) return
    this.#scheduled = true
    // Not at once: handlers that end together are settled together.
    soon(() => {
      this.#scheduled = false
      while (this.#mayLeave) void this.#send(this.#next())
    })
  }

  get #mayLeave(): boolean {
    const { backlog } = this
    if (this.#underway.size === 0) return backlog > 0
    if (this.#underway.size > 1 || backlog < WORTH_A_SECOND_CALL) return false
    for (const batch of this.#underway) if (!batch.lone) return false
    return true
  }

  #next(): Batch {
    const full = this.#full.shift()
    if (full !== undefined) return full
    const batch = this.#gathering
    this.#gathering = emptyBatch()
    return batch
  }

  async #send(batch: Batch): Promise<void> {
    this.#underway.add(batch)
    const { words, senders } = batch
    const answers = await this.#settle(words)
    this.#underway.delete(batch)
    for (let i = 0; i < words.length; i += 1) {
      const answer = answers?.[i]
      if (answer === undefined) continue
      if (this.#isToBeSaidAgain(answer)) this.post(words[i] as Word, senders[i] as Sender, false)
      else (senders[i] as Sender).answered(words[i] as Word, answer)
    }
    this.#schedule()
    if (!this.#isIdle) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }

  /** So many spoke about the job that nobody heard this: no fault of its sender, who has a lease to say it under. */
  #isToBeSaidAgain(answer: Answer): boolean {
    return !answer.ok && answer.refusal.code === 'OVERLOADED' && !this.#closing.signal.aborted
  }

  async #settle(words: readonly Word[]): Promise<readonly Answer[] | undefined> {
    const { engine, timers, log } = this.#options
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const answers = await engine.settle(words)
        this.#complaint.over()
        return answers
      } catch (error) {
        this.#complaint.about(error, (reason) =>
          log.warn('outcomes could not be written', { words: words.length, reason }),
        )
      }
      if (this.#closing.signal.aborted) return undefined
      await timers.sleep(pauseMs, this.#closing.signal)
    }
  }
}

const emptyBatch = (): Batch => ({ words: [], senders: [], lone: true })
