/** A connection that has a client of the pool only while it asks something. */
import { type Client, type Connect, type Question, socketOf } from './client.ts'
import { type Lender, Loan } from './pool.ts'
import { isLost } from './trouble.ts'

export const lentBy =
  (lender: Lender): Connect =>
  (): Client => {
    const loan = new Loan(lender)
    let sent = 0
    let answered = 0
    let received = 0
    /** Bytes that the socket had read when the statement was sent. */
    let from = 0
    const since = () => (loan.client === undefined ? 0 : socketOf(loan.client).bytesRead - from)

    const giveBack = (how: 'as it was' | 'ended') => {
      received += since()
      answered = sent
      loan.giveBack(how)
    }

    /** One statement at a time: `Link` does not pipeline over a client that is lent. */
    const query = async (question: Question) => {
      const client = await loan.take()
      sent += 1
      from = socketOf(client).bytesRead
      try {
        const answer = await client.query(question)
        giveBack('as it was')
        return answer
      } catch (error) {
        giveBack(isLost(error) ? 'ended' : 'as it was')
        throw error
      }
    }

    return {
      get where() {
        return loan.where
      },
      connect: async () => {},
      query,
      end: async () => loan.end(),
      destroy: () => loan.end(),
      gone: loan.over,
      heard: () => {},
      noticed: () => {},
      processId: () => null,
      traffic: () => ({ sent, answered, received: received + since() }),
      get driver(): never {
        throw new Error('pawl: a client that is lent for a statement cannot have a transaction')
      },
    }
  }
