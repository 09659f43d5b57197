/**
 * One claimed job, from its claim to the last word about it.
 *
 *   held     prefetched; user code has not begun. Leaves by `start` or `giveBack`.
 *   running  the handler is under way. Leaves when it returns or throws, or when it is given up on.
 *   ending   the handler has let go, the outcome is on its way to the store. Leaves when that is answered.
 *   over     nothing more will be said, and whatever the handler still does concerns nobody.
 *
 * A lost lease leads from anywhere to `over`. The word that ends the lease is said once.
 */
import { bodyRef } from '../core/body.ts'
import type { CancelRequest } from '../core/job.ts'
import { LENGTHS } from '../core/limits.ts'
import { impliedRequestId } from '../core/receipt.ts'
import type { Refusal } from '../core/refusal.ts'
import { LeaseConflictError, PermanentError, ValidationError } from '../core/thrown.ts'
import type { Answer, Assignment, Engine, Word } from '../engine/engine.ts'
import type { Body, Transaction } from '../store/store.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import type { JobDefinition } from './definition.ts'
import { faultOf, sanitised } from './fault.ts'
import { HandlerContext } from './handler-context.ts'
import { AttemptTimeoutError, CancelRequestedError, ShutdownError } from './interrupts.ts'
import type { LeasePlace } from './lease-table.ts'
import type { Outbox, Sender } from './outbox.ts'
import { type Checked, checkedInput, checkedOutput } from './schema.ts'
import { Tidings } from './tidings.ts'

/** What the executions of a worker share. */
export interface Desk {
  readonly engine: Engine
  readonly outbox: Outbox
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly actor: string
  /** Where the store has transactions that a handler can take part in. */
  readonly transaction: (<T>(work: (tx: Transaction) => Promise<T>) => Promise<T>) | undefined
  /** The handler runs and has not answered at once. */
  began(execution: Execution): void
  /** The handler has let go: there is room for another. */
  vacated(execution: Execution): void
  /** Nothing more will be said: the lease can be forgotten. */
  settled(execution: Execution): void
}

type Said = Word['command']
type Mode = 'held' | 'running' | 'ending' | 'over'

/** Handlers that take longer than this are seen running before they end. */
const START_AFTER_MS = 100
/** How long a handler may take to notice that its time is up. */
const LET_GO_WITHIN_MS = 1_000

export class Execution implements Sender {
  readonly desk: Desk
  readonly assignment: Assignment
  readonly definition: JobDefinition
  readonly place: LeasePlace
  readonly heldSinceMs: number
  mode: Mode = 'held'
  startedMs = 0
  /** How long the handler took. */
  tookMs = 0
  #startedAt = 0
  /** `started` has been said, or need not be. */
  #startSaid = false
  /** The word that ends the lease, once it has been chosen. */
  #last: Word | undefined
  /** Chosen by the handler itself: a wait, a snooze. Said as soon as the handler has let go. */
  #chosen: Word | undefined
  #interrupt: Error | undefined
  #abort: AbortController | undefined
  #tidings: Tidings | undefined
  #words = 0
  /** The answer to what was said last: whoever needs the words to have arrived waits for it. */
  #heard: Promise<unknown> | undefined
  #giveUpAtMs = Number.POSITIVE_INFINITY

