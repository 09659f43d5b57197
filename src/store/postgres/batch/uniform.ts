/**
 * A column of a batch: none where there is none, one that stands for all where all are equal, else one each. Most batches
 * cost no bytes for what their jobs share.
 */
export function uniform<Item, T extends string | number>(
  items: readonly Item[],
  of: (item: Item) => T | undefined,
): readonly (T | undefined)[] {
  const [first] = items
  const one = first && of(first)
  for (let i = 1; i < items.length; i += 1) if (of(items[i] as Item) !== one) return items.map(of)
  return one === undefined ? [] : [one]
}

/** Values as an array literal. Only for codes and numbers, which need neither quotes nor escapes. */
export const literal = (values: readonly (string | number | undefined)[]): string =>
  `{${values.map((value) => value ?? 'null').join()}}`
