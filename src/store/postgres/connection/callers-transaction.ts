/**
 * A transaction that a caller brings must be one: what is written through a pool, or through a client on which nobody has
 * said `begin`, is committed at once, and stays when the caller rolls back. A `pg` client knows whether a transaction is open
 * on it, and is asked each time, at no cost. Of anything else the database is asked, once per object: wrappers are made per
 * transaction. (`begin` may be on its way: a client that knows of none is not refused before the database was asked.)
 */
import type { Transaction } from '../../store.ts'
import { statusOf } from './over.ts'

/** The `tx` that a caller brought is not in a transaction. Nothing was written. */
export class NoTransaction extends Error {
  override readonly name = 'NoTransaction'
  readonly code = 'NO_TRANSACTION'
}

export class CallersTransactions {
  /** Fails where no transaction is open, and only there; takes no lock that an insert does not take. */
  readonly #question: string
  readonly #known = new WeakSet<Transaction>()

  constructor(question: string) {
    this.#question = question
  }

  async mustBeOpen(tx: Transaction): Promise<void> {
    const status = statusOf(tx)
    if (status === 'T' || (status === undefined && this.#known.has(tx))) return
    const answer: unknown = await tx.query(this.#question, []).catch((error: unknown) => {
      if (!saysNone(error)) throw error
      throw new NoTransaction(
        'pawl: no transaction is open on the tx that was handed over, so the job would stay although you roll back. Say begin on this very client first; a pool is none.',
      )
    })
    if (typeof answer !== 'object' || answer === null || !('rows' in answer) || !Array.isArray(answer.rows)) {
      throw new NoTransaction(
        'pawl: query(text, values) of a tx must resolve to { rows }, as that of a pg client does.',
      )
    }
    this.#known.add(tx)
  }
}

const NOT_IN_TRANSACTION = '25P01'

/** Libraries wrap what the server said: the code is where they keep the cause, or in their words. */
function saysNone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const hasCode = 'code' in error && error.code === NOT_IN_TRANSACTION
  return hasCode || error.message.includes(NOT_IN_TRANSACTION) || saysNone(error.cause)
}
