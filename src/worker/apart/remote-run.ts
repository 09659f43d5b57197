/** A run as it is known in a cell: what its handler says goes to the worker, who owns the job, and comes back answered. */
import { LeaseConflictError, PermanentError } from '../../core/thrown.ts'
import type { Assignment } from '../../engine/engine.ts'
import type { Body } from '../../store/store.ts'
import type { Clock } from '../../system/clock.ts'
import { harmless, type Log, type LogFields, type LogLevel } from '../../system/log.ts'
import { faultOf, type Written } from '../fault.ts'
import type { Choice, Run } from '../run.ts'
import type { Spawn } from '../spawn.ts'
import { Spoken } from '../spoken.ts'
import type { Said } from '../voice.ts'
import type { FromCell, Order, SentError } from './messages.ts'
import { errorOf } from './sent-error.ts'

interface Question {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export interface RemoteRunOptions {
  readonly order: Order
  readonly clock: Clock
  readonly send: (message: FromCell) => void
  /** Children are made here, because a schema cannot travel, and enqueued by the worker. */
  readonly spawning: (engine: Run['desk']['engine']) => Spawn
}

export class RemoteRun implements Run {
  readonly assignment: Assignment
  readonly desk: Run['desk']
  readonly startedMs: number
  readonly tidings: Run['tidings']
  readonly spoken = new Spoken()
  readonly #send: (message: FromCell) => void
  readonly #abort = new AbortController()
  readonly #questions = new Map<number, Question>()
  #asked = 0
  #chosen = false

  constructor({ order, clock, send, spawning }: RemoteRunOptions) {
    const { assignment, actor, now } = order
    this.assignment = assignment
    this.#send = send
    this.startedMs = clock.monotonicMs()
    const engine: Run['desk']['engine'] = {
      enqueue: (...args) => this.#ask((ask) => ({ ask, engine: 'enqueue', args })),
      load: (...args) => this.#ask((ask) => ({ ask, engine: 'load', args })),
      settings: (...args) => this.#ask((ask) => ({ ask, engine: 'settings', args })),
      now: () => Math.floor(now + clock.monotonicMs() - this.startedMs),
    }
    this.desk = { engine, clock, actor, log: this.#log(), spawn: spawning(engine) }
    this.tidings = {
      progress: (progress) => send({ progress }),
      count: (name, by) => send({ count: name, by }),
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get chosen(): boolean {
    return this.#chosen
  }

  guard(): void {
    const { reason } = this.#abort.signal
    if (reason instanceof LeaseConflictError) throw reason
  }

  async say(type: Said['type'], fields: object, bodies: readonly Body[] = []): Promise<void> {
    this.guard()
    await this.#ask((ask) => ({ ask, say: type, fields, bodies }))
  }

  choose(type: Choice, fields: object): void {
    this.guard()
    if (!this.#chosen) this.#send({ choose: type, fields })
    this.#chosen = true
  }

  doom(error: unknown): void {
    this.#send({ doom: this.written(error) })
  }

  /** The fault and body to be written about an error that was thrown in this cell. */
  written(thrown: unknown): Written {
    return faultOf(thrown, { attempt: this.assignment.job.attempt, now: this.desk.engine.now() })
  }

  complete<T>(): Promise<T> {
    const message = 'ctx.tx needs the connection of its worker, and this job runs in a process of its own.'
    return Promise.reject(new PermanentError(message, { code: 'E_NO_TRANSACTION' }))
  }

  interrupt(error: SentError): void {
    this.#abort.abort(errorOf(error))
  }

  answered(ask: number, value: unknown): void {
    this.#taken(ask)?.resolve(value)
  }

  refused(ask: number, error: SentError): void {
    this.#taken(ask)?.reject(errorOf(error))
  }

  #taken(ask: number): Question | undefined {
    const question = this.#questions.get(ask)
    this.#questions.delete(ask)
    return question
  }

  #ask<T>(message: (ask: number) => FromCell): Promise<T> {
    this.#asked += 1
    const ask = this.#asked
    return new Promise((resolve, reject) => {
      this.#questions.set(ask, { resolve: (value) => resolve(value as T), reject })
      this.#send(message(ask))
    })
  }

  #log(): Log {
    const at =
      (level: LogLevel): Log[LogLevel] =>
      (message, fields?: LogFields) =>
        this.#send({ log: level, message, fields })
    return harmless({ info: at('info'), warn: at('warn'), error: at('error') })
  }
}
