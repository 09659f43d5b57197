/**
 * What of a policy concerns a job, by its tenant and topic, so that a job costs what concerns it, however many rules there are
 * for others.
 */
import { TopicIndex } from './topics.ts'

/** Whom it is for. Absent: everybody, everything. */
export interface Concerning {
  readonly tenants?: readonly string[] | undefined
  readonly topics?: readonly string[] | undefined
}

/** Lists that were made for a tenant and a topic are kept for as many of them. */
const REMEMBERED = 10_000

export class Table<Entry extends Concerning> {
  readonly #compare: (a: Entry, b: Entry) => number
  readonly #everybodys = new TopicIndex<Placed<Entry>>()
  readonly #tenants = new Map<string, TopicIndex<Placed<Entry>>>()
  /** By tenant, then topic: what concerns it, in the order in which it is asked. */
  readonly #known = new Map<string, Map<string, readonly Entry[]>>()
  #remembered = 0

  /** `compare`: which is asked first; among equals the one that is written first. */
  constructor(entries: readonly Entry[], compare: (a: Entry, b: Entry) => number = () => 0) {
    this.#compare = compare
    for (const [place, entry] of entries.entries()) {
      for (const index of this.#indexesFor(entry))
        for (const pattern of entry.topics ?? ['>']) index.add(pattern, { entry, place })
    }
  }

  concerning(tenant: string, topic: string): readonly Entry[] {
    const known = this.#known.get(tenant)?.get(topic)
    if (known !== undefined) return known
    const found = [...this.#everybodys.find(topic), ...(this.#tenants.get(tenant)?.find(topic) ?? [])]
    const entries = this.#inOrder(found)
    // Topics are whatever producers make up.
    if (this.#remembered >= REMEMBERED) {
      this.#known.clear()
      this.#remembered = 0
    }
    this.#remembered += 1
    const topics = this.#known.get(tenant) ?? new Map<string, readonly Entry[]>()
    topics.set(topic, entries)
    this.#known.set(tenant, topics)
    return entries
  }

  #indexesFor({ tenants }: Entry): readonly TopicIndex<Placed<Entry>>[] {
    if (tenants === undefined) return [this.#everybodys]
    return tenants.map((tenant) => {
      const index = this.#tenants.get(tenant) ?? new TopicIndex<Placed<Entry>>()
      this.#tenants.set(tenant, index)
      return index
    })
  }

  /** Each once, under however many patterns it was found. */
  #inOrder(found: readonly Placed<Entry>[]): readonly Entry[] {
    const sorted = found.toSorted((a, b) => this.#compare(a.entry, b.entry) || a.place - b.place)
    return [...new Set(sorted.map(({ entry }) => entry))]
  }
}

interface Placed<Entry> {
  readonly entry: Entry
  readonly place: number
}
