/** When an answer may be given: the acknowledgement. */
import type { Account } from './account.ts'
import type { Head } from './entry.ts'
import type { LogView } from './shipment.ts'

/**
 * `never` is a fact: what is not in the ledger by then will not be, so its caller may be told that nothing was done, and the store may
 * do it again. `forgotten`: the ledger's log does not reach back to the call any more, so nobody can say.
 */
export type Fate = 'there' | 'never' | 'forgotten' | 'open'

/** What a call waits for: its own entry, or the head that its script saw. */
export interface Awaited {
  /** That the call was sent with. */
  readonly epoch: number
  readonly name: string
  /** Undefined: no answer came, and the entry may be anywhere or nowhere. */
  readonly seq: number | undefined
  /** The ledger's head, as far as it was known when the call began: what the call has written comes after it, or to nothing. */
  readonly looked: Head
}

/** The ledger's account and its log, of one moment. Names are known from the entry before the first that is kept. */
export interface LedgerView {
  readonly account: Account
  readonly nameAt: (seq: number) => string | undefined
  readonly has: (name: string) => boolean
}

export function fateOf({ epoch, name, seq, looked }: Awaited, { account, nameAt, has }: LedgerView): Fate {
  // By name: the ledger may have come to this number with something else.
  if (seq === undefined ? has(name) : nameAt(seq) === name) return 'there'
  // Entries are taken from the epoch of the account only, and no server keeps one into the next that the ledger has not.
  if (account.epoch <= epoch) return 'open'
  return looked.seq + 1 < account.keptFrom ? 'forgotten' : 'never'
}

/** Whether there is nothing on the server that could be shipped. What became of an open call, only a later epoch decides then. */
export const isLost = ({ name }: Awaited, { entries }: LogView): boolean =>
  !entries.some((entry) => entry.name === name)

/**
 * Whether what a script saw and did not change may be told. It must be in the ledger, and the server must not have been behind the
 * ledger when the call began: its `looked` must have been asked for since then. Because a server that went back tells what was true
 * once: a key as taken whose job has ended, a token as good that was revoked.
 */
export function tellingOf(seen: Awaited & Head, ledger: LedgerView): 'tell' | 'wait' | 'again' {
  const fate = fateOf(seen, ledger)
  if (fate === 'open') return 'wait'
  return fate === 'there' && seen.seq >= seen.looked.seq ? 'tell' : 'again'
}
