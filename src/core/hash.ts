/**
 * 32-bit FNV-1a over UTF-16 code units, with a final avalanche so that neighbouring inputs (attempt 1, attempt 2)
 * land far apart. Not cryptographic: it spreads jitter and tells a repeated request from a reused id.
 */
export const hash32 = (text: string): number => avalanche(mixed(BASIS, text))

const BASIS = 0x811c9dc5
const PRIME = 0x01000193

function mixed(from: number, text: string): number {
  let h = from
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), PRIME)
  return h
}

function avalanche(mixture: number): number {
  let h = mixture ^ (mixture >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  h ^= h >>> 16
  return h >>> 0
}

/** As many bits as a JavaScript number counts exactly: two hashes of the same words under different salts. */
export const hash53 = (text: string): number =>
  hash32(text) + (hash32(`${text.length}:${text}`) & 0x1f_ffff) * 0x1_0000_0000

/** In [0, 1). */
export const fraction = (text: string): number => hash32(text) / 0x1_0000_0000

/** 64 bits as text: two hashes of the same words under different salts, in one walk: texts are long, and copied if anything is put before them. */
export function digest(text: string): string {
  let plain = BASIS
  let salted = mixed(BASIS, `${text.length}:`)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    plain = Math.imul(plain ^ unit, PRIME)
    salted = Math.imul(salted ^ unit, PRIME)
  }
  return avalanche(plain).toString(36) + avalanche(salted).toString(36)
}
