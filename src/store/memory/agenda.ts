/**
 * Who is next: names by time, then by number. A binary heap that knows where each name sits, so that moving or
 * removing one costs as little as taking the first (O(log n)), and nothing stale is ever left inside.
 */
export class Agenda {
  /** Heap order: no entry comes before its parent, which is at `(index - 1) >> 1`. */
  readonly #heap: Entry[] = []
  /** Exactly the names in the heap, each with its index. */
  readonly #index = new Map<string, number>()

  get size(): number {
    return this.#heap.length
  }

  /** When a name's time is. */
  at(name: string): number | undefined {
    const index = this.#index.get(name)
    return index === undefined ? undefined : this.#heap[index]?.at
  }

  first(): Entry | undefined {
    return this.#heap[0]
  }

  /** All of them in order, drawn one by one while nothing is changed: as many as are drawn are looked at, and their children. */
  *ordered(): Generator<Entry> {
    const edge = this.#heap.length === 0 ? [] : [0]
    while (edge.length > 0) {
      let least = 0
      for (let i = 1; i < edge.length; i += 1) if (this.#before(edge[i] as number, edge[least] as number)) least = i
      const index = edge[least] as number
      const last = edge.pop() as number
      if (least < edge.length) edge[least] = last
      yield this.#heap[index] as Entry
      for (const child of [2 * index + 1, 2 * index + 2]) if (child < this.#heap.length) edge.push(child)
    }
  }

  /** `undefined` takes the name off. */
  set(name: string, at: number | undefined, number: number): void {
    this.remove(name)
    if (at === undefined) return
    this.#heap.push({ name, at, number })
    this.#index.set(name, this.#heap.length - 1)
    this.#rise(this.#heap.length - 1)
  }

  remove(name: string): void {
    const index = this.#index.get(name)
    if (index === undefined) return
    this.#swap(index, this.#heap.length - 1)
    this.#heap.pop()
    this.#index.delete(name)
    if (index < this.#heap.length) this.#sink(this.#rise(index))
  }

  #rise(from: number): number {
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#before(index, parent)) break
      this.#swap(index, parent)
      index = parent
    }
    return index
  }

  #sink(from: number): void {
    let index = from
    for (;;) {
      let least = index
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < this.#heap.length && this.#before(child, least)) least = child
      }
      if (least === index) return
      this.#swap(index, least)
      index = least
    }
  }

  #before(a: number, b: number): boolean {
    const left = this.#heap[a] as Entry
    const right = this.#heap[b] as Entry
    return left.at < right.at || (left.at === right.at && left.number < right.number)
  }

  #swap(a: number, b: number): void {
    const left = this.#heap[a] as Entry
    const right = this.#heap[b] as Entry
    this.#heap[a] = right
    this.#heap[b] = left
    this.#index.set(right.name, a)
    this.#index.set(left.name, b)
  }
}

interface Entry {
  readonly name: string
  readonly at: number
  readonly number: number
}
