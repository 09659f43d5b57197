/** Rows as lists, which is how every statement here returns them. */
import type { StatementSync } from 'node:sqlite'

export type Cell = string | number | null
export type Row = readonly Cell[]

export function one(statement: StatementSync, ...values: Cell[]): Row | undefined {
  const row: unknown = statement.get(...values)
  return row as Row | undefined
}

export function all(statement: StatementSync, ...values: Cell[]): readonly Row[] {
  const rows: unknown = statement.all(...values)
  return rows as readonly Row[]
}
