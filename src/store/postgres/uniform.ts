/** Arrays of one element stand for all where all are equal: most batches cost no bytes for what their jobs share. */
export function uniform<T extends string | number>(values: readonly T[]): readonly T[] {
  const first = values[0]
  if (first === undefined) return values
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return values
  return [first]
}

/** As a literal. Codes and numbers only: nothing in them needs quotes or escapes. */
export const literal = (values: readonly (string | number)[]): string => `{${values.join()}}`
