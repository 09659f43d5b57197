/**
 * Packed states, each once, with the state it was first reached from. Whole states are compared, not fingerprints:
 * two different states are never taken for one.
 */
export class StateSet {
  readonly #width: number
  #words: Uint32Array
  #parents: Uint32Array
  /** Open addressing: index + 1 of the state, 0 where there is none. At most half full. */
  #table = new Uint32Array(1 << 16)
  size = 0

  constructor(width: number) {
    this.#width = width
    this.#words = new Uint32Array(width << 15)
    this.#parents = new Uint32Array(1 << 15)
  }

  /** False: it was there. */
  add(state: readonly number[], parent: number): boolean {
    const place = this.#find(state)
    if (this.#table[place] !== 0) return false
    if (this.size === this.#parents.length) this.#grow()
    this.#words.set(state, this.size * this.#width)
    this.#parents[this.size] = parent
    this.size += 1
    this.#table[place] = this.size
    if (this.size * 2 > this.#table.length) this.#rehash()
    return true
  }

  get(index: number): number[] {
    return Array.from(this.#words.subarray(index * this.#width, (index + 1) * this.#width))
  }

  parent(index: number): number {
    return this.#parents[index] as number
  }

  #find(state: ArrayLike<number>): number {
    const mask = this.#table.length - 1
    let place = hash(state) & mask
    for (;;) {
      const found = this.#table[place] as number
      if (found === 0 || this.#equals(found - 1, state)) return place
      place = (place + 1) & mask
    }
  }

  #equals(index: number, state: ArrayLike<number>): boolean {
    const from = index * this.#width
    for (let i = 0; i < this.#width; i += 1) if (this.#words[from + i] !== state[i]) return false
    return true
  }

  #grow(): void {
    this.#words = widened(this.#words)
    this.#parents = widened(this.#parents)
  }

  #rehash(): void {
    this.#table = new Uint32Array(this.#table.length * 2)
    for (let i = 0; i < this.size; i += 1) {
      this.#table[this.#find(this.#words.subarray(i * this.#width, (i + 1) * this.#width))] = i + 1
    }
  }
}

function widened(words: Uint32Array): Uint32Array {
  const wider = new Uint32Array(words.length * 2)
  wider.set(words)
  return wider
}

function hash(state: ArrayLike<number>): number {
  let h = 0x9e3779b9
  for (let i = 0; i < state.length; i += 1) {
    h = Math.imul(h ^ (state[i] as number), 0x85ebca6b)
    h ^= h >>> 15
  }
  return (h ^ (h >>> 13)) >>> 0
}
