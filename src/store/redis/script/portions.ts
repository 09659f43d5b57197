/** As much as one call of a script is asked for: Redis does nothing else meanwhile. */

/** Items of one call, and letters of their words; about. One item always fits. */
const ITEMS = 100
const LETTERS = 1 << 20

export function portions<Item>(
  items: readonly Item[],
  lettersOf: (item: Item) => number,
  most = ITEMS,
): readonly (readonly Item[])[] {
  const found: Item[][] = []
  let portion: Item[] = []
  let letters = 0
  for (const item of items) {
    const more = lettersOf(item)
    if (portion.length === most || (portion.length > 0 && letters + more > LETTERS)) {
      found.push(portion)
      portion = []
      letters = 0
    }
    portion.push(item)
    letters += more
  }
  if (portion.length > 0) found.push(portion)
  return found
}

/** Portions on their way at once: the server is at the next while the answer to the last is read, and others of this process get in between. */
const UNDER_WAY = 4

/**
 * Sends portions in their order. Where one fails, those behind it that were not sent yet are not, and it is told when nothing is under
 * way any more: what has been answered by then is known, so the rest can be sent again.
 */
export async function sendAll<Portion>(
  all: readonly Portion[],
  send: (portion: Portion) => Promise<void>,
): Promise<void> {
  const rest = all.values()
  const failures: unknown[] = []
  const work = async () => {
    for (const portion of rest) {
      try {
        await send(portion)
      } catch (error) {
        failures.push(error)
      }
      if (failures.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: UNDER_WAY }, work))
  if (failures.length > 0) throw failures[0]
}

export function lettersIn(words: readonly string[]): number {
  let letters = 0
  for (const word of words) letters += word.length
  return letters
}
