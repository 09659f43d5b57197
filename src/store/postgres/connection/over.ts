/** When a transaction of a caller's is over, where its client tells: one of `pg` does. */
import type { Transaction } from '../../store.ts'

/** What is used of a `pg` client. `drain`: it has answered whatever it was asked. */
interface Telling extends Transaction {
  getTransactionStatus(): unknown
  on(event: 'drain', listener: () => void): unknown
  off(event: 'drain', listener: () => void): unknown
}

/** The status that came with the server's last answer: `I` idle, `T` in a transaction, `E` in one that has failed. */
export const statusOf = (tx: Transaction): unknown =>
  'getTransactionStatus' in tx && typeof tx.getTransactionStatus === 'function' ? tx.getTransactionStatus() : undefined

const isTelling = (tx: Transaction): tx is Telling =>
  statusOf(tx) !== undefined &&
  ['on', 'off'].every((name) => name in tx && typeof tx[name as keyof typeof tx] === 'function')

/** Calls `over` once when the transaction that is open on it has ended. Undefined where nobody tells of that. */
export function whenOver(tx: Transaction, over: () => void): Disposable | undefined {
  if (!isTelling(tx)) return undefined
  const stop = () => tx.off('drain', heard)
  const heard = () => {
    if (statusOf(tx) !== 'I') return
    stop()
    over()
  }
  tx.on('drain', heard)
  return { [Symbol.dispose]: stop }
}
