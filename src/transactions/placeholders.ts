/** A statement of pawl's, cut at its `$1`, `$2`, …, for libraries that have placeholders of their own. */
export interface Placeholders {
  /** One more than there are placeholders. */
  readonly between: readonly string[]
  /** Which value stands at each, counted from 0. */
  readonly order: readonly number[]
}

export function placeholders(text: string): Placeholders {
  return {
    between: text.split(/\$\d+/),
    order: [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number) - 1),
  }
}
