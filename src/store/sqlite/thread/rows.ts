/** Rows as lists, which is how every statement here returns them. `Selected` says what a statement selects, where the caller knows it. */
import type { StatementSync } from 'node:sqlite'

export type Cell = string | number | null
export type Row = readonly Cell[]

export function one(statement: StatementSync, ...values: Cell[]): Row | undefined {
  const row: unknown = statement.get(...values)
  return row as Row | undefined
}

export function all<Selected extends readonly unknown[] = Row>(
  statement: StatementSync,
  ...values: Cell[]
): readonly Selected[] {
  const rows: unknown = statement.all(...values)
  return rows as readonly Selected[]
}
