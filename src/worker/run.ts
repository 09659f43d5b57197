/** One run of a handler, as its context knows it: in the worker's own process, or in one of its own. */
import type { Assignment, Engine } from '../engine/engine.ts'
import type { Body, Transaction } from '../store/store.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Spawn } from './spawn.ts'
import type { Spoken } from './spoken.ts'
import type { Tidings } from './tidings.ts'
import type { Said } from './voice.ts'

export interface Run {
  readonly assignment: Assignment
  readonly desk: {
    readonly engine: Pick<Engine, 'enqueue' | 'load' | 'settings' | 'now'>
    readonly clock: Clock
    readonly log: Log
    readonly actor: string
    /** Enqueues children; undefined where the composition root gave no way to. */
    readonly spawn: Spawn | undefined
  }
  readonly startedMs: number
  readonly signal: AbortSignal
  readonly tidings: Pick<Tidings, 'progress' | 'count'>
  /** Promises of what the handler said, which it need not wait for. */
  readonly spoken: Spoken
  /** The handler has chosen how this run ends. */
  readonly chosen: boolean
  /** The handler has come to this step or wait; only who follows it step by step wants to know. */
  came?(key: string): void
  /** Throws if the handler's words are worth nothing any more. */
  guard(): void
  /** A word while the handler runs; resolves when the store has it, throws if it is refused. */
  say(type: Said['type'], fields: object, bodies?: readonly Body[]): Promise<void>
  /** Ends this run as its handler chooses; the first choice stands. */
  choose(type: Choice, fields: object): void
  /** Whatever the handler does from now on, this run can end in one way only: by this error. */
  doom(error: unknown): void
  /** Effects and completion, both or neither. */
  complete<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

/** The words by which a handler ends its own run. */
export type Choice = 'wait' | 'release' | 'cancel' | 'deadLetter'
