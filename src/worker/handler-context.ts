/** The context of one run. Thin: what must last goes through the execution's words, what lasted comes from memos. */
import { bodyRef } from '../core/body.ts'
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import type { DeadLetterReason, Job, JobId, Stage } from '../core/job.ts'
import type { Jsonify } from '../core/jsonify.ts'
import { LENGTHS } from '../core/limits.ts'
import { PermanentError, ValidationError } from '../core/thrown.ts'
import type { Transaction } from '../store/store.ts'
import type { Log, LogFields } from '../system/log.ts'
import type { Context, ProgressInput, StepOptions, Waited, WaitOptions } from './context.ts'
import type { Execution } from './execution.ts'
import { sanitised } from './fault.ts'
import { Suspension } from './interrupts.ts'
import { Memos, stepText } from './memos.ts'
import { mustSerialise } from './schema.ts'
import type { Spawnable, SpawnOptions } from './spawn.ts'

/** Nobody signals this: a sleep ends by its timeout only. */
const SLEEP = 'pawl.sleep'

interface Undoing {
  readonly undo: () => Promise<void> | void
  readonly value: unknown
}

export class HandlerContext implements Context {
  readonly #execution: Execution
  #memos: Memos | undefined
  #log: Log | undefined
  #spawned = 0
  /** How to undo what was done, by memo key. Filled while a compensating handler is led through its past. */
  #undo: Map<string, Undoing> | undefined

  constructor(execution: Execution) {
    this.#execution = execution
  }

  get job(): Job {
    return this.#execution.assignment.job
  }

  get attempt(): number {
    return this.job.attempt
  }

  get fence(): string {
    return this.#execution.assignment.fence
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }

  get log(): Log {
    this.#log ??= withFields(this.#execution.desk.log, {
      job_id: this.job.id,
      type: this.job.spec.kind.type,
      attempt: this.attempt,
      correlation_id: this.job.spec.correlationId,
    })
    return this.#log
  }

  async step<T>(name: string, work: () => Promise<T> | T, options: StepOptions<T> = {}): Promise<Jsonify<T>> {
    const memos = this.#recall()
    const key = memos.key(plainName(name))
    const memo = await memos.find(key, 'step')
    const { compensate } = options
    if (memo?.kind === 'step') {
      if (compensate !== undefined) {
        this.#undo ??= new Map()
        this.#undo.set(key, { undo: () => compensate(memo.value as Jsonify<T>), value: memo.value })
      }
      return memo.value as Jsonify<T>
    }
    this.#execution.guard()
    this.#mustBeNew()
    const text = stepText(key, await work())
    const body = bodyRef(`step/${key}`, text)
    await this.#execution.say('record', { step: { name: key, body, compensate: compensate !== undefined } }, [
      { name: body.name, text },
    ])
    // As JSON keeps it, also the first time: what works now works after a crash.
    return (JSON.parse(text) as { value: Jsonify<T> }).value
  }

  async sleep(duration: Duration): Promise<void> {
    const timeoutMs = durationMs(duration)
    const memos = this.#recall()
    const key = memos.key('sleep')
    if ((await memos.find(key, 'wait')) !== undefined) return
    return this.#suspend(key, { name: SLEEP, timeoutMs, onTimeout: 'resume', memo: key })
  }

  async waitFor<T = unknown>(name: string, options: WaitOptions = {}): Promise<Waited<T>> {
    const { timeout, key: correlationKey, onTimeout } = options
    const timeoutMs = timeout === undefined ? undefined : durationMs(timeout)
    const memos = this.#recall()
    const key = memos.key(plainName(name))
    const memo = await memos.find(key, 'wait')
    if (memo?.kind !== 'wait') {
      return this.#suspend(key, { name, key: correlationKey, timeoutMs, onTimeout, memo: key })
    }
    if (memo.signal === undefined) return { timedOut: true, payload: undefined }
    return { timedOut: false, payload: (await memos.payload(memo.signal, { name, key: correlationKey })) as T }
  }

  async checkpoint<T = unknown>(...kept: readonly [] | readonly [unknown]): Promise<T | undefined> {
    if (kept.length === 0) return (await this.#recall().checkpoint()) as T | undefined
    this.#mustBeNew()
    const text = mustSerialise(kept[0], 'checkpoint', 'The checkpoint') ?? 'null'
    await this.#execution.say('checkpoint', { body: bodyRef('checkpoint', text) }, [{ name: 'checkpoint', text }])
    return undefined
  }

  progress({ done, total, message }: ProgressInput): void {
    if (this.#undoing) return
    mustBeFinite('done', done)
    if (total !== undefined) mustBeFinite('total', total)
    const { desk, startedMs, tidings } = this.#execution
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
    if (!this.#undoing) this.#execution.tidings.count(plainName(name), by)
  }

  async artifact(name: string, ptr: string): Promise<void> {
    if (!this.#undoing) await this.#execution.say('record', { artifact: { name: plainName(name), ptr } })
  }

  spawn(definition: Spawnable<unknown> | string, input?: unknown, options: SpawnOptions = {}): Promise<JobId> {
    const { spawn, actor } = this.#execution.desk
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
    this.#mustBeNew()
    return this.#execution.complete(work)
  }

  snooze(delay: Duration): never {
    const runAt = this.#execution.desk.engine.now() + durationMs(delay)
    return this.#choose('release', { reason: 'snoozed', runAt })
  }

  cancel(reason?: string): never {
    const words = reason === undefined ? undefined : sanitised(reason, LENGTHS.message)
    return this.#choose('cancel', { mode: 'soft', reason: words })
  }

  deadLetter(reason: DeadLetterReason, message?: string, stage: Stage = 'exec'): never {
    const words = message === undefined ? undefined : sanitised(message, LENGTHS.message)
    return this.#choose('deadLetter', { reason, stage, message: words })
  }

  /**
   * Phase `compensate`: the handler is led once more through what it has done, without doing anything new, which tells
   * how to undo it; then that is done, newest first.
   */
  async undo(input: unknown): Promise<void> {
    try {
      await this.#execution.definition.run(input, this)
    } catch (error) {
      if (!(error instanceof Suspension))
        this.log.info('handler ended while led through its past', { reason: String(error) })
    }
    for (const key of [...this.job.compensations].reverse()) {
      const past = this.#undo?.get(key)
      if (past === undefined) {
        throw new PermanentError(`Nothing says how to undo ${key}.`, { code: 'E_NONDETERMINISTIC' })
      }
      this.#execution.guard()
      await past.undo()
      await this.#execution.say('record', { undone: key }, [
        { name: `step/${key}`, text: stepText(key, past.value, true) },
      ])
    }
  }

  get #undoing(): boolean {
    return this.job.phase === 'compensate'
  }

  /** Nothing new happens once a run has chosen its end, nor while the past is undone. */
  #mustBeNew(): void {
    if (this.#undoing || this.#execution.chosen) throw new Suspension('This run does nothing new.')
  }

  #recall(): Memos {
    const { desk, assignment } = this.#execution
    this.#memos ??= new Memos(desk.engine, assignment)
    return this.#memos
  }

  async #suspend(key: string, wait: object): Promise<never> {
    this.#mustBeNew()
    await this.#recall().mustBePast(key)
    return this.#choose('wait', wait)
  }

  #choose(type: 'wait' | 'release' | 'cancel' | 'deadLetter', words: object): never {
    this.#mustBeNew()
    this.#execution.choose(type, words)
    throw new Suspension(`The run lets go: ${type}. Let this error pass.`)
  }
}

/** Room for the ordinal. */
const NAME_MAX = LENGTHS.name - 8

function plainName(name: string): string {
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
