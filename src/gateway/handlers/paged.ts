/**
 * Pages by weight: a record may be a hundred times as long as another, and five hundred of the longest keep a gateway busy
 * for seconds in which nobody's heartbeat is heard. What is read a few at a time is told up to a length; a page that ends
 * there is short and has a cursor, as any other that does.
 */

export interface Part<T> {
  readonly items: readonly T[]
  /** Where the next page begins; undefined at the end. */
  readonly cursor: string | undefined
}

export interface Wanted {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Read together: what they weigh is known afterwards. */
const AT_ONCE = 25
/** Length of a page, in letters of JSON. It has one item at least, however long. */
const PAGE_LENGTH = 1024 * 1024

/**
 * A part that is short and goes on has looked at as much as may be looked at for one request, and ends the page; unless it
 * looks at the less the fewer it is asked for: then `short` of them make up for what one large one would have looked at.
 */
export async function paged<T>(
  { limit, cursor }: Wanted,
  read: (wanted: Wanted) => Promise<Part<T>>,
  short = 1,
): Promise<Part<T>> {
  const items: T[] = []
  let after = cursor
  let length = 0
  for (let left = short; left > 0 && items.length < limit && length < PAGE_LENGTH; ) {
    const asked = Math.min(AT_ONCE, limit - items.length)
    const part = await read({ limit: asked, cursor: after })
    for (const item of part.items) {
      items.push(item)
      length += JSON.stringify(item).length
    }
    after = part.cursor
    if (after === undefined) break
    if (part.items.length < asked) left -= 1
  }
  return { items, cursor: after }
}
