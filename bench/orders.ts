/** What is said between the benchmark and the processes it starts. */
import type { Crowd, Purpose, Role } from './contender.ts'

export type Order =
  | { readonly op: 'prepare'; readonly url: string }
  | ConnectOrder
  | BulkOrder
  /** One job after the other, so many in flight, for so long; or at a pace, whatever is in flight. */
  | { readonly op: 'singles'; readonly ms: number; readonly inFlight: number }
  | PacedOrder
  /** Bulk after bulk for so long, at most `ahead` jobs more than have been `handled`. */
  | { readonly op: 'produce'; readonly ms: number; readonly ahead: number }
  | { readonly op: 'handled'; readonly count: number }
  /** Resumes each of these jobs, so many at a time. */
  | { readonly op: 'signal'; readonly names: readonly string[]; readonly inFlight: number }
  | WorkOrder
  | { readonly op: 'settled' }
  | { readonly op: 'latencies' }
  /** How long nothing was due: from the last handler that failed to the first that was tried again. */
  | { readonly op: 'paused' }
  /** When each tenth of its steps had been taken, of a job that is alone. */
  | { readonly op: 'taken' }
  /** Works no more, and stays as warm and as connected as it is. */
  | { readonly op: 'rest' }
  | { readonly op: 'stop' }
  /** A gateway in front of the store, or on a bus; answers with where workers reach it. */
  | { readonly op: 'serve'; readonly url: string; readonly bus?: string | undefined }
  /** Counts CPU from now on. */
  | { readonly op: 'mark' }
  | { readonly op: 'usage' }

export interface ConnectOrder {
  readonly op: 'connect'
  readonly url: string
  readonly role: Role
  readonly purpose: Purpose
  readonly crowd?: Crowd | undefined
}

/** So many jobs at once. */
export interface BulkOrder {
  readonly op: 'bulk'
  readonly count: number
  readonly delayMs?: number | undefined
  /** Each with a key of its own that begins so. */
  readonly keys?: string | undefined
  /** Of their text, where it is not the usual one. */
  readonly bytes?: number | undefined
  /** In turns to so many queues. */
  readonly places?: number | undefined
  readonly failing?: boolean | undefined
  /** In turns with so many limit keys, none of which is full; 0: all with one that is. */
  readonly limitKeys?: number | undefined
  /** How many of their names are wanted, evenly taken. */
  readonly names?: number | undefined
}

export interface PacedOrder {
  readonly op: 'paced'
  readonly ms: number
  readonly perSecond: number
  readonly bytes?: number | undefined
}

/** Starts a worker; reports of how many handlers it has started come by themselves. */
export interface WorkOrder {
  readonly op: 'work'
  readonly purpose: Purpose
  readonly hold?: boolean | undefined
  /** That each handler takes, one after the other. */
  readonly steps?: number | undefined
  /** Every so many-th job fails once, after all of its steps but the last. */
  readonly failEvery?: number | undefined
  /** Handlers wait for a signal, and end when it has come. */
  readonly waiting?: boolean | undefined
  /** For jobs with limit keys. */
  readonly limited?: boolean | undefined
  readonly concurrency?: number | undefined
}

export interface Answers {
  readonly prepare: undefined
  readonly connect: undefined
  readonly bulk: Timed & { readonly names: readonly string[] }
  readonly singles: Timed
  readonly paced: Timed
  readonly produce: Timed
  readonly handled: undefined
  readonly signal: Timed
  readonly work: Timed
  readonly settled: Timed
  readonly latencies: readonly number[]
  readonly paused: number
  readonly taken: readonly number[]
  readonly rest: undefined
  readonly stop: undefined
  readonly serve: string
  readonly mark: undefined
  readonly usage: Usage
}

/** Times are the machine's, so that those of several processes can be compared. */
export interface Timed {
  readonly count: number
  readonly fromMs: number
  readonly toMs: number
}

export interface Usage {
  readonly cpuUs: number
  readonly heapBytes: number
  readonly residentBytes: number
}

export interface ToActor {
  readonly id: number
  readonly order: Order
}

export type FromActor =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly started: number }
