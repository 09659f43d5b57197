/**
 * What a worker and a cell, the process that runs a job apart, say to each other. All of it is plain data. The lease stays
 * with the worker, and so does every word about the job: the cell has nothing but a handler, and asks for the rest.
 */
import type { Job } from '../../core/job.ts'
import type { Assignment, Engine } from '../../engine/engine.ts'
import type { Body } from '../../store/store.ts'
import type { LogFields, LogLevel } from '../../system/log.ts'
import type { Written } from '../fault.ts'
import type { Choice } from '../run.ts'
import type { Said } from '../voice.ts'

/** The argument that a cell is started with. */
export interface CellData {
  readonly module: string
}

/** One run of a handler that a cell is asked for. */
export interface Order {
  readonly type: string
  readonly tenant: string | undefined
  /** The input as it was stored, parsed. */
  readonly input: unknown
  readonly assignment: Assignment
  readonly actor: string
  /** The store's clock, now. */
  readonly now: number
  /** The worker's engine is traced: the run's span is sent along. */
  readonly traced: boolean
}

/** Methods of the worker's engine that a cell may call. */
export type EngineCall = keyof Pick<Engine, 'enqueue' | 'load' | 'settings'>

/** An error of ours, by which a question is answered, or a reason to stop. */
export interface SentError {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
}

export type ToCell =
  | { readonly run: Order }
  | { readonly interrupt: SentError }
  | { readonly reply: number; readonly value: unknown }
  | { readonly reply: number; readonly error: SentError }

export type FromCell =
  | { readonly ready: true }
  /** The module cannot be imported, or starts something: the cell ends. */
  | { readonly unusable: string }
  | { readonly ask: number; readonly engine: EngineCall; readonly args: readonly unknown[] }
  | { readonly ask: number; readonly say: Said['type']; readonly fields: object; readonly bodies: readonly Body[] }
  | { readonly choose: Choice; readonly fields: object }
  | { readonly doom: Written }
  | { readonly progress: NonNullable<Job['progress']> }
  | { readonly count: string; readonly by: number }
  | { readonly log: LogLevel; readonly message: string; readonly fields: LogFields | undefined }
  /** The run is over: with an answer, as JSON has it, or by something that was thrown. */
  | { readonly answer: unknown }
  | { readonly threw: Written }
  /** Something was thrown that nobody caught: the process is about to end by it. */
  | { readonly dying: SentError }
