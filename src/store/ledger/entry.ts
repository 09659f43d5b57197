/**
 * The log of a partition: entries one after the other, each by a name and linked to the one before it by that one's name.
 *
 * A number alone says little: a server that went back comes to the same number again with something else. A name is its
 * caller's, process and call, and never used twice; so two logs whose heads have the same name are the same log.
 */
export interface Head {
  readonly seq: number
  readonly name: string
}

/** Before the first entry. */
export const BEGINNING: Head = { seq: 0, name: '-' }

/**
 * What one call has changed, whole. What it says besides is the codec's: values as they are afterwards, never differences, since
 * catching up may write over what is there already.
 */
export interface Entry extends Head {
  /** Name of the entry before. */
  readonly prev: string
  /** The partition's clock. */
  readonly at: number
}

export const isSameHead = (a: Head, b: Head): boolean => a.seq === b.seq && a.name === b.name

export const headOf = ({ seq, name }: Head): Head => ({ seq, name })

export const isNext = (head: Head, entry: Entry): boolean => isSameHead(head, { seq: entry.seq - 1, name: entry.prev })

/** Of a stretch of a log: what comes after this head. Undefined where the stretch neither goes on from it nor has it. */
export function entriesAfter<E extends Entry>(head: Head, stretch: readonly E[]): readonly E[] | undefined {
  const known = stretch.findIndex((entry) => isSameHead(entry, head))
  const rest = stretch.slice(known + 1)
  let last = head
  for (const entry of rest) {
    if (!isNext(last, entry)) return undefined
    last = entry
  }
  return rest
}
