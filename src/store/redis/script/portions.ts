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

export function lettersIn(words: readonly string[]): number {
  let letters = 0
  for (const word of words) letters += word.length
  return letters
}
