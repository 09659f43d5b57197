/**
 * What becomes of words whose call failed. While the store is away they are repeated, all of them, until it is back. Where
 * it answers and still will not have them, one of them must be to blame: they are halved until it stands alone, and
 * those that were in its company are written. What stands alone is set aside and tried by itself, so that other jobs
 * end meanwhile; what cannot be written for half a minute is refused in the store's name, which is bounded, and leaves
 * it to the job to fail in words that can be written.
 *
 * Away, or to blame: a heartbeat under the same lease tells. It is a write, it harms nobody, and the owner of
 * the job may send one.
 *
 * Invariant: words about one job are answered in the order they were posted. Those of a job that is set aside wait there
 * for each other, also those that are posted later.
 */
import { assert } from '../core/assert.ts'
import type { JobId } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import { refuse } from '../core/refuse.ts'
import type { Answer, Engine, Word } from '../engine/engine.ts'
import { Complaint } from '../system/complaint.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import type { Sender } from './outbox.ts'

export interface RedeliveryOptions {
  readonly engine: Pick<Engine, 'settle' | 'heartbeat'>
  readonly timers: Timers
  readonly log: Log
  /** Once aborted, what fails is not repeated. */
  readonly closing: AbortSignal
  /** A job that was set aside has nothing more to say. */
  readonly done: () => void
}

interface Post {
  readonly word: Word
  readonly sender: Sender
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1_000
/** A hiccup is not yet a reason to look for who is to blame. */
const FAILURES_BEFORE_HALVING = 2
/** How long a word that cannot be written is tried: as long as a migration may lock a table. Then it is refused. */
const UNWRITABLE_AFTER_MS = 30_000

export class Redelivery {
  readonly #options: RedeliveryOptions
  readonly #aside = new Map<JobId, Post[]>()
  readonly #complaint = new Complaint()
  #probes = 0

  constructor(options: RedeliveryOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#aside.size === 0
  }

  /** Takes out of a batch what has to wait behind other words about the same job. */
  takeOver(batch: { words: Word[]; senders: Sender[] }): void {
    const { words, senders } = batch
    batch.words = []
    batch.senders = []
    for (const [i, word] of words.entries()) {
      const sender = senders[i] as Sender
      const waiting = this.#aside.get(word.id)
      if (waiting !== undefined) waiting.push({ word, sender })
      else {
        batch.words.push(word)
        batch.senders.push(sender)
      }
    }
  }

  /** Tells every sender its answer, but for words that are to be said again. */
  tell(words: readonly Word[], senders: readonly Sender[], answers: readonly Answer[]): void {
    assert(answers.length === words.length, 'every word is answered')
    this.#complaint.over()
    for (let i = 0; i < words.length; i += 1) {
      const word = words[i] as Word
      const sender = senders[i] as Sender
      const answer = answers[i] as Answer
      if (!answer.ok && isPassing(word, answer)) this.#setAside([{ word, sender }])
      else this.#answer(word, sender, answer)
    }
  }

  /** Whatever its hearer makes of an answer, it was given: nobody else's may be taken for unanswered because of it. */
  #answer(word: Word, sender: Sender, answer: Answer): void {
    try {
      sender.answered(word, answer)
    } catch (error) {
      this.#options.log.error('an answer was not taken well', { job_id: word.id, reason: reasonOf(error) })
    }
  }

  /** Resolves when each has been answered or set aside. */
  async deliver(words: readonly Word[], senders: readonly Sender[], error: unknown): Promise<void> {
    this.#warn(words.length, error)
    const posts = words.map((word, i) => ({ word, sender: senders[i] as Sender }))
    await this.#deliver(posts, FAILURES_BEFORE_HALVING - 1)
  }

