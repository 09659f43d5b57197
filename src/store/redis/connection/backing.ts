/** What stands behind a server, and so what a call has to wait for: nothing, or a ledger. */

import type { LedgerStanding } from '../../../system/meter.ts'
import type { Finding } from '../../ledger/finding.ts'
import type { Piece } from '../../ledger/image.ts'
import type { EndedJob } from '../../ledger/ledger-port.ts'
import type { ScriptName } from '../script/scripts.ts'
import type { Reply } from './reply.ts'

export interface Backing {
  /** Makes the server one that takes calls, if it is not. Answers with the epoch that they are to be made in. */
  join(): Promise<string>

  /** A call's answer, once it may be given. Undefined: nothing came of it, and it is to be made anew, by who has joined again. */
  answer(call: Called): Promise<readonly Reply[] | undefined>

  close(): Promise<void>

  /** Where what is behind the server and the server do not say the same. `told`: how much was compared so far. */
  compared(told: (pieces: number) => void): Promise<readonly Finding[]>

  /** How far the server and what is behind it are; undefined where nothing is. */
  readonly standing: (() => Promise<LedgerStanding>) | undefined

  /** Where jobs are that have left the server; undefined where none can. */
  readonly evicted: EvictedJobs | undefined
}

export interface EvictedJobs {
  /** Jobs that had ended before this time and are still on the server; those first that ended first. */
  ended(before: number, most: number): Promise<readonly EndedJob[]>

  /** What there is of these jobs, of one moment that is not before an entry. */
  read(digits: readonly string[], entry: number): Promise<EvictedRead>
}

export interface EvictedRead {
  /** The last entry that it is made of. */
  readonly entry: number
  /** By digits; none where nothing is left of it. */
  readonly jobs: ReadonlyMap<string, EvictedJob>
}

/** All that is a job's own, in the pieces of its keys. */
export type EvictedJob = readonly Piece[]

/** One call of a script, which may be sent more than once where it has changed nothing. */
export interface Called {
  readonly script: ScriptName
  readonly epoch: string
  /** Of a call that may write. */
  readonly name: string | undefined
  readonly send: () => Promise<Reply>
}

/** The server, as what stands behind it asks it. */
export interface Server {
  readonly process: string
  readonly meta: string
  readonly send: (words: readonly string[]) => Promise<Reply>
  /** A script that compares for itself which life of the server it is in. */
  readonly run: (script: ScriptName, args: readonly string[]) => Promise<Reply>
}
