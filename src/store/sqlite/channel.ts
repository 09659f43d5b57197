/**
 * The main thread's end. Calls made in one turn travel in one message; answers come back the same way.
 *
 * Modes: open; closing (no new calls, those under way are answered); closed; broken (the thread died: every call under
 * way and every later one is rejected with its reason). The thread keeps the process alive only while an answer is due.
 */
import { Worker } from 'node:worker_threads'
import type { Time } from '../../core/job.ts'
import { realTimers } from '../../system/timers.ts'
import type { Answered, Asked, Call, Op, Report, ThreadOptions } from './protocol.ts'

/** A store that cannot be opened, or could not do what it was asked. */
export class SqliteStoreError extends Error {
  override readonly name = 'SqliteStoreError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const closed = () => new SqliteStoreError('STORE_CLOSED', 'pawl: the store is closed')

const ENDS_WITHIN_MS = 5_000

export interface Reply<O extends Op> {
  readonly now: Time
  readonly answered: Answered<O>
}

interface Pending {
  readonly resolve: (reply: Reply<Op>) => void
  readonly reject: (error: Error) => void
}

export class Channel {
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  readonly #exited: Promise<void>
  readonly #whenIdle: (() => void)[] = []
  #outbox: Call[] = []
  #calls = 0
  #failure: Error | undefined
  #closing: Promise<void> | undefined
  #onReport: (report: Report) => void = () => {}

  private constructor(worker: Worker) {
    this.#worker = worker
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#fail(closed())
        resolve()
      })
    })
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    worker.on('message', (report: Report) => this.#hear(report))
  }

  /** `onReport` hears of every report before its answers are given: kinds come with the jobs that have them. */
  static async open(options: ThreadOptions, onReport: (report: Report) => void): Promise<Channel> {
    // From sources the thread is TypeScript, from a build it is not.
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
    const worker = new Worker(new URL(`./thread${extension}`, import.meta.url), {
      workerData: options,
      name: 'pawl sqlite',
      // Not those of the process: many of them a thread may not have.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    const channel = new Channel(worker)
    const opened = await new Promise<Report['opened']>((resolve, reject) => {
      channel.#onReport = (report) => resolve(report.opened)
      worker.once('error', reject)
      worker.once('exit', () =>
        reject(new SqliteStoreError('STORE_FAILED', 'pawl: the store’s thread ended before it was open')),
      )
    })
    if (opened !== true) {
      await channel.#stop()
      throw new SqliteStoreError(opened?.code ?? 'STORE_FAILED', opened?.message ?? 'pawl: the store did not open')
    }
    channel.#onReport = onReport
    worker.unref()
    return channel
  }

  call<O extends Op>(op: O, asked: Asked<O>): Promise<Reply<O>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#closing !== undefined) return Promise.reject(closed())
    return this.#send(op, asked)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#pending.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
    // A thread that died on the way has closed the file as well.
    if (this.#failure === undefined) await this.#send('close', null).catch(() => {})
    await this.#stop()
  }

  /** It ends by itself once it has closed the file, and is stopped only if it does not: not on its way out. */
  async #stop(): Promise<void> {
    this.#worker.ref()
    using _late = realTimers.after(ENDS_WITHIN_MS, () => void this.#worker.terminate())
    await this.#exited
    this.#worker.removeAllListeners()
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
    if (this.#pending.size === 0) this.#becomeIdle()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(error)
    this.#becomeIdle()
  }

  #becomeIdle(): void {
    this.#worker.unref()
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}