  /** `patience`: how often it may fail, while the store is there, before it is halved. */
  async #deliver(posts: readonly Post[], patience: number): Promise<void> {
    let left = patience
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = longer(pauseMs)) {
      const away = (await this.#probe(posts)) === 'away'
      if (this.#options.closing.aborted) return
      if (!away && left === 0) break
      if (!away) left -= 1
      await this.#options.timers.sleep(pauseMs, this.#options.closing)
      if (await this.#try(posts)) return
    }
    const [first, second] = halves(posts)
    if (second.length === 0) return this.#setAside(first)
    for (const half of [first, second]) if (!(await this.#try(half))) await this.#deliver(half, 0)
  }

  /** False where the call failed. */
  async #try(posts: readonly Post[]): Promise<boolean> {
    const words = posts.map(({ word }) => word)
    try {
      this.tell(
        words,
        posts.map(({ sender }) => sender),
        await this.#options.engine.settle(words),
      )
      return true
    } catch (error) {
      this.#warn(words.length, error)
      return false
    }
  }

  #setAside(posts: readonly Post[]): void {
    const id = posts[0]?.word.id
    assert(id !== undefined && posts.every(({ word }) => word.id === id), 'what is set aside is about one job')
    const waiting = this.#aside.get(id)
    if (waiting !== undefined) waiting.push(...posts)
    else {
      this.#aside.set(id, [...posts])
      void this.#persist(id)
    }
  }

  async #persist(id: JobId): Promise<void> {
    const { closing } = this.#options
    const posts = this.#aside.get(id) ?? []
    for (let post = posts[0]; post !== undefined && !closing.aborted; post = posts[0]) {
      const answer = await this.#answerFor(post)
      if (answer === undefined) break
      posts.shift()
      this.#answer(post.word, post.sender, answer)
    }
    this.#aside.delete(id)
    this.#options.done()
  }

  /** The answer to a word that was set aside; undefined where the outbox was closed before there was one. */
  async #answerFor({ word }: Post): Promise<Answer | undefined> {
    const { engine, timers, log, closing } = this.#options
    let refusedMs = 0
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = longer(pauseMs)) {
      let reason: string
      try {
        const [answer] = await engine.settle([word])
        assert(answer !== undefined, 'every word is answered')
        if (answer.ok || !isPassing(word, answer)) return answer
        reason = answer.refusal.message
        refusedMs = 0
      } catch (error) {
        reason = reasonOf(error)
        refusedMs = (await this.#probe([{ word }])) === 'away' ? 0 : refusedMs + pauseMs
      }
      if (closing.aborted) return undefined
      if (refusedMs > UNWRITABLE_AFTER_MS) {
        const { type } = word.command
        log.error('a word can never be written', { job_id: word.id, command: type, reason })
        const message = `The store will not have this ${type}: ${reason}`
        return { ok: false, refusal: refuse('INVALID', { command: type, jobId: word.id, message }) }
      }
      await timers.sleep(pauseMs, closing)
    }
  }

  async #probe(posts: readonly Pick<Post, 'word'>[]): Promise<'there' | 'away'> {
    const word = posts[0]?.word
    assert(word !== undefined && 'fence' in word.command, 'a worker speaks about what it owns')
    this.#probes += 1
    const fence = word.command.fence ?? ''
    const beat = { id: word.id, fence, requestId: `${fence}/probe/${this.#probes}` }
    return this.#options.engine.heartbeat([beat]).then(
      // Refused is answered too.
      () => 'there',
      () => 'away',
    )
  }

  #warn(words: number, error: unknown): void {
    const { log } = this.#options
    this.#complaint.about(error, (reason) => log.warn('outcomes could not be written', { words, reason }))
  }
}

const longer = (pauseMs: number): number => Math.min(pauseMs * 2, LONGEST_PAUSE_MS)

/** Refused for now, and for nothing that is wrong with the word: the same word may be accepted next time. */
function isPassing({ command }: Word, { refusal }: Extract<Answer, { ok: false }>): boolean {
  return refusal.code === 'OVERLOADED' || (refusal.code === 'REV_CONFLICT' && command.expectedRev === undefined)
}

/** Two halves, the words about a job in one of them; the second is empty where all are about the same job. */
function halves(posts: readonly Post[]): readonly [readonly Post[], readonly Post[]] {
  const jobs = [...new Set(posts.map(({ word }) => word.id))]
  const first = new Set(jobs.slice(0, Math.ceil(jobs.length / 2)))
  return [posts.filter(({ word }) => first.has(word.id)), posts.filter(({ word }) => !first.has(word.id))]
}
