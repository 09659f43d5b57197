import pg from 'pg'
import type { Transaction } from './store/store.ts'

/** Transactions for `ctx.tx`, on connections of their own: a handler that takes its time must not hold up a worker. */
export interface Transactions extends AsyncDisposable {
  run<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

const MOST = 10

/** No connection is opened before the first transaction is wanted. Undefined where the store has none to offer. */
export function transactionsOf(url: string): Transactions | undefined {
  if (!/^postgres(ql)?:/i.test(url)) return undefined
  let pool: pg.Pool | undefined
  return {
    async run(work) {
      pool ??= openPool(url)
      const client = await pool.connect()
      let broken: Error | undefined
      try {
        await client.query('BEGIN')
        const value = await work(client)
        await client.query('COMMIT')
        return value
      } catch (error) {
        await client.query('ROLLBACK').catch((cause: Error) => {
          broken = cause
        })
        throw error
      } finally {
        client.release(broken)
      }
    },
    async [Symbol.asyncDispose]() {
      await pool?.end()
    },
  }
}

function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: MOST })
  // A connection that breaks while nobody uses it is replaced; there is nobody to tell.
  pool.on('error', () => {})
  return pool
}
