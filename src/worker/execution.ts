/**
 * One claimed job, from its claim to the last word about it.
 *
 *   held     prefetched; user code has not begun. Leaves by `start` or `giveBack`.
 *   running  the handler is under way. Leaves when it returns or throws, or when it is given up on.
 *   ending   the outcome has been chosen and is on its way to the store. Leaves when that is answered.
 *   over     nothing more will be said, and whatever the handler still does concerns nobody.
 *
 * A lost lease leads from anywhere to `over`. The word that ends the lease is chosen once.
 */

import { isNativeError } from 'node:util/types'
import { attemptMsOf } from '../core/admission.ts'
import { isReturnable } from '../core/dialects/bond.ts'
import type { CancelRequest, Stage } from '../core/job.ts'
import { LeaseConflictError } from '../core/thrown.ts'
import type { Answer, Assignment, Word } from '../engine/engine.ts'
import type { Body, Transaction } from '../store/store.ts'
import type { Desk } from './desk.ts'
import type { Handler } from './handler.ts'
import { AttemptTimeoutError, CancelRequestedError, CannotRunHere, ShutdownError } from './interrupts.ts'
import { completed, failed, type Handback, invalid, type LastWord, released, type Timing } from './last-word.ts'
import type { LeasePlace } from './lease-table.ts'
import type { Sender } from './outbox.ts'
import { promised } from './promised.ts'
import { errorFor, isLost, saidInstead } from './refusal-error.ts'
import type { Choice, Run } from './run.ts'
import { type Checked, checkedInput, checkedOutput } from './schema.ts'
import { Spoken } from './spoken.ts'
import { readThrown } from './thrown-value.ts'
import { Tidings } from './tidings.ts'
import { transacted } from './transacted.ts'
import { type Said, Voice } from './voice.ts'

interface Committing {
  instead: (() => void) | undefined
}

type Mode = 'held' | 'running' | 'ending' | 'over'

/** Handlers that take longer than this are seen running before they end. */
const START_AFTER_MS = 100
/** How long a handler may go on after its time is up, before its job is failed without it. */
const LET_GO_WITHIN_MS = 1_000
const NEVER = Number.POSITIVE_INFINITY

export class Execution implements Sender, Run {
  readonly desk: Desk
  readonly assignment: Assignment
  readonly place: LeasePlace
  readonly heldSinceMs: number
  readonly #handler: Handler
  readonly #voice: Voice
  startedMs = 0
  /** How long the handler took, in milliseconds. */
  tookMs = 0
  #mode: Mode = 'held'
  /** Counted among the handlers that run. */
  #occupying = false
  #startedAt = 0
  /** The word that ends the lease, once it is chosen. */
  #last: Said | undefined
  /** The error that ended the attempt, and the last word made of it; absent where it ended otherwise. */
  #failure: { readonly error: unknown; readonly lastWord: LastWord } | undefined
  /** Chosen by the handler itself: a wait, a snooze. Said as soon as the handler has let go. */
  #chosen: Said | undefined
  /** The error that fails this attempt, whatever its handler says or chooses besides. */
  #doom: { readonly error: unknown } | undefined
  #interrupt: Error | undefined
  /** Present exactly while a transaction has the last word; and what the handler ended with meanwhile, should it be undone. */
  #committing: Committing | undefined
  #abort: AbortController | undefined
  #tidings: Tidings | undefined
  #spoken: Spoken | undefined
  #giveUpAtMs = NEVER

  constructor(desk: Desk, assignment: Assignment, handler: Handler, place: LeasePlace, heldSinceMs: number) {
    this.desk = desk
    this.assignment = assignment
    this.#handler = handler
    this.place = place
    this.heldSinceMs = heldSinceMs
    this.#voice = new Voice(desk.outbox, desk.actor, assignment, this)
  }

