/**
 * AES-256-GCM for bodies: payloads, results, errors, checkpoints, steps and signals. The store and the gateway see the
 * ciphertext only. Tenant and job are bound in as additional data, so a text that is moved to another job cannot be
 * read there. Keys have ids: the current one writes, all of them read, and a key can be retired once nothing names it.
 *
 * The nonce is made from the text itself (HMAC with a key of its own), never at random: the same words for the same
 * job give the same ciphertext, so repetitions stay recognisable, and no two different texts ever share a nonce.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { BodyAbout, BodyCodec } from './engine/body-codec.ts'

export interface EncryptionKeys {
  /** 32 bytes each, by id. */
  readonly keys: Readonly<Record<string, Uint8Array>>
  /** The id of the key that writes. */
  readonly current: string
}

interface Pair {
  readonly seal: Buffer
  readonly nonce: Buffer
}

const MARK = 'pawl:1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/

/** A body that is not ours to read: of another job, altered, or written with a key we do not have. */
export class Undecipherable extends Error {
  override readonly name = 'Undecipherable'
}

export function aesGcm({ keys, current }: EncryptionKeys): BodyCodec {
  const pairs = new Map<string, Pair>()
  for (const [id, key] of Object.entries(keys)) {
    if (!KEY_ID.test(id)) throw new Error(`pawl: key id ${id}: letters, digits, _ and -, at most 64.`)
    if (key.byteLength !== KEY_BYTES)
      throw new Error(`pawl: key ${id} has ${key.byteLength} bytes; AES-256 needs ${KEY_BYTES}.`)
    pairs.set(id, { seal: derived(key, 'seal'), nonce: derived(key, 'nonce') })
  }
  const writing = pairs.get(current)
  if (writing === undefined) throw new Error(`pawl: there is no key ${current} to write with.`)
  return {
    encode: (text, about) => JSON.stringify(`${MARK}:${current}:${seal(writing, text, about).toString('base64url')}`),
    decode: (text, about) => opened(pairs, text, about),
  }
}

/** One key for each purpose: what seals never makes nonces. */
const derived = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, new Uint8Array(), `pawl body ${purpose}`, KEY_BYTES))

function seal(pair: Pair, text: string, about: BodyAbout): Buffer {
  const nonce = nonceOf(pair, text, about)
  const cipher = createCipheriv('aes-256-gcm', pair.seal, nonce).setAAD(additional(about))
  // UTF-16, so that a lone surrogate comes back as it went in.
  const sealed = Buffer.concat([cipher.update(Buffer.from(text, 'utf16le')), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

function opened(pairs: ReadonlyMap<string, Pair>, text: string, about: BodyAbout): string {
  const match = /^"pawl:1:([A-Za-z0-9_-]{1,64}):([A-Za-z0-9_-]+)"$/.exec(text)
  if (match === null) throw new Undecipherable('The body is not encrypted, or not by pawl.')
  const [, id = '', sealed = ''] = match
  const pair = pairs.get(id)
  if (pair === undefined) throw new Undecipherable(`The body was written with key ${id}, which is not here.`)
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(0, NONCE_BYTES)
  try {
    const decipher = createDecipheriv('aes-256-gcm', pair.seal, nonce, { authTagLength: TAG_BYTES })
      .setAAD(additional(about))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    const read = plain.toString('utf16le')
    if (!timingSafeEqual(nonce, nonceOf(pair, read, about))) throw new Error('nonce')
    return read
  } catch {
    throw new Undecipherable(`The body does not belong to job ${about.job}, or was altered.`)
  }
}

const additional = ({ tenant, job }: BodyAbout): Buffer => Buffer.from(JSON.stringify([tenant, job]))

const nonceOf = ({ nonce }: Pair, text: string, about: BodyAbout): Buffer =>
  createHmac('sha256', nonce)
    .update(additional(about))
    .update(Buffer.from(text, 'utf16le'))
    .digest()
    .subarray(0, NONCE_BYTES)
