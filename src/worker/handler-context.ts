/** The context of one run. Thin: what must last goes through the execution's words, what lasted comes from memos. */
import { bodyRef, stepBody } from '../core/body.ts'
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import type { DeadLetterReason, Job, JobId, Stage } from '../core/job.ts'
import type { Jsonify } from '../core/jsonify.ts'
import { LENGTHS } from '../core/limits.ts'
import type { NoteKind } from '../core/note.ts'
import { reasonOf } from '../core/reason.ts'
import { PermanentError, ValidationError } from '../core/thrown.ts'
import type { Flowing } from '../engine/engine.ts'
import type { Transaction } from '../store/store.ts'
import type { Log, LogFields } from '../system/log.ts'
import type { Context, ProgressInput, StepOptions, Waited, WaitOptions } from './context.ts'
import type { JobDefinition } from './definition.ts'
import { sanitised } from './fault.ts'
import { isOrderly, Suspension } from './interrupts.ts'
import { Memos, stepText } from './memos.ts'
import { outgoingHeaders } from './outgoing.ts'
import type { Choice, Run } from './run.ts'
import { mustSerialise } from './schema.ts'
import type { Spawnable, SpawnOptions } from './spawn.ts'

/** The signal that a sleep waits for. No caller can send it: a sleep ends by its timeout only. */
const SLEEP = 'pawl.sleep'

interface Undoing {
  readonly undo: () => Promise<void> | void
  readonly value: unknown
}

export class HandlerContext implements Context {
  readonly #run: Run
  #memos: Memos | undefined
  #log: Log | undefined
  #spawned = 0
  /** The wait that this run has come to and has no answer to yet. */
  #waiting: string | undefined
  /** Undoings of steps, by memo key. Filled while a compensating handler is led through its past. */
  #undo: Map<string, Undoing> | undefined

  constructor(run: Run) {
    this.#run = run
  }

  get job(): Job {
    return this.#run.assignment.job
  }

  get attempt(): number {
    return this.job.attempt
  }

