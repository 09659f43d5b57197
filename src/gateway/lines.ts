/**
 * Who waits, each in the line of its own token. Tenants take turns, and within a tenant its tokens: a tenant that makes a hundred
 * tokens has a hundred lines, and no more turns for that.
 */
import { originOf, type Token } from './token.ts'

/** The token and tenant that wait. */
export type Holder = Pick<Token, 'id' | 'of' | 'tenant'>

export class Lines<Waiting> {
  /** Lines that are not empty, by tenant and token; the one whose turn it is comes first. */
  readonly #tenants = new Map<string, Map<string, Waiting[]>>()

  get isEmpty(): boolean {
    return this.#tenants.size === 0
  }

  /** The first in line of the token whose turn it is. */
  get first(): Waiting | undefined {
    const [tokens] = this.#tenants.values()
    const [line] = tokens?.values() ?? []
    return line?.[0]
  }

  lengthOf(holder: Holder): number {
    return this.#tenants.get(holder.tenant)?.get(originOf(holder))?.length ?? 0
  }

  add(holder: Holder, waiting: Waiting): void {
    const { tenant } = holder
    const id = originOf(holder)
    const tokens = this.#tenants.get(tenant) ?? new Map<string, Waiting[]>()
    const line = tokens.get(id) ?? []
    this.#tenants.set(tenant, tokens.set(id, line))
    line.push(waiting)
  }

  /** Takes out whose turn it is; its token and its tenant are next when all others have been. */
  shift(): Waiting | undefined {
    const [next] = this.#tenants
    if (next === undefined) return undefined
    const [tenant, tokens] = next
    const [[id, line] = ['', []]] = tokens
    const waiting = line.shift()
    tokens.delete(id)
    if (line.length > 0) tokens.set(id, line)
    this.#tenants.delete(tenant)
    if (tokens.size > 0) this.#tenants.set(tenant, tokens)
    return waiting
  }
}
