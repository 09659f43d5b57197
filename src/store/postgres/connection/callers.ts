/** Statements in a transaction of the caller's, whose client may be any. */
import type { Transaction } from '../../store.ts'
import type { Run } from '../names/kinds.ts'
import type { Row } from './client.ts'
import type { Statements } from './statements.ts'

/** The caller's client may answer with objects: their members come in the order in which the statement names its columns. */
export const runIn =
  (tx: Transaction, { inCallers }: Pick<Statements, 'inCallers'>): Run =>
  async (text, values) => {
    const { rows } = await tx.query(inCallers.get(text) ?? text, values)
    return rows.map((row) => Object.values(row as object).map(cellOf)) as Row[]
  }

function cellOf(value: unknown): Row[number] {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  return typeof value === 'bigint' ? Number(value) : JSON.stringify(value)
}
