/**
 * A handful of things that come and go all the time. A `Set` would do, but it makes its table anew after every few of
 * them, each table knows the next, and one that has grown old keeps all that follow, and what was in them, from being
 * collected with the young: with batches of jobs in it, 15 MB outlived every scavenge.
 */
export class Few<T> implements Iterable<T> {
  readonly #things: T[] = []

  get size(): number {
    return this.#things.length
  }

  add(thing: T): void {
    this.#things.push(thing)
  }

  delete(thing: T): void {
    const place = this.#things.indexOf(thing)
    if (place >= 0) this.#things.splice(place, 1)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#things[Symbol.iterator]()
  }
}
