/**
 * 32-bit FNV-1a over UTF-16 code units, with a final avalanche so that neighbouring inputs (attempt 1, attempt 2)
 * land far apart. Not cryptographic: it spreads jitter and tells a repeated request from a reused id.
 */
export function hash32(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i)
    h = Math.imul(h, 0x01000193)
  }
  h ^= h >>> 16
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

/** 64 bits as text: two hashes of the same words under different salts. */
export const digest = (text: string): string =>
  hash32(text).toString(36) + hash32(`${text.length}:${text}`).toString(36)