  get mode(): Mode {
    return this.#mode
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

  get spoken(): Spoken {
    this.#spoken ??= new Spoken()
    return this.#spoken
  }

  get isReturnable(): boolean {
    return isReturnable(this.assignment.job.spec.kind.policy)
  }

  get chosen(): boolean {
    return this.#chosen !== undefined
  }

  start(): void {
    this.#mode = 'running'
    this.#occupying = true
    this.startedMs = this.desk.clock.monotonicMs()
    this.#startedAt = this.desk.engine.now()
    if (this.assignment.inputLater || this.assignment.job.phase === 'compensate') {
      this.desk.began(this)
      void this.#startLater()
    } else this.#enter(this.assignment.input)
  }

  /** Prefetched in vain, or the worker goes away. */
  giveBack(reason: Handback, runAt?: number): void {
    if (this.#mode === 'held') this.#end(released(this.#voice, reason, runAt === undefined ? {} : { runAt }))
  }

  /** Tells the handler why it should stop. The first reason stands, but for a lost lease. */
  interrupt(reason: Error): void {
    if (this.#mode === 'over' || this.#interrupt !== undefined) return
    this.#interrupt = reason
    this.#abort?.abort(reason)
  }

  /** Whatever happens now, this process does not own the job any more. */
  lose(message: string): void {
    if (this.#mode === 'over') return
    const { id, attempt } = this.assignment.job
    this.desk.log.warn('lease lost', { job_id: id, attempt, reason: message })
    this.#interrupt = undefined
    this.interrupt(new LeaseConflictError(message))
    this.#timing()
    this.#vacate()
    this.#settle()
  }

  cancelRequested(cancel: CancelRequest): void {
    this.interrupt(new CancelRequestedError(cancel.reason ?? `Cancel requested by ${cancel.by}.`))
  }

  /** The drain time is over: the job goes back, whatever the handler is doing. */
  abandon(): void {
    if (this.#mode === 'running') this.#release()
    else this.giveBack('shutdown')
  }

  /** Does what is due by now. Returns when to look again. */
  pulse(nowMs: number): number {
    if (this.#mode !== 'running') return NEVER
    const attemptMs = attemptMsOf(this.assignment.job)
    const endsMs = this.startedMs + attemptMs
    if (nowMs >= endsMs && this.#giveUpAtMs === NEVER) {
      this.interrupt(new AttemptTimeoutError(`The attempt ran longer than ${attemptMs} ms.`))
      this.#giveUpAtMs = nowMs + LET_GO_WITHIN_MS
    }
    if (nowMs >= this.#giveUpAtMs) {
      this.#threw(this.#interrupt)
      return NEVER
    }
    if (!this.#voice.started && nowMs >= this.startedMs + START_AFTER_MS) this.#voice.start()
    this.#report(nowMs)
    const startMs = this.#voice.started ? NEVER : this.startedMs + START_AFTER_MS
    return Math.min(startMs, this.#giveUpAtMs, Math.max(endsMs, nowMs), this.#tidings?.dueMs ?? NEVER)
  }

  guard(): void {
    if (this.#interrupt instanceof LeaseConflictError) throw this.#interrupt
    if (this.#mode !== 'running') throw new LeaseConflictError('This attempt is over: its handler has been let go.')
  }

  async say(type: Said['type'], fields: object, bodies: readonly Body[] = []): Promise<void> {
    this.guard()
    this.#report(this.desk.clock.monotonicMs())
    const answer = await this.#voice.say(type, fields, bodies)
    if (!answer.ok) throw this.#interrupt instanceof LeaseConflictError ? this.#interrupt : errorFor(answer.refusal)
  }

  choose(type: Choice, fields: object): void {
    this.guard()
    this.#chosen ??= { ...this.#voice.once(type), ...fields, type } as Said
  }

  doom(error: unknown): void {
    this.#doom ??= { error }
  }

  async complete<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let stats: Readonly<Record<string, number>> | undefined
    let committing: Committing | undefined
    // The transaction was rolled back: the run goes on as before. Where it had not come to its last word there is nothing to take back.
    const undone = () => {
      if (committing === undefined) return
      const { instead } = committing
      this.#committing = undefined
      committing = undefined
      if (this.#mode === 'ending') this.#mode = 'running'
      for (const [name, by] of Object.entries(stats ?? {})) this.tidings.count(name, by)
      instead?.()
    }
    const { engine, transaction } = this.desk
    const inside = async (tx: Transaction) => {
      const value = await work(tx)
      const output = await checkedOutput(this.#handler, value)
      if (!output.ok) throw output.error
      // Words of ours that are still under way would wait for the row this transaction is about to lock.
      await this.#voice.heard()
      this.guard()
      this.#mode = 'ending'
      committing = { instead: undefined }
      this.#committing = committing
      stats = this.#tidings?.takeCounters()
      const word = { id: this.assignment.job.id, ...completed(this.#voice, output.value, stats, this.#timing()) }
      const answer = await this.#voice.insist(word, async (about) => (await engine.settle([{ ...about, tx }]))[0])
      if (answer?.ok !== true) throw errorFor(answer?.refusal)
      return value
    }
    const value = await transacted(transaction, inside, undone, () => this.guard())
    this.#committing = undefined
    this.#vacate()
    this.#settle()
    return value
  }

  answered(word: Word, answer: Answer): void {
    if (!answer.ok && isLost(answer.refusal)) this.lose(answer.refusal.message)
    else if (this.#mode === 'ending' && word.command.requestId === this.#last?.requestId)
      this.#ended(answer, this.#last)
    else if (answer.ok && answer.cancel !== undefined) this.cancelRequested(answer.cancel)
  }

  async #startLater(): Promise<void> {
    try {
      const { job, input, inputLater } = this.assignment
      const text = inputLater ? await this.#loadInput() : input
      if (this.#mode !== 'running') return
      if (job.phase === 'compensate') await this.#compensate(text)
      else this.#enter(text)
    } catch (error) {
      this.#threw(error)
    }
  }

  async #loadInput(): Promise<string | undefined> {
    return (await this.desk.engine.load([{ id: this.assignment.job.id, bodies: ['input'] }])).items[0]?.bodies['input']
  }

  #enter(text: string | undefined): void {
    let checked: ReturnType<typeof checkedInput>
    try {
      checked = checkedInput(this.#handler, text)
    } catch (error) {
      return this.#threw(error, 'input')
    }
    if (!(checked instanceof Promise)) return this.#run(checked)
    this.#when(checked, (late) => this.#run(late), 'input')
  }

  #run(input: Checked<unknown>, isWritten = false): void {
    if (this.#mode !== 'running') return
    if (!input.ok) return this.#invalid(input.error)
    const written = isWritten ? undefined : this.#voice.begin()
    if (written !== undefined) return this.#when(written, () => this.#run(input, true))
    let answer: unknown
    try {
      answer = this.#handler.run(input.value, this)
    } catch (error) {
      return this.#threw(error)
    }
    const late = promised(answer)
    if (late === undefined) return this.#returned(answer)
    this.#when(late, (value) => this.#returned(value))
  }

  /** Goes on with a promise. One that a handler or schema made up may throw when `then` is called. */
  #when<T>(late: Promise<T>, next: (value: T) => void, stage?: Stage): void {
    this.desk.began(this)
    const failed = (error: unknown) => this.#threw(error, stage)
    try {
      late.then(next, failed)
    } catch (error) {
      failed(error)
    }
  }

  /** Waits for the answers to what the handler said, before the run ends as it chose. */
  #hearOut(spoken: Spoken, next: () => void): void {
    const heard = spoken.heardOut((refused) => this.doom(refused))
    this.#when(heard, next)
  }

  async #compensate(text: string | undefined): Promise<void> {
    const input = await checkedInput(this.#handler, text)
    if (!input.ok) throw input.error
    await this.#voice.begin()
    await this.#handler.undo(input.value, this)
    if (this.#mode === 'running') this.#endAsChosen({ ...this.#voice.once('compensated'), type: 'compensated' })
  }

  #returned(value: unknown): void {
    if (this.#committing !== undefined) this.#committing.instead = () => this.#returned(value)
    if (this.#mode !== 'running') return
    if (this.#spoken?.isUnheard === true) return this.#hearOut(this.#spoken, () => this.#returned(value))
    if (this.#doom !== undefined) return this.#fail(this.#doom.error)
    if (this.#chosen !== undefined) return this.#endAsChosen(this.#chosen)
    if (value === undefined && this.#handler.output === undefined) return this.#complete(undefined)
    let checked: ReturnType<typeof checkedOutput>
    try {
      checked = checkedOutput(this.#handler, value)
    } catch (error) {
      return this.#threw(error, 'output')
    }
    if (!(checked instanceof Promise)) return this.#completed(checked)
    this.#when(checked, (late) => this.#completed(late), 'output')
  }

  #completed(output: Checked<string | undefined>): void {
    if (this.#mode !== 'running') return
    if (output.ok) this.#complete(output.value)
    else this.#threw(output.error)
  }

  #complete(text: string | undefined): void {
    this.#end(completed(this.#voice, text, this.#tidings?.takeCounters(), this.#timing()))
  }

  #threw(error: unknown, stage?: Stage): void {
    if (this.#committing !== undefined) this.#committing.instead = () => this.#threw(error, stage)
    if (this.#mode !== 'running') return
    if (this.#doom !== undefined) return this.#fail(this.#doom.error)
    if (this.#chosen !== undefined) {
      if (this.#spoken?.isUnheard === true) return this.#hearOut(this.#spoken, () => this.#threw(error, stage))
      return this.#endAsChosen(this.#chosen)
    }
    if (this.#interrupt instanceof ShutdownError) return this.#release()
    if (isNativeError(error) && error instanceof CannotRunHere) return this.#return()
    // A handler that stops because its time is up says so in words of its own, or in fetch's.
    this.#fail(this.#interrupt instanceof AttemptTimeoutError ? this.#interrupt : error, stage)
  }

  #fail(error: unknown, stage?: Stage): void {
    const lastWord = failed(this.#voice, error, this.assignment.job.attempt, this.#timing(), stage)
    this.#failure = { error, lastWord }
    this.#end(lastWord)
  }

  #release(): void {
    this.#voice.start()
    this.#end(released(this.#voice, 'shutdown', { executionMs: this.#timing().executionMs }))
  }

  /** Hands back a job of which nothing has run: no start is said. */
  #return(): void {
    this.#end(released(this.#voice, 'handed_back', {}))
  }

  #invalid(error: Error): void {
    const { attempt, spec } = this.assignment.job
    const lastWord = invalid(this.#voice, error, spec.kind.policy, attempt, this.#timing())
    this.#failure = { error, lastWord }
    this.#end(lastWord)
  }

  /** Success and failure imply the start. Where a run ends otherwise, nobody knows that it began unless we say so. */
  #endAsChosen(command: Said): void {
    this.#voice.start()
    const timed = command.type === 'wait' || command.type === 'release' || command.type === 'compensated'
    const { executionMs } = this.#timing()
    this.#end({ command: timed ? { ...command, executionMs } : command, bodies: undefined })
  }

  #end({ command, bodies }: LastWord): void {
    if (this.#mode === 'running') this.#report(NEVER)
    this.#mode = 'ending'
    this.#last = command
    this.#voice.last({ id: this.assignment.job.id, command, bodies })
    this.#vacate()
  }

  #ended(answer: Answer, said: Said): void {
    if (answer.ok) {
      const { job } = this.assignment
      // A handler that stops because it was asked to has not failed.
      const { error, lastWord } = (this.#interrupt instanceof CancelRequestedError ? undefined : this.#failure) ?? {}
      if (lastWord) this.desk.failed({ job, attempt: job.attempt, error, state: answer.state }, lastWord)
      return this.#settle()
    }
    const { id } = this.assignment.job
    const { code, message: reason } = answer.refusal
    this.desk.log.warn('outcome refused', { job_id: id, command: said.type, code, reason })
    const next = saidInstead(said, answer.refusal)
    if (next instanceof Error) return this.#fail(next)
    if (next !== undefined) return this.#end(next)
    this.desk.log.error('a job is left to its lease', { job_id: id, command: said.type, code, reason })
    this.#settle()
  }

  /** Of what was said in passing, what is due by then. */
  #report(nowMs: number): void {
    const due = this.#tidings?.take(nowMs)
    if (due !== undefined) void this.#voice.say('progress', due, [])
  }

  #vacate(): void {
    if (!this.#occupying) return
    this.#occupying = false
    if (this.#spoken?.isUnheard === true) void this.#spoken.heardOut((error) => this.#unheard(error))
    this.#handler.left?.(this)
    this.desk.vacated(this)
  }

  /** Logs an error by its code alone: its message may quote what is encrypted. */
  #unheard(error: unknown): void {
    const { id, attempt } = this.assignment.job
    const { code, name } = readThrown(error)
    this.desk.log.warn('something that nobody waited for was refused', { job_id: id, attempt, code: code ?? name })
  }

  #settle(): void {
    if (this.#mode === 'over') return
    this.#mode = 'over'
    this.desk.settled(this)
  }

  #timing(): Timing {
    this.tookMs = this.desk.clock.monotonicMs() - this.startedMs
    return { startedAt: this.#startedAt, executionMs: Math.round(this.tookMs) }
  }
}
