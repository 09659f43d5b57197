import { setTimeout as pause } from 'node:timers/promises'
import type { OpenTransaction, Setup, Subject } from '../../../src/store/conformance/conformance.ts'
import type { Store } from '../../../src/store/store.ts'

export interface RealStores {
  readonly open: () => Promise<Store>
  readonly transaction?: () => Promise<OpenTransaction>
  readonly setClock?: (byMs: number) => Promise<void>
}

/** Setups on stores that run by the clock of a real machine, which can only be waited for. */
export class RealSetups implements AsyncDisposable {
  readonly #stores: RealStores
  /** Open, and shared by all cases that do not ask for one of their own: opening costs more than most of them do. */
  #shared: Promise<Store> | undefined
  #second: Promise<Store> | undefined

  constructor(stores: RealStores) {
    this.#stores = stores
  }

  readonly open: Subject['open'] = async ({ fresh }) => (fresh ? this.#fresh() : this.#sharing())

  async [Symbol.asyncDispose](): Promise<void> {
    const stores = await Promise.all([this.#shared, this.#second])
    await Promise.all(stores.map((store) => store?.close()))
  }

  async #sharing(): Promise<Setup> {
    this.#shared ??= this.#stores.open()
    const another = async () => {
      this.#second ??= this.#stores.open()
      return this.#second
    }
    return { store: await this.#shared, another, ...this.#always(), close: async () => {} }
  }

  async #fresh(): Promise<Setup> {
    const store = await this.#stores.open()
    const stores = [store]
    const reopen = async () => {
      await store.close()
      const next = await this.#stores.open()
      stores.push(next)
      return next
    }
    const close = async () => {
      await Promise.all(stores.map((each) => each.close()))
    }
    const another = async () => {
      const next = await this.#stores.open()
      stores.push(next)
      return next
    }
    return { store, reopen, another, ...this.#always(), close }
  }

  #always(): Pick<Setup, 'advance' | 'transaction' | 'setClock'> {
    const { transaction, setClock } = this.#stores
    return { advance, ...(transaction && { transaction }), ...(setClock && { setClock }) }
  }
}

/** A timer may fire a little early; the store's clock must have passed. */
async function advance(ms: number): Promise<void> {
  const until = performance.now() + ms
  for (let leftMs = ms; leftMs > 0; leftMs = until - performance.now()) await pause(Math.ceil(leftMs) + 1)
}
