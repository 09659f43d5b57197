/**
 * The main thread's end of the way to one of the store's threads. Calls made in one turn travel in one message; answers
 * come back the same way.
 *
 * Modes: open; closing (no new calls; those under way are answered, and the thread then ends by itself); closed; broken
 * (the thread died: every call under way and every later one is rejected with its reason). The thread keeps the process
 * alive only while an answer is due. Nobody ever stops it from outside: it might be in the middle of a statement. One that
 * does not end in time is let go, and ends when it can.
 */
import type { Time } from '../../core/job.ts'
import type { Timers } from '../../system/timers.ts'
import { leaveOrderly } from './orderly-exit.ts'
import type { Answered, Asked, Call, Op, Report } from './protocol.ts'
import type { Thread } from './thread.ts'

/** A store that cannot be opened, or could not do what it was asked. */
export class SqliteStoreError extends Error {
  override readonly name = 'SqliteStoreError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export const closed = () => new SqliteStoreError('STORE_CLOSED', 'pawl: the store is closed')

const unanswered = () =>
  new SqliteStoreError(
    'STORE_CLOSED',
    'pawl: the store was closed before it answered. Whether this was done is not known: ask again once it is open.',
  )

/** A thread that has nothing to do closes the file and ends within milliseconds; its last checkpoint may take longer. */
export const ENDS_WITHIN_MS = 5_000

export interface Reply<O extends Op> {
  readonly now: Time
  readonly answered: Answered<O>
}

interface Pending {
  readonly resolve: (reply: Reply<Op>) => void
  readonly reject: (error: Error) => void
}

export class Channel {
  readonly #worker: Thread['worker']
  readonly #timers: Timers
  readonly #pending = new Map<number, Pending>()
  readonly #exited: Promise<void>
  readonly #leave: Disposable
  #outbox: Call[] = []
  #calls = 0
  #failure: Error | undefined
  #closing: Promise<void> | undefined
  #onReport: (report: Report) => void = () => {}

  private constructor(thread: Thread, timers: Timers) {
    const { worker } = thread
    this.#worker = worker
    this.#timers = timers
    this.#leave = leaveOrderly(thread)
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()))
    void this.#exited.then(() => this.#fail(unanswered()))
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    worker.on('message', (report: Report) => this.#hear(report))
  }

  /** `onReport` hears of every report before its answers are given: kinds come with the jobs that have them. */
  static async open(thread: Thread, timers: Timers, onReport: (report: Report) => void): Promise<Channel> {
    const { worker } = thread
    const channel = new Channel(thread, timers)
    const opened = await new Promise<Report['opened']>((resolve, reject) => {
      channel.#onReport = (report) => resolve(report.opened)
      worker.once('error', reject)
      worker.once('exit', () =>
        reject(new SqliteStoreError('STORE_FAILED', 'pawl: the store’s thread ended before it was open')),
      )
    })
    if (opened !== true) {
      await channel.#ended()
      throw new SqliteStoreError(opened?.code ?? 'STORE_FAILED', opened?.message ?? 'pawl: the store did not open')
    }
    channel.#onReport = onReport
    worker.unref()
    return channel
  }

  call<O extends Op>(op: O, asked: Asked<O>): Promise<Reply<O>> {
    if (this.#closing !== undefined) return Promise.reject(closed())
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return this.#send(op, asked)
  }

  /** Takes on no more calls. The thread is told to close once `after` has resolved. */
  close(after: Promise<void> = Promise.resolve()): Promise<void> {
    this.#closing ??= this.#close(after)
    return this.#closing
  }

  async #close(after: Promise<void>): Promise<void> {
    await after
    // A thread that died on the way has closed the file as well.
    if (this.#failure === undefined) this.#send('close', null).catch(() => {})
    await this.#ended()
  }

  /** Resolves when the thread has ended, or has had its time. */
  async #ended(): Promise<void> {
    this.#worker.ref()
    const late = Promise.withResolvers<void>()
    using _timer = this.#timers.after(ENDS_WITHIN_MS, late.resolve)
    await Promise.race([this.#exited, late.promise])
    this.#leave[Symbol.dispose]()
    this.#fail(unanswered())
    this.#worker.unref()
    // No call is open any more. A thread that was let go may still fail: its error must not become the process's.
    this.#worker.removeAllListeners('message')
  }

  #send<O extends Op>(op: O, asked: Asked<O>): Promise<Reply<O>> {
    const n = ++this.#calls
    if (this.#outbox.length === 0) queueMicrotask(() => this.#flush())
    this.#outbox.push({ n, op, asked })
    if (this.#pending.size === 0) this.#worker.ref()
    const reply = new Promise<Reply<Op>>((resolve, reject) => this.#pending.set(n, { resolve, reject }))
    return reply as Promise<Reply<O>>
  }

  #flush(): void {
    const calls = this.#outbox
    this.#outbox = []
    this.#worker.postMessage(calls)
  }

  #hear(report: Report): void {
    this.#onReport(report)
    for (const answer of report.answers) {
      const pending = this.#pending.get(answer.n)
      if (pending === undefined) continue
      this.#pending.delete(answer.n)
      if (answer.ok) pending.resolve({ now: answer.now, answered: answer.answered })
      else pending.reject(new SqliteStoreError(answer.code, answer.message))
    }
    if (this.#pending.size === 0 && this.#closing === undefined) this.#worker.unref()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(error)
    if (this.#closing === undefined) this.#worker.unref()
  }
}
