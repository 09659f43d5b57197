import type { ClaimedRows, ClaimedRun } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import { one } from './rows.ts'

/** The jobs of a claim on their way to the main thread: what neighbours share is said once. */
export class ClaimedJobs {
  readonly #ledger: Ledger
  readonly #runs: number[] = []
  readonly #jobs: (number | string | null)[] = []
  #last: ClaimedRun | undefined
  #leftBytes: number
  count = 0
  /** When the first of their leases ends. */
  firstEnd = Number.POSITIVE_INFINITY

  constructor(ledger: Ledger, maxInputBytes: number) {
    this.#ledger = ledger
    this.#leftBytes = maxInputBytes
  }

  get answer(): ClaimedRows {
    return { runs: this.#runs, jobs: this.#jobs }
  }

  /** To be followed by its input. */
  add(run: ClaimedRun, id: number, at: number, head: string | null, record: string | null): void {
    if (this.#last === undefined || !isSame(run, this.#last)) {
      this.#runs.push(0, ...run)
      this.#last = run
      this.#ledger.kinds.tell(run[0])
      this.firstEnd = Math.min(this.firstEnd, run[4])
    }
    const counted = this.#runs.length - WIDTH
    this.#runs[counted] = (this.#runs[counted] ?? 0) + 1
    this.#jobs.push(id, at, head, record)
    this.count += 1
  }

  /** Inputs ride along while there is room; the others are loaded when their turn comes. A big one is not at hand. */
  addInput(id: number, bytes: number | null, input: string | null): void {
    if (bytes === null || bytes > this.#leftBytes) {
      this.#jobs.push(null)
      return
    }
    this.#leftBytes -= bytes
    this.#jobs.push(input ?? (one(this.#ledger.sql.input, id)?.[0] as string | null) ?? null)
  }
}

const WIDTH = 7

const isSame = (a: ClaimedRun, b: ClaimedRun): boolean =>
  a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3] && a[4] === b[4] && a[5] === b[5]
