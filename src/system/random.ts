import { randomBytes, randomUUID } from 'node:crypto'

/** Unguessable bits, read in one place. */
export interface Random {
  /** 64 random bits as 16 lower-case hexadecimal digits: the nonce of a fence. */
  hex64(): string
  /** A version 4 UUID: names for requests. */
  uuid(): string
  /** 256 random bits as 43 characters that fit into a URL: what a token keeps secret. */
  secret(): string
}

export const realRandom: Random = {
  hex64: nextHex64,
  uuid: () => randomUUID(),
  secret: () => randomBytes(32).toString('base64url'),
}

/** From 0 to just below 1, for pauses that should not be alike. */
export const fractionOf = (random: Random): number => Number.parseInt(random.hex64().slice(0, 8), 16) / 2 ** 32

/** One call to the kernel's generator serves this many nonces: a syscall each would show in a drain. */
const NONCES_PER_REFILL = 128
const BYTES_PER_NONCE = 8

let pool = Buffer.alloc(0)
let used = 0

function nextHex64(): string {
  if (used === pool.length) {
    pool = randomBytes(NONCES_PER_REFILL * BYTES_PER_NONCE)
    used = 0
  }
  const text = pool.toString('hex', used, used + BYTES_PER_NONCE)
  // A nonce that has been handed out leaves no trace in memory that a later reader could find.
  pool.fill(0, used, used + BYTES_PER_NONCE)
  used += BYTES_PER_NONCE
  return text
}
