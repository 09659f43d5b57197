import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'

const never = () => Promise.reject(new Error('there is no ledger'))

/** A ledger that fails whatever it is asked. */
export const noLedger: Ledger = new Proxy({} as Ledger, {
  get: (_, name) => (name === Symbol.asyncDispose ? () => Promise.resolve() : never),
})
