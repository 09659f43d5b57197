/** What is said between the benchmark and the processes it starts. */
import type { Purpose, Role } from './contender.ts'

export type Order =
  | { readonly op: 'prepare'; readonly url: string }
  | { readonly op: 'connect'; readonly url: string; readonly role: Role; readonly purpose: Purpose }
  /** So many jobs at once; `keys`: each with a key of its own that begins so. */
  | {
      readonly op: 'bulk'
      readonly count: number
      readonly delayMs?: number | undefined
      readonly keys?: string | undefined
    }
  /** One job after the other, so many in flight, for so long; or at a pace, whatever is in flight. */
  | { readonly op: 'singles'; readonly ms: number; readonly inFlight: number }
  | { readonly op: 'paced'; readonly ms: number; readonly perSecond: number }
  /** Bulk after bulk for so long, at most `ahead` jobs more than have been `handled`. */
  | { readonly op: 'produce'; readonly ms: number; readonly ahead: number }
  | { readonly op: 'handled'; readonly count: number }
  /** Starts a worker; reports of how many handlers it has started come by themselves. */
  | {
      readonly op: 'work'
      readonly purpose: Purpose
      readonly hold?: boolean | undefined
      /** That each handler takes, one after the other. */
      readonly steps?: number | undefined
      readonly concurrency?: number | undefined
    }
  | { readonly op: 'settled' }
  | { readonly op: 'latencies' }
  | { readonly op: 'stop' }
  /** A gateway in front of the store; answers with its URL. */
  | { readonly op: 'serve'; readonly url: string }
  /** pawl only: jobs that wait for a signal nobody sends. */
  | { readonly op: 'park'; readonly url: string; readonly count: number }
  /** Counts CPU from now on. */
  | { readonly op: 'mark' }
  | { readonly op: 'usage' }

export interface Answers {
  readonly prepare: undefined
  readonly connect: undefined
  readonly bulk: Timed
  readonly singles: Timed
  readonly paced: Timed
  readonly produce: Timed
  readonly handled: undefined
  readonly work: Timed
  readonly settled: Timed
  readonly latencies: readonly number[]
  readonly stop: undefined
  readonly serve: string
  readonly park: undefined
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
