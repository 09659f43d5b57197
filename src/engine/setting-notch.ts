import type { Setting, SettingOperation, Store } from '../store/store.ts'
import { sha256 } from '../system/digest.ts'
import type { Notch } from './duty.ts'

/**
 * The notch of a round, as a setting: for upkeep that comes once a minute. (Once a second it would be a row with as many dead versions as
 * a snapshot, held open elsewhere, has seconds.) Processes that were told other things have notches of their own: each kind
 * of round must be done by somebody.
 */
export class SettingNotch {
  readonly #store: Pick<Store, 'settings'>
  readonly #key: string
  #ownRev: number | undefined

  constructor(store: Pick<Store, 'settings'>, name: string, told: unknown) {
    this.#store = store
    this.#key = `${name}/${sha256(JSON.stringify(told))}`
  }

  async last(): Promise<Notch> {
    const { now, setting } = await this.#do({ op: 'get', collection: 'duty', key: this.#key })
    return { now, at: setting?.updatedAt ?? Number.NEGATIVE_INFINITY, isOwn: setting?.rev === this.#ownRev }
  }

  async leave(): Promise<void> {
    const { setting } = await this.#do({ op: 'put', collection: 'duty', key: this.#key, text: '{}', rev: undefined })
    this.#ownRev = setting?.rev
  }

  async #do(operation: SettingOperation): Promise<{ readonly now: number; readonly setting: Setting | undefined }> {
    const [answer] = await this.#store.settings([operation])
    return { now: answer?.now ?? 0, setting: answer?.settings[0] }
  }
}
