/**
 * The ledger of one partition, as a process asks it. Each method is one question, whole or not at all; nothing that it answers stays
 * true for longer than that, so what is decided by it is compared again where it matters (account.ts, meta.ts).
 */
import type { Account, Append } from './account.ts'
import type { Entry, Head } from './entry.ts'
import type { Awaited, LedgerView } from './fate.ts'
import type { ImageChange, Piece } from './image.ts'
import type { Report, ReportedJob } from './report.ts'

/** An entry with what it says, as the codec has written it. */
export interface WrittenEntry extends Entry {
  readonly text: string
}

export interface Ledger extends AsyncDisposable {
  account(): Promise<Account>

  /**
   * Takes the entries whole, where `accepts` says so, and else none. Refused is also what has been taken already, by another shipper
   * or by a try of this call whose answer was lost: who is refused looks at the account, and ships what comes after its head.
   */
  append(append: Append<WrittenEntry>): Promise<Moved>

  /** Takes the epoch after this one, where `mayFence` says so. */
  fence(epoch: number): Promise<Moved>

  /** A page of the log after this head, of one moment with the account. */
  after(head: Head): Promise<LogPage>

  /** All that `fateOf` asks about these calls, of one moment. */
  look(calls: readonly Awaited[]): Promise<LedgerView>

  /** A page of what the log has and the tables have not, of one moment with the account. */
  unfolded(): Promise<UnfoldedPage>

  /**
   * Writes what these entries say into the tables, whole, where the fold has come to exactly `from`, and forgets of the log what was
   * folded long ago. Refused is who was overtaken, also by a try of this call whose answer was lost.
   */
  fold(step: FoldStep): Promise<Moved>

  /** What the image has of these keys, of one moment with the account. */
  pieces(keys: readonly string[]): Promise<PiecesRead>

  /** Jobs that had ended before this time and have not left the server; those first that ended first. */
  ended(before: number, most: number): Promise<readonly EndedJob[]>

  /** The log after this number as it is, linked or not; empty where there is nothing. */
  log(after: number): Promise<readonly WrittenEntry[]>

  /** How many pieces the image has of each of these keys. */
  sizes(keys: readonly string[]): Promise<ReadonlyMap<string, number>>

  /** What reports say of jobs, in the order of their numbers: so many at most after this one. */
  rows(after: number, most: number): Promise<readonly ReportedRow[]>

  /** A page of the image without what has left the server, of one moment with the account. Lines of a key come in their order. */
  imageAfter(cursor: string | undefined): Promise<ImagePage>
}

export interface PiecesRead {
  readonly account: Account
  readonly pieces: readonly Piece[]
}

export interface EndedJob {
  /** Its number. */
  readonly id: number
  readonly rev: number
}

/** The columns of a report that every job has. */
export type ReportedRow = Pick<
  ReportedJob,
  'id' | 'tenant' | 'queue' | 'type' | 'state' | 'generation' | 'attempt' | 'rev' | 'priority' | 'endedAt'
>

export interface UnfoldedPage {
  readonly account: Account
  readonly entries: readonly WrittenEntry[]
}

/** The entries after `from` up to `to`, as the tables are to have them. */
export interface FoldStep {
  readonly from: number
  readonly to: number
  /** The partition's clock at the last of them. */
  readonly at: number
  readonly image: ImageChange
  readonly report: Report
}

export interface ImagePage {
  readonly account: Account
  readonly pieces: readonly Piece[]
  /** Undefined: there is nothing after it. */
  readonly cursor: string | undefined
}

/** `account`: as it is afterwards, whether this call has moved it or somebody else. */
export interface Moved {
  readonly done: boolean
  readonly account: Account
}

export interface LogPage {
  readonly account: Account
  /** Undefined where the log does not have that head: it is older than what is kept, newer than the ledger's, or of another log. */
  readonly entries: readonly WrittenEntry[] | undefined
}
