/**
 * Positions of the feed as they are told outside: enciphered. The feed is one for all tenants, so the bare numbers would
 * tell each of them how much the others do. The key is the installation's, kept with its settings: what one gateway has
 * told, every other understands.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Engine } from '../engine/engine.ts'
import type { Random } from '../system/random.ts'

const CIPHER = 'aes-128-ecb'
const KEY_BYTES = 16
const AT = { collection: 'ids', key: 'positions' } as const
/** The second number of a position is far smaller than this: what was made up hardly ever deciphers to one that is. */
const SECOND_BELOW = 2n ** 40n
const FIRST_BELOW = 2n ** 53n

export class Positions {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Positions enciphered with the installation's key, which the first gateway makes. */
  static async of(engine: Engine, random: Random): Promise<Positions> {
    const made = JSON.stringify({ key: random.secret() })
    // A gateway that comes second is answered with the key that is there.
    const [answer] = await engine.settings([{ op: 'put', ...AT, text: made, rev: 0 }])
    const { key } = JSON.parse(answer?.settings[0]?.text ?? made) as { readonly key: string }
    return new Positions(Buffer.from(key, 'base64url').subarray(0, KEY_BYTES))
  }

  seal(position: string): string {
    const [first = '0', second] = position.split('.')
    const block = Buffer.alloc(16)
    block.writeBigUInt64BE(BigInt(first), 0)
    // The second number is written as one more than it is: 0 says that there is none.
    block.writeBigUInt64BE(second === undefined ? 0n : BigInt(second) + 1n, 8)
    return this.#through(createCipheriv(CIPHER, this.#key, null), block).toString('base64url')
  }

  /** The position that was told as this text; undefined where none was. */
  open(text: string): string | undefined {
    const block = Buffer.from(text, 'base64url')
    if (block.length !== 16 || block.toString('base64url') !== text) return undefined
    const plain = this.#through(createDecipheriv(CIPHER, this.#key, null), block)
    const first = plain.readBigUInt64BE(0)
    const second = plain.readBigUInt64BE(8)
    if (first >= FIRST_BELOW || second >= SECOND_BELOW) return undefined
    return second === 0n ? String(first) : `${first}.${second - 1n}`
  }

  #through(cipher: ReturnType<typeof createCipheriv> | ReturnType<typeof createDecipheriv>, block: Buffer): Buffer {
    cipher.setAutoPadding(false)
    return Buffer.concat([cipher.update(block), cipher.final()])
  }
}
