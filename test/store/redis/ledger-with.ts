import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'

/** A ledger of which some questions go another way. */
export const ledgerWith = (ledger: Ledger, other: Partial<Ledger>): Ledger =>
  new Proxy(ledger, {
    get(target, name) {
      const own: unknown = Reflect.get(other, name) ?? Reflect.get(target, name)
      return typeof own === 'function' && !Reflect.has(other, name) ? own.bind(target) : own
    },
  })
