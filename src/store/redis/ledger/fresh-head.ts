import type { Account } from '../../ledger/account.ts'
import type { Head } from '../../ledger/entry.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'

/** The ledger's head, asked for after its caller asked: those who come while one question is under way share the next. */
export class FreshHead {
  readonly #ledger: Pick<Ledger, 'account'>
  readonly #heard: (account: Account) => void
  #underWay: Promise<unknown> = Promise.resolve()
  #next: Promise<Head> | undefined

  constructor(ledger: Pick<Ledger, 'account'>, heard: (account: Account) => void) {
    this.#ledger = ledger
    this.#heard = heard
  }

  head(): Promise<Head> {
    this.#next ??= this.#ask()
    return this.#next
  }

  async #ask(): Promise<Head> {
    await this.#underWay
    this.#next = undefined
    const asked = this.#ledger.account()
    this.#underWay = asked.catch(() => {})
    const account = await asked
    this.#heard(account)
    return account.head
  }
}
