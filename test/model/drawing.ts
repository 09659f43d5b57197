/** Below `most`. */
export type Draw = (most: number) => number

/** The same numbers for the same seed. */
export function drawing(seed: number): Draw {
  let state = seed * 2_654_435_769
  return (most) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * most)
  }
}
