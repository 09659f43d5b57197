import pg from 'pg'
import type { OpenTransaction } from '../../../src/store/conformance/conformance.ts'

/** A transaction of somebody who knows nothing of pawl. */
export async function openTransaction(url: string): Promise<OpenTransaction> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  const end = async (word: 'commit' | 'rollback') => {
    await client.query(word)
    await client.end()
  }
  return { tx: client, commit: () => end('commit'), rollback: () => end('rollback') }
}
