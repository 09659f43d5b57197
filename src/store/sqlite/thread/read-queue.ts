/**
 * The reading thread's one loop: questions in the order they came, each answered by itself and of one moment. Modes: idle;
 * serving; held off (another process is recovering or closing the file just now: the first in line waits for a timer);
 * closing (nobody comes any more; it ends with the last answer).
 */
import type { Time } from '../../../core/job.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Answer, Answered, Asked, Call, Op } from '../protocol.ts'
import { failed, tooLong } from './answers.ts'
import { compacted } from './compacted.ts'
import { correlated } from './correlated.ts'
import { backlog, feed, tally } from './feed.ts'
import { find } from './find.ts'
import { keys, lobby, occupants } from './hall/views.ts'
import { annotations, load, log } from './read.ts'
import type { Reading } from './reading.ts'
import { isBusy } from './result-codes.ts'
import { readSettings } from './settings.ts'
import type { StoreClock } from './store-clock.ts'
import { typed } from './typed.ts'

const READS: { readonly [O in Op]?: (reading: Reading, asked: Asked<O>, now: Time) => Answered<O> } = {
  load: (reading, asked) => load(reading, asked),
  find,
  log,
  annotations,
  typed,
  correlated,
  feed,
  tally,
  backlog,
  compacted,
  keys,
  lobby,
  occupants,
  settings: readSettings,
}

const RETRY_MS = 2

export interface ReadQueueOptions {
  readonly path: string
  readonly busyMs: number
  readonly clock: StoreClock
  readonly timers: Timers
  readonly monotonicMs: () => number
  /** Takes calls that have come since, before each answer. */
  readonly gather: () => readonly Call[]
  readonly report: (answer: Answer) => void
  /** Closes the file: no more questions will come, or the process exits. */
  readonly close: () => void
}

export class ReadQueue {
  readonly #reading: Reading
  readonly #options: ReadQueueOptions
  #waiting: { readonly call: Call; readonly sinceMs: number }[] = []
  #heldOff: Disposable | undefined

  constructor(reading: Reading, options: ReadQueueOptions) {
    this.#reading = reading
    this.#options = options
  }

  readonly take = (calls: readonly Call[]): void => {
    this.#enlist(calls)
    if (this.#heldOff === undefined) this.#serve()
  }

  #enlist(calls: readonly Call[]): void {
    const sinceMs = this.#options.monotonicMs()
    for (const call of calls) this.#waiting.push({ call, sinceMs })
    if (!calls.some(({ op }) => op === 'leave')) return
    this.#waiting = []
    this.#options.close()
  }

  #serve(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const answer = first.call.op === 'close' ? this.#close(first.call) : this.#answer(first.call, first.sinceMs)
      if (answer === undefined) {
        this.#heldOff = this.#options.timers.after(RETRY_MS, () => {
          this.#heldOff = undefined
          this.#serve()
        })
        return
      }
      this.#waiting.shift()
      this.#options.report(answer)
      this.#enlist(this.#options.gather())
    }
  }

  #close({ n }: Call): Answer {
    this.#options.close()
    return { n, now: this.#options.clock.now(), ok: true, answered: null }
  }

  /** Undefined: the file is locked, and the call is to be tried again. */
  #answer(call: Call, sinceMs: number): Answer | undefined {
    const { clock, busyMs, monotonicMs, path } = this.#options
    const now = clock.now()
    try {
      const read = READS[call.op] as ((reading: Reading, asked: unknown, now: Time) => Answered<Op>) | undefined
      if (read === undefined) throw new Error(`pawl: the store's reading thread knows no ${call.op}`)
      const answered = this.#reading.ofOneMoment(() => read(this.#reading, call.asked, now))
      return { n: call.n, now, ok: true, answered }
    } catch (error) {
      if (!isBusy(error)) return failed(call, now, error, path)
      return monotonicMs() - sinceMs > busyMs ? tooLong(call, now, busyMs) : undefined
    }
  }
}
