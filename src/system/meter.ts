/** What a store counts of itself, for a collector. */
export interface Meter {
  add(name: StoreMetric, value: number, labels: Readonly<Record<string, string>>): void
}

export type StoreMetric =
  | 'pawl_ledger_joins_total'
  | 'pawl_ledger_loads_total'
  | 'pawl_ledger_refused_appends_total'
  | 'pawl_script_errors_total'

export const noMeter: Meter = { add: () => {} }

/** Where a store stands that keeps its log elsewhere. */
export interface LedgerStanding {
  /** Entries of the log that the server itself still has. */
  readonly logged: number
  /** Entries that the ledger has not taken yet, and how long the first of them has waited. */
  readonly unshipped: number
  readonly unshippedMs: number
  /** Entries that the ledger has, and its tables have not. */
  readonly unfolded: number
}

/** What can be asked of a store that keeps its log elsewhere. */
export interface LedgerDesk {
  standing(): Promise<LedgerStanding>
  /** Where the store, its log and what that was folded into do not say the same. `told`: how much was compared so far. */
  compared(
    told: (pieces: number) => void,
  ): Promise<readonly { readonly about: 'hot' | 'log' | 'fold'; readonly what: string }[]>
}
