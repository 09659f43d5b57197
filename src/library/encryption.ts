/**
 * AES-256-GCM for everything that users write: payloads, results, checkpoints, steps, signals, and the prose of failures,
 * progress and reasons. The store and the gateway see the ciphertext only; `docs/encryption.md` says what stays clear.
 *
 * Tenant, job and the name of the text are bound in as additional data, so that a text which is moved cannot be read where
 * it was put. Keys have ids: the current one writes, all of them read, and a key can be retired once nothing names it.
 *
 * The nonce is made from the text (HMAC with a key of its own), never at random: the same words give the same ciphertext,
 * so repetitions stay recognisable. Every (tenant, job, name) is sealed with a key of its own, so that two texts would have
 * to collide in 96 bits among the few that share one. Lengths are rounded up: what is left of a text's length is its bucket.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { type BodyAbout, type BodyCodec, Undecipherable } from '../engine/body-codec.ts'
import { SEALED } from '../engine/sealed-text.ts'

export interface EncryptionKeys {
  /** 32 bytes each, by id: 1 to 64 letters, digits, `_` and `-`. All of them read. */
  readonly keys: Readonly<Record<string, Uint8Array>>
  /** The id of the key that writes. */
  readonly current: string
  /**
   * What becomes of a text that nobody has encrypted: `refuse` (the default), or `accept`, for as long as there are jobs
   * from before encryption. Whoever owns the store can then put texts of their own in place of any.
   */
  readonly clear?: 'refuse' | 'accept' | undefined
}

interface Pair {
  readonly seal: Buffer
  readonly nonce: Buffer
}

const MARK = 'pawl:1'
/** In other texts: quoted once, twice or not at all, alone or as prose. */
const SEALED_ANYWHERE = /(sealed )?(\\?"|)pawl:1:([A-Za-z0-9_-]{1,64}):[A-Za-z0-9_-]{200,}\2/g
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/

export function aesGcm({ keys, current, clear = 'refuse' }: EncryptionKeys): BodyCodec {
  const pairs = new Map<string, Pair>()
  for (const [id, key] of Object.entries(keys)) {
    if (!KEY_ID.test(id)) throw new Error(`pawl: key id ${id}: letters, digits, _ and -, at most 64.`)
    if (key.byteLength !== KEY_BYTES)
      throw new Error(`pawl: key ${id} has ${key.byteLength} bytes; AES-256 needs ${KEY_BYTES}.`)
    pairs.set(id, { seal: derived(key, 'seal'), nonce: derived(key, 'nonce') })
  }
  const writing = pairs.get(current)
  if (writing === undefined) throw new Error(`pawl: there is no key ${current} to write with.`)
  const others = [...pairs].filter(([id]) => id !== current)
  return {
    ...encoderWith(current, writing),
    decode: (text, about) => opened(pairs, text, about, clear),
    formerly: others.map(([id, pair]) => encoderWith(id, pair)),
  }
}

/** For people who have no keys: what is encrypted says so, and with which key, instead of filling the screen. */
export const withoutCiphertext = (text: string): string =>
  text.replaceAll(SEALED_ANYWHERE, (_, prose: string | undefined, quote: string, key: string) => {
    const label = `(encrypted, key ${key})`
    return prose === undefined ? quote + label + quote : label
  })

/** One key for each purpose: what seals never makes nonces. */
const derived = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, new Uint8Array(), `pawl body ${purpose}`, KEY_BYTES))

const encoderWith = (id: string, pair: Pair): Pick<BodyCodec, 'encode'> => ({
  encode: (text, about) => JSON.stringify(`${MARK}:${id}:${seal(pair, text, about).toString('base64url')}`),
})

function seal(pair: Pair, text: string, about: BodyAbout): Buffer {
  const bound = additional(about)
  const plain = padded(text)
  const nonce = hmac(pair.nonce, bound, plain).subarray(0, NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', hmac(pair.seal, bound), nonce).setAAD(bound)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

function opened(pairs: ReadonlyMap<string, Pair>, text: string, about: BodyAbout, clear: 'refuse' | 'accept'): string {
  const match = SEALED.exec(text)
  if (match === null) {
    if (clear === 'accept') return text
    throw new Undecipherable(
      `${placeOf(about)} is not encrypted: whoever wrote it had no keys. Give them to every process that writes, or say clear: 'accept' for as long as there are jobs from before.`,
    )
  }
  const [, id = '', sealed = ''] = match
  const pair = pairs.get(id)
  if (pair === undefined) {
    throw new Undecipherable(
      `${placeOf(about)} was written with key ${id}, which this process does not have. Add it to keys: one that no longer writes must stay there as long as jobs name it.`,
    )
  }
  const bytes = Buffer.from(sealed, 'base64url')
  try {
    const bound = additional(about)
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', hmac(pair.seal, bound), nonce, { authTagLength: TAG_BYTES })
      .setAAD(bound)
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    return unpadded(Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]))
  } catch {
    throw new Undecipherable(
      `${placeOf(about)} cannot be read with key ${id}: it was written for another place, it was altered, or the key is not the one that had this id then.`,
    )
  }
}

const placeOf = ({ body, job }: BodyAbout): string => `The text ${body} of job ${job}`

const additional = ({ tenant, job, body }: BodyAbout): Buffer => Buffer.from(JSON.stringify([tenant, job, body]))

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  const hash = createHmac('sha256', key)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Before the text: how it is written, and how long it is. */
const HEAD_BYTES = 5
const UTF_8 = 0
/** So that a lone surrogate comes back as it went in. */
const UTF_16 = 1

function padded(text: string): Buffer {
  const wellFormed = text.isWellFormed()
  const bytes = Buffer.from(text, wellFormed ? 'utf8' : 'utf16le')
  const plain = Buffer.alloc(bucketOf(HEAD_BYTES + bytes.length))
  plain.writeUInt8(wellFormed ? UTF_8 : UTF_16)
  plain.writeUInt32LE(bytes.length, 1)
  bytes.copy(plain, HEAD_BYTES)
  return plain
}

function unpadded(plain: Buffer): string {
  const bytes = plain.subarray(HEAD_BYTES, HEAD_BYTES + plain.readUInt32LE(1))
  return bytes.toString(plain.readUInt8() === UTF_8 ? 'utf8' : 'utf16le')
}

const SMALLEST_BUCKET = 128

/**
 * The length that stands for this one: 128 bytes for all that is short; above, lengths whose last bits are zero, fewer the
 * longer the text is, so that at most an eighth is added and a length tells how long a text is only to about that
 * (the scheme is known as Padmé). Powers of two would tell less, and double a text at worst.
 */
export function bucketOf(bytes: number): number {
  if (bytes <= SMALLEST_BUCKET) return SMALLEST_BUCKET
  const exponent = Math.floor(Math.log2(bytes))
  const step = 2 ** (exponent - Math.floor(Math.log2(exponent)) - 1)
  return Math.ceil(bytes / step) * step
}
