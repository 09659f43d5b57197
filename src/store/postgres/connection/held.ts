/** A connection that has a client of the pool from beginning to end; what its session was used for nobody gets back. */
import { assert } from '../../../core/assert.ts'
import { type Client, type Connect, overDriver } from './client.ts'
import { type Lender, Loan } from './pool.ts'

export const heldFrom =
  (lender: Lender): Connect =>
  (): Client => {
    const loan = new Loan(lender)
    let held: Client | undefined
    /** A pool's clients take one statement at a time. */
    let turn: Promise<unknown> = Promise.resolve()
    const client = (): Client => {
      assert(held !== undefined, 'a connection is used once it is there')
      return held
    }
    return {
      get where() {
        return loan.where
      },
      async connect() {
        held = overDriver(await loan.take())
        void held.gone.then(() => loan.end())
      },
      query(question) {
        const answer = turn.then(() => client().query(question))
        turn = answer.catch(() => {})
        return answer
      },
      end: async () => loan.end(),
      destroy: () => loan.end(),
      gone: loan.over,
      heard: (listener) => client().heard(listener),
      noticed: (listener) => client().noticed(listener),
      processId: () => client().processId(),
      traffic: () => held?.traffic() ?? { sent: 0, received: 0, answered: 0 },
      get driver() {
        return client().driver
      },
    }
  }
