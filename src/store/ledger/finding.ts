/** Where a server, the ledger's log and what it is folded into do not say the same. */
export interface Finding {
  /** Which of them is not what the others say. */
  readonly about: 'hot' | 'log' | 'fold'
  readonly what: string
}
