/**
 * Strangers beyond the ration of failures: one of them may have a good token, whom the failures of others at the same
 * address, behind the same proxy perhaps, must not keep out. So they are looked up nevertheless, but all together and by
 * one question at a time, whatever their number: the store is as busy with a thousand of them as with a hundred.
 *
 * Modes: idle (nobody waits) and asking (one question is under way; secrets that come meanwhile are in the next).
 */
import type { Token, Tokens } from './token.ts'

/** Secrets in one question. One that comes while as many wait is not looked up, and refused. */
const TOGETHER = 200

export class Strangers {
  readonly #tokens: Pick<Tokens, 'identifyAll'>
  /** Callers that wait, by the secret they showed. */
  #waiting = new Map<string, PromiseWithResolvers<Token | undefined>>()
  #asking = false

  constructor(tokens: Pick<Tokens, 'identifyAll'>) {
    this.#tokens = tokens
  }

  /** The token behind a secret; undefined where there is none, or where nobody has looked. */
  async identify(secret: string): Promise<Token | undefined> {
    const there = this.#waiting.get(secret)
    if (there !== undefined) return await there.promise
    if (this.#waiting.size >= TOGETHER) return undefined
    const own = Promise.withResolvers<Token | undefined>()
    this.#waiting.set(secret, own)
    if (!this.#asking) void this.#ask()
    return await own.promise
  }

  async #ask(): Promise<void> {
    this.#asking = true
    while (this.#waiting.size > 0) {
      const asked = this.#waiting
      this.#waiting = new Map()
      try {
        const tokens = await this.#tokens.identifyAll([...asked.keys()])
        for (const [i, { resolve }] of [...asked.values()].entries()) resolve(tokens[i])
      } catch (error) {
        for (const { reject } of asked.values()) reject(error)
      }
    }
    this.#asking = false
  }
}
