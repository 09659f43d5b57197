/** Things in order, each once, for what mostly comes in order: at the end adding costs nothing, elsewhere a shift. */
export class Sorted<Item> {
  readonly #items: Item[] = []
  readonly #compare: (a: Item, b: Item) => number

  constructor(compare: (a: Item, b: Item) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  at(index: number): Item | undefined {
    return this.#items[index]
  }

  /** The place of the first item that does not come before this one; found by halving. */
  place(item: Item): number {
    const last = this.#items.at(-1)
    if (last === undefined || this.#compare(last, item) < 0) return this.#items.length
    return firstOf(this.#items.length, (index) => this.#compare(this.#items[index] as Item, item) >= 0)
  }

  add(item: Item): void {
    const place = this.place(item)
    const there = this.#items[place]
    if (there === undefined) this.#items.push(item)
    else if (this.#compare(there, item) !== 0) this.#items.splice(place, 0, item)
  }

  remove(item: Item): void {
    const place = this.place(item)
    const there = this.#items[place]
    if (there !== undefined && this.#compare(there, item) === 0) this.#items.splice(place, 1)
  }

  /** Removes items from the beginning up to the first that stays. */
  leave(isGone: (item: Item) => boolean): void {
    const first = this.#items.findIndex((item) => !isGone(item))
    this.#items.splice(0, first < 0 ? this.#items.length : first)
  }
}

/** The first index below `size` at which it holds, and from there on; `size` where it never does. */
export function firstOf(size: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
