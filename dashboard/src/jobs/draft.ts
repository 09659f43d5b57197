/** A query while it is written: the terms that are finished, and the one that is not. */
import { parseSearch } from './query.ts'

export interface Draft {
  /** Each as it was written, and each by itself a term that can be read. */
  readonly chips: readonly string[]
  /** What is being written. */
  readonly text: string
}

/** A query that is there already. One that cannot be read is left to whoever wrote it. */
export function draftOf(query: string): Draft {
  const search = parseSearch(query)
  return search.ok ? { chips: search.terms.map(({ text }) => text), text: '' } : { chips: [], text: query }
}

export const queryIn = ({ chips, text }: Draft): string =>
  [...chips, text.trim()].filter((part) => part !== '').join(' ')

/** What has a space behind it and can be read is finished. */
export function written({ chips }: Draft, text: string): Draft {
  if (!/\s$/.test(text)) return { chips, text }
  const search = parseSearch(text)
  return search.ok ? { chips: [...chips, ...search.terms.map((term) => term.text)], text: '' } : { chips, text }
}

/** The chip is taken up again. What was being written becomes a chip, or stays behind it where it is none. */
export function takenUp(draft: Draft, n: number): Draft {
  const { chips, text } = written(draft, `${draft.text} `)
  const left = { chips: chips.filter((_, at) => at !== n), text: text.trim() }
  return { ...left, text: [draft.chips[n] ?? '', left.text].filter((part) => part !== '').join(' ') }
}

export const without = ({ chips, text }: Draft, n: number): Draft => ({
  chips: chips.filter((_, at) => at !== n),
  text,
})
