import type { Head } from '../../ledger/entry.ts'
import type { Ledger } from '../../ledger/ledger-port.ts'

/** The ledger's head, asked for after its caller asked: those who come while one question is under way share the next. */
export class FreshHead {
  readonly #ledger: Pick<Ledger, 'account'>
  #underWay: Promise<unknown> = Promise.resolve()
  #next: Promise<Head> | undefined

  constructor(ledger: Pick<Ledger, 'account'>) {
    this.#ledger = ledger
  }

  head(): Promise<Head> {
    this.#next ??= this.#ask()
    return this.#next
  }

  async #ask(): Promise<Head> {
    await this.#underWay
    this.#next = undefined
    const account = this.#ledger.account()
    this.#underWay = account.catch(() => {})
    return (await account).head
  }
}
