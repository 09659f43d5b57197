/** Statements in a transaction of the caller's, whose client may be any. */
import type { Transaction } from '../../store.ts'
import type { Run } from '../names/kinds.ts'
import type { Row } from './client.ts'
import { isNumbered, type Statements } from './statements.ts'

export interface InCallers {
  readonly run: Run
  /** The number of the transaction, once something was written in it. */
  transaction(): string | undefined
}

export function inCallers(tx: Transaction, { inCallers: texts }: Pick<Statements, 'inCallers'>): InCallers {
  let transaction: string | undefined
  return {
    async run(text, values) {
      const theirs = texts.get(text) ?? text
      const answer = await tx.query(theirs, values)
      const rows = answer.rows.map(rowOf)
      const number = isNumbered(theirs) ? rows[0]?.at(-1) : undefined
      if (typeof number === 'string') transaction = number
      return rows
    },
    transaction: () => transaction,
  }
}

/** The caller's client may answer with objects: their members come in the order in which the statement names its columns. */
const rowOf = (row: unknown): Row => Object.values(row as object).map(cellOf)

function cellOf(value: unknown): Row[number] {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  return typeof value === 'bigint' ? Number(value) : JSON.stringify(value)
}