  constructor(desk: Desk, assignment: Assignment, definition: JobDefinition, place: LeasePlace, heldSinceMs: number) {
    this.desk = desk
    this.assignment = assignment
    this.definition = definition
    this.place = place
    this.heldSinceMs = heldSinceMs
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#interrupt !== undefined) this.#abort.abort(this.#interrupt)
    }
    return this.#abort.signal
  }

  get tidings(): Tidings {
    this.#tidings ??= new Tidings()
    return this.#tidings
  }

  get interrupted(): Error | undefined {
    return this.#interrupt
  }

  start(): void {
    this.mode = 'running'
    this.startedMs = this.desk.clock.monotonicMs()
    this.#startedAt = this.desk.engine.now()
    if (this.assignment.inputLater || this.assignment.job.phase === 'compensate') {
      this.desk.began(this)
      void this.#startLater()
    } else this.#enter(this.assignment.input)
  }

  /** Prefetched in vain, or the worker goes away. */
  giveBack(reason: 'shutdown' | 'handed_back', runAt?: number): void {
    if (this.mode !== 'held') return
    this.#end({ ...this.#asked('release'), type: 'release', reason, runAt })
  }

  /** Tells the handler why it should stop. A lost lease is the last thing it is told. */
  interrupt(reason: Error): void {
    if (this.mode === 'over' || this.#interrupt !== undefined) return
    this.#interrupt = reason
    this.#abort?.abort(reason)
  }

  /** Whatever happens now, this process does not own the job any more. */
  lose(message: string): void {
    if (this.mode === 'over') return
    const { id } = this.assignment.job
    this.desk.log.warn('lease lost', { job_id: id, attempt: this.assignment.job.attempt, reason: message })
    const wasRunning = this.mode === 'running'
    this.#interrupt = undefined
    this.interrupt(new LeaseConflictError(message))
    this.mode = 'over'
    if (wasRunning) this.desk.vacated(this)
    this.desk.settled(this)
  }

  cancelRequested(cancel: CancelRequest): void {
    this.interrupt(new CancelRequestedError(cancel.reason ?? `Cancel requested by ${cancel.by}.`))
  }

  /** The drain time is over: the job goes back, whatever the handler is doing. */
  abandon(): void {
    if (this.mode === 'running') this.#release()
    else this.giveBack('shutdown')
  }

  /** What is due by now; answers when to look again. */
  pulse(nowMs: number): number {
    if (this.mode !== 'running') return Number.POSITIVE_INFINITY
    const { attemptMs } = this.assignment.job.spec.kind.policy
    const endsMs = this.startedMs + attemptMs
    if (nowMs >= endsMs && this.#giveUpAtMs === Number.POSITIVE_INFINITY) {
      this.interrupt(new AttemptTimeoutError(`The attempt ran longer than ${attemptMs} ms.`))
      this.#giveUpAtMs = nowMs + LET_GO_WITHIN_MS
    }
    if (nowMs >= this.#giveUpAtMs) {
      this.#threw(this.#interrupt)
      return Number.POSITIVE_INFINITY
    }
    if (!this.#startSaid && nowMs >= this.startedMs + START_AFTER_MS) this.#sayStart()
    if (this.#tidings?.isDue(nowMs) === true) this.#report(this.#tidings, nowMs)
    const startMs = this.#startSaid ? Number.POSITIVE_INFINITY : this.startedMs + START_AFTER_MS
    return Math.min(
      startMs,
      this.#giveUpAtMs,
      Math.max(endsMs, nowMs),
      this.#tidings?.dueMs ?? Number.POSITIVE_INFINITY,
    )
  }

  /** For the handler's context: throws what has interrupted it, if anything that makes its words worthless. */
  guard(): void {
    if (this.#interrupt instanceof LeaseConflictError) throw this.#interrupt
    if (this.mode !== 'running') throw new LeaseConflictError('This attempt is over: its handler has been let go.')
  }

  /** A word while the handler runs; resolves when the store has it, throws if it is refused. */
  async say(type: Said['type'], words: object, bodies: readonly Body[] = []): Promise<void> {
    this.guard()
    this.#sayStart()
    this.#words += 1
    const requestId = `${this.assignment.fence}/${type}/${this.#words}`
    const command = { ...this.#asked(type), ...words, type, requestId } as Said
    const answer = await this.#post({ id: this.assignment.job.id, command, bodies })
    if (answer.ok) return
    const { code, message } = answer.refusal
    if (isLost(answer.refusal)) {
      this.lose(message)
      throw this.#interrupt
    }
    throw new PermanentError(message, { code, stage: 'commit' })
  }

  /** How this run ends, decided by its handler; the first decision stands. */
  choose(type: 'wait' | 'release' | 'cancel' | 'deadLetter', words: object): void {
    this.guard()
    if (type === 'wait') this.#sayStart()
    const command = { ...this.#asked(type), ...words, type } as Said
    this.#chosen ??= { id: this.assignment.job.id, command }
  }

  get chosen(): boolean {
    return this.#chosen !== undefined
  }

  /** Effects and completion, both or neither. */
  async complete<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { engine, transaction } = this.desk
    if (transaction === undefined) throw new PermanentError('ctx.tx needs a store with transactions: Postgres.')
    const value = await transaction(async (tx) => {
      const value = await work(tx)
      const output = await this.#checkedOutput(value)
      if (!output.ok) throw output.error
      // Words of ours that are still under way would wait for the row this transaction is about to lock.
      await this.#heard
      this.guard()
      const [answer] = await engine.settle([{ ...this.#completion(output.value), tx }])
      if (answer?.ok !== true) throw refused(answer?.refusal)
      return value
    })
    this.mode = 'over'
    this.desk.vacated(this)
    this.desk.settled(this)
    return value
  }

  answered(word: Word, answer: Answer): void {
    if (answer.ok) {
      if (answer.cancel !== undefined && this.mode === 'running') this.cancelRequested(answer.cancel)
    } else if (isLost(answer.refusal)) this.lose(answer.refusal.message)
    if (word === this.#last && this.mode === 'ending') this.#lastAnswered(answer)
  }

  async #startLater(): Promise<void> {
    try {
      const { job, input, inputLater } = this.assignment
      const text = inputLater ? await this.#loadInput() : input
      if (this.mode !== 'running') return
      if (job.phase === 'compensate') await this.#compensate(text)
      else this.#enter(text)
    } catch (error) {
      this.#threw(error)
    }
  }

  async #loadInput(): Promise<string | undefined> {
    const { items } = await this.desk.engine.load([{ id: this.assignment.job.id, bodies: ['input'] }])
    return items[0]?.bodies['input']
  }

  #enter(text: string | undefined): void {
    const checked = checkedInput(this.definition, text)
    if (checked instanceof Promise) {
      this.desk.began(this)
      checked.then(
        (late) => this.#run(late),
        (error: unknown) => this.#threw(error),
      )
    } else this.#run(checked)
  }

  #run(input: Checked<unknown>): void {
    if (this.mode !== 'running') return
    if (!input.ok) return this.#invalid(input.error)
    let answer: unknown
    try {
      answer = this.definition.run(input.value, new HandlerContext(this))
    } catch (error) {
      return this.#threw(error)
    }
    if (!isThenable(answer)) return this.#returned(answer)
    this.desk.began(this)
    answer.then(
      (value) => this.#returned(value),
      (error: unknown) => this.#threw(error),
    )
  }

  async #compensate(text: string | undefined): Promise<void> {
    const input = await checkedInput(this.definition, text)
    if (!input.ok) throw input.error
    const context = new HandlerContext(this)
    await context.undo(input.value)
    this.#end({ ...this.#asked('compensated'), type: 'compensated', executionMs: this.#executionMs() })
  }

  #returned(value: unknown): void {
    if (this.mode !== 'running') return
    if (this.#chosen !== undefined) return this.#endAsChosen(this.#chosen)
    if (value === undefined && this.definition.output === undefined) return this.#endWith(this.#completion(undefined))
    const checked = this.#checkedOutput(value)
    if (!(checked instanceof Promise)) return this.#completed(checked)
    checked.then(
      (late) => this.#completed(late),
      (error: unknown) => this.#threw(error),
    )
  }

  #checkedOutput(value: unknown): Checked<string | undefined> | Promise<Checked<string | undefined>> {
    return checkedOutput(this.definition, value)
  }

  #completed(output: Checked<string | undefined>): void {
    if (this.mode !== 'running') return
    if (output.ok) this.#endWith(this.#completion(output.value))
    else this.#threw(output.error)
  }

  #completion(text: string | undefined): Word {
    const { job, fence } = this.assignment
    const stats = this.#tidings?.takeCounters()
    return {
      id: job.id,
      command: {
        type: 'complete',
        actor: this.desk.actor,
        requestId: impliedRequestId(fence, 'complete'),
        fence,
        result: text === undefined ? undefined : bodyRef('output', text),
        stats,
        executionMs: this.#executionMs(),
        startedAt: this.#startedAt,
      },
      bodies: text === undefined ? undefined : [{ name: 'output', text }],
    }
  }

  #threw(error: unknown): void {
    if (this.mode !== 'running') return
    if (this.#chosen !== undefined) return this.#endAsChosen(this.#chosen)
    if (this.#interrupt instanceof ShutdownError) return this.#release()
    // A handler that stops because its time is up says so in words of its own, or in fetch's.
    this.#fail(this.#interrupt instanceof AttemptTimeoutError ? this.#interrupt : error)
  }

  #fail(error: unknown): void {
    const { job } = this.assignment
    const { fault, body } = faultOf(error, job.attempt)
    const startedAt = this.#startedAt
    this.#end({ ...this.#asked('fail'), type: 'fail', fault, executionMs: this.#executionMs(), startedAt }, [body])
  }

  #release(): void {
    const executionMs = this.#executionMs()
    this.#end({ ...this.#asked('release'), type: 'release', reason: 'shutdown', executionMs })
  }

  /** Before user code: no start is faked. What cannot even be read is nobody's validation. */
  #invalid(error: Error): void {
    const reason = error instanceof ValidationError ? 'validation_failed' : 'parse_error'
    const { policy } = this.assignment.job.spec.kind
    if (reason === 'validation_failed' && policy.onInvalid === 'failed') return this.#fail(error)
    const message = sanitised(error.message, LENGTHS.message)
    this.#end({ ...this.#asked('deadLetter'), type: 'deadLetter', reason, stage: 'input', message })
  }

  #endAsChosen(word: Word): void {
    const { type } = word.command
    const timed = type === 'wait' || type === 'release'
    this.#endWith(timed ? { ...word, command: { ...word.command, executionMs: this.#executionMs() } as Said } : word)
  }

  #end(command: Said, bodies?: readonly Body[]): void {
    this.#endWith({ id: this.assignment.job.id, command, bodies })
  }

  #endWith(word: Word): void {
    const wasRunning = this.mode === 'running'
    if (wasRunning && this.#tidings !== undefined) this.#report(this.#tidings, Number.POSITIVE_INFINITY)
    this.mode = 'ending'
    this.#last = word
    this.desk.outbox.post(word, this, !this.#startSaid)
    if (wasRunning) this.desk.vacated(this)
  }

  #lastAnswered(answer: Answer): void {
    if (!answer.ok) {
      const { code, message } = answer.refusal
      const { id } = this.assignment.job
      this.desk.log.warn('outcome refused', { job_id: id, command: answer.refusal.command, code, reason: message })
      // The store will not have it this way, but it must end somehow: an outcome that can never be accepted is a fault.
      if (this.#last?.command.type !== 'fail' && this.#last?.command.type !== 'release') {
        return this.#fail(new PermanentError(message, { code, stage: 'commit' }))
      }
    }
    this.mode = 'over'
    this.desk.settled(this)
  }

  #sayStart(): void {
    if (this.#startSaid) return
    this.#startSaid = true
    void this.#post({ id: this.assignment.job.id, command: { ...this.#asked('start'), type: 'start' } })
  }

  #report(tidings: Tidings, nowMs: number): void {
    const words = tidings.take(nowMs)
    if (words === undefined) return
    this.#sayStart()
    this.#words += 1
    const requestId = `${this.assignment.fence}/progress/${this.#words}`
    void this.#post({
      id: this.assignment.job.id,
      command: { ...this.#asked('progress'), ...words, type: 'progress', requestId },
    })
  }

  #post(word: Word): Promise<Answer> {
    const heard = new Promise<Answer>((resolve) => {
      const sender: Sender = {
        answered: (_, answer) => {
          this.answered(word, answer)
          resolve(answer)
        },
      }
      this.desk.outbox.post(word, sender, false)
    })
    this.#heard = heard
    return heard
  }

  #asked(type: Said['type']) {
    const { fence } = this.assignment
    return { actor: this.desk.actor, requestId: impliedRequestId(fence, type), fence }
  }

  #executionMs(): number {
    this.tookMs = this.desk.clock.monotonicMs() - this.startedMs
    return Math.round(this.tookMs)
  }
}

const LOST: ReadonlySet<Refusal['code']> = new Set(['STALE_FENCE', 'LEASE_EXPIRED', 'ENDED', 'NOT_FOUND'])

const isLost = ({ code }: Refusal): boolean => LOST.has(code)

function refused(refusal: Refusal | undefined): Error {
  if (refusal === undefined) return new Error('The store gave no answer.')
  if (isLost(refusal)) return new LeaseConflictError(refusal.message)
  return new PermanentError(refusal.message, { code: refusal.code, stage: 'commit' })
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
