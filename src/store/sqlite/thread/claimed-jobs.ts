import { assert } from '../../../core/assert.ts'
import type { ClaimedRows, ClaimedRun } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import { one } from './rows.ts'

/** The jobs of a claim on their way to the main thread: what neighbours share is said once. */
export class ClaimedJobs {
  readonly #ledger: Ledger
  readonly #runs: { run: ClaimedRun; count: number }[] = []
  readonly #jobs: (number | string | null)[] = []
  readonly #keys = new Map<number, ClaimedRows['keys'][number]>()
  #leftBytes: number
  count = 0
  /** When the first of their leases ends. */
  firstEnd = Number.POSITIVE_INFINITY

  constructor(ledger: Ledger, maxInputBytes: number) {
    this.#ledger = ledger
    this.#leftBytes = maxInputBytes
  }

  get answer(): ClaimedRows {
    return { runs: this.#runs, jobs: this.#jobs, keys: [...this.#keys.values()] }
  }

  /** Adds a job, in the order of `CLAIMED`; its input is to follow. */
  add(run: ClaimedRun, id: number, at: number, head: string | null, record: string | null): void {
    const last = this.#runs.at(-1)
    if (last !== undefined && isSame(run, last.run)) last.count += 1
    else {
      this.#runs.push({ run, count: 1 })
      this.#ledger.kinds.tell(run.kind)
      this.firstEnd = Math.min(this.firstEnd, run.expiresAt)
    }
    this.#jobs.push(id, at, head, record)
    this.count += 1
  }

  /** The keys that a job has a slot of. */
  addKeys(keys: readonly number[]): void {
    for (const key of keys) {
      if (this.#keys.has(key)) continue
      const row = one(this.#ledger.sql.keyText, key)
      assert(row !== undefined, 'a slot is of a key')
      this.#keys.set(key, row as ClaimedRows['keys'][number] & typeof row)
    }
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

const isSame = (a: ClaimedRun, b: ClaimedRun): boolean =>
  a.kind === b.kind &&
  a.priority === b.priority &&
  a.rev === b.rev &&
  a.attempt === b.attempt &&
  a.expiresAt === b.expiresAt &&
  a.at === b.at