  get fence(): string {
    return this.#run.assignment.fence
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  get log(): Log {
    this.#log ??= withFields(this.#run.desk.log, {
      job_id: this.job.id,
      type: this.job.spec.kind.type,
      attempt: this.attempt,
      correlation_id: this.job.spec.correlationId,
    })
    return this.#log
  }

  get headers(): Readonly<Record<string, string>> {
    return outgoingHeaders(this.job.spec)
  }

  get flow(): Flowing | undefined {
    return this.#run.assignment.flow
  }

  step<T>(name: string, work: () => Promise<T> | T, options: StepOptions<T> = {}): Promise<Jsonify<T>> {
    return this.#run.spoken.say(async () => {
      const memos = this.#recall()
      const key = memos.key(checkedName(name))
      this.#run.came?.(key)
      const memo = await memos.find(key, 'step')
      const { compensate } = options
      if (memo?.kind === 'step') {
        if (compensate !== undefined) {
          this.#undo ??= new Map()
          this.#undo.set(key, { undo: () => compensate(memo.value as Jsonify<T>), value: memo.value })
        }
        return memo.value as Jsonify<T>
      }
      this.#run.guard()
      this.#mustBeNew()
      const text = stepText(key, await work())
      const body = bodyRef(stepBody(key), text)
      await this.#run.say('record', { step: { name: key, body, compensate: compensate !== undefined } }, [
        { name: body.name, text },
      ])
      // As JSON keeps it, also the first time: what works now works after a crash.
      return (JSON.parse(text) as { value: Jsonify<T> }).value
    })
  }

  sleep(duration: Duration): Promise<void> {
    return this.#run.spoken.say(async () => {
      const timeoutMs = durationMs(duration)
      await this.#wait('sleep', { name: SLEEP, timeoutMs, onTimeout: 'resume' })
    })
  }

  waitFor<T = unknown>(name: string, options: WaitOptions = {}): Promise<Waited<T>> {
    return this.#run.spoken.say(async () => {
      const { timeout, key: correlationKey, onTimeout } = options
      const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
      const signal = await this.#wait(checkedName(name), { name, key: correlationKey, timeoutMs, onTimeout })
      if (signal === undefined) return { timedOut: true, payload: undefined }
      return { timedOut: false, payload: (await this.#recall().payload(signal, { name, key: correlationKey })) as T }
    })
  }

  checkpoint<T = unknown>(...kept: readonly [] | readonly [unknown]): Promise<T | undefined> {
    return this.#run.spoken.say(async () => {
      if (kept.length === 0) return (await this.#recall().checkpoint()) as T | undefined
      this.#mustBeNew()
      const text = mustSerialise(kept[0], 'checkpoint', 'The checkpoint') ?? 'null'
      await this.#run.say('checkpoint', { body: bodyRef('checkpoint', text) }, [{ name: 'checkpoint', text }])
      return undefined
    })
  }

  progress({ done, total, message }: ProgressInput): void {
    if (this.#undoing) return
    mustBeFinite('done', done)
    if (total !== undefined) mustBeFinite('total', total)
    const { desk, startedMs, tidings } = this.#run
    const elapsedMs = desk.clock.monotonicMs() - startedMs
    const leftMs = total === undefined || !(done > 0) || done > total ? undefined : (elapsedMs / done) * (total - done)
    tidings.progress({
      done,
      total,
      message: message === undefined ? undefined : sanitised(message, LENGTHS.entry),
      etaAt: leftMs === undefined || !Number.isFinite(leftMs) ? undefined : Math.round(desk.engine.now() + leftMs),
    })
  }

  count(name: string, by = 1): void {
    mustBeFinite('by', by)
    if (!this.#undoing) this.#run.tidings.count(checkedName(name), by)
  }

  spend(amount: number, { key }: { readonly key?: string | undefined } = {}): Promise<void> {
    return this.#run.spoken.say(async () => {
      mustBeFinite('amount', amount)
      if (!this.#undoing) await this.#run.say('record', { spend: { amount, key } })
    })
  }

  artifact(name: string, ptr: string): Promise<void> {
    return this.#run.spoken.say(async () => {
      if (!this.#undoing) await this.#run.say('record', { artifact: { name: checkedName(name), ptr } })
    })
  }

  record(kind: NoteKind, name: string, detail?: unknown): Promise<void> {
    return this.#run.spoken.say(async () => {
      const memos = this.#recall()
      const key = memos.key(checkedName(`${kind} ${name}`))
      this.#run.came?.(key)
      if (this.#undoing || (await memos.find(key, 'step')) !== undefined) return
      this.#run.guard()
      this.#mustBeNew()
      const text = stepText(key, detail)
      const body = bodyRef(stepBody(key), text)
      const step = { name: key, body, compensate: false }
      await this.#run.say('record', { step, note: { kind, name } }, [{ name: body.name, text }])
    })
  }

  spawn(definition: Spawnable<unknown> | string, input?: unknown, options: SpawnOptions = {}): Promise<JobId> {
    const { spawn, actor } = this.#run.desk
    const type = typeof definition === 'string' ? definition : definition.type
    this.#spawned += 1
    const key = `${this.job.id}/${this.job.generation}/spawn/${this.#spawned}`
    const wish = { parent: this.job, definition, input, options, key, actor }
    return this.step(`spawn ${type}`.slice(0, NAME_MAX), () => {
      if (spawn === undefined) throw new PermanentError('ctx.spawn needs a worker that was started by pawl.work.')
      return spawn(wish)
    })
  }

  tx<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#run.spoken.say(async () => {
      this.#mustBeNew()
      return this.#run.complete(work)
    })
  }

  snooze(delay: Duration): never {
    const runAt = this.#run.desk.engine.now() + durationMs(delay)
    return this.#choose('release', { reason: 'snoozed', runAt })
  }

  cancel(reason?: string): never {
    const text = reason === undefined ? undefined : sanitised(reason, LENGTHS.message)
    return this.#choose('cancel', { mode: 'soft', reason: text })
  }

  deadLetter(reason: DeadLetterReason, message?: string, stage: Stage = 'exec'): never {
    const text = message === undefined ? undefined : sanitised(message, LENGTHS.message)
    return this.#choose('deadLetter', { reason, stage, message: text })
  }

  /**
   * Phase `compensate`: the handler is led once more through what it has done, without doing anything new, which tells
   * how to undo it; then that is done, newest first.
   */
  async undo(definition: JobDefinition, input: unknown): Promise<void> {
    try {
      await definition.run(input, this)
    } catch (error) {
      if (!isOrderly(error)) this.log.info('handler ended while led through its past', { reason: reasonOf(error) })
    }
    for (const key of [...this.job.compensations].reverse()) {
      const past = this.#undo?.get(key)
      if (past === undefined) {
        throw new PermanentError(`Nothing says how to undo ${key}.`, { code: 'E_NONDETERMINISTIC' })
      }
      this.#run.guard()
      await past.undo()
      await this.#run.say('record', { undone: key }, [{ name: stepBody(key), text: stepText(key, past.value, true) }])
    }
  }

  get #undoing(): boolean {
    return this.job.phase === 'compensate'
  }

  /** Throws once the run has chosen its end, or while the past is undone: then nothing new may happen. */
  #mustBeNew(): void {
    if (this.#undoing || this.#run.chosen) throw new Suspension('This run does nothing new.')
  }

  #recall(): Memos {
    const { desk, assignment } = this.#run
    this.#memos ??= new Memos(desk.engine, assignment)
    return this.#memos
  }

  /** Answers with the signal that came, undefined where the time was over; or lets go of the run until then. */
  async #wait(name: string, wait: object): Promise<number | undefined> {
    const memos = this.#recall()
    const key = memos.key(name)
    this.#run.came?.(key)
    if (this.#waiting !== undefined) throw this.#twoWaits(this.#waiting, key)
    this.#waiting = key
    const memo = await memos.find(key, 'wait')
    if (memo?.kind !== 'wait') {
      this.#mustBeNew()
      await memos.mustBePast(key)
      this.#choose('wait', { ...wait, memo: key })
    }
    this.#waiting = undefined
    return memo.signal
  }

  /** The run must fail by it, although the first wait's letting go is what a race or a list of waits ends with. */
  #twoWaits(first: string, second: string): Error {
    const text = `The handler came to wait for ${second} while it waited for ${first}, as in Promise.all or Promise.race`
    const advice = 'Wait for one after the other: a signal that comes early is kept, and a wait takes a timeout'
    const error = new PermanentError(`${text}. ${advice}.`, { code: 'E_TWO_WAITS' })
    this.#run.doom(error)
    return error
  }

  #choose(type: Choice, fields: object): never {
    this.#mustBeNew()
    this.#run.choose(type, fields)
    throw new Suspension(`The run lets go: ${type}. Let this error pass.`)
  }
}

/** Room for the ordinal. */
const NAME_MAX = LENGTHS.name - 8

function checkedName(name: string): string {
  if (typeof name === 'string' && name.length > 0 && name.length <= NAME_MAX) return name
  throw new ValidationError(`A name must be text of 1 to ${NAME_MAX} characters.`, { code: 'bad_request' })
}

/** Said where it is said: gathered with others it would be refused with them, much later. */
function mustBeFinite(what: string, value: number): void {
  if (!Number.isFinite(value)) throw new ValidationError(`${what} must be a finite number.`, { code: 'bad_request' })
}

function durationMs(duration: Duration): number {
  const ms = parseDuration(duration)
  if (ms !== undefined && ms >= 0) return Math.round(ms)
  throw new PermanentError(`A duration ${DURATION_RULE}, not ${String(duration)}.`)
}

const withFields = (log: Log, fixed: LogFields): Log => ({
  info: (message, fields) => log.info(message, { ...fields, ...fixed }),
  warn: (message, fields) => log.warn(message, { ...fields, ...fixed }),
  error: (message, fields) => log.error(message, { ...fields, ...fixed }),
})
