/** What scripts answer with: texts, nothing, and lists of them. */
import { assert } from '../../../core/assert.ts'

export type Reply = string | number | null | readonly Reply[]

export function word(reply: Reply | undefined): string {
  assert(typeof reply === 'string', `a text was answered, not ${typeof reply}`)
  return reply
}

export function list(reply: Reply | undefined): readonly Reply[] {
  assert(Array.isArray(reply), 'a list was answered')
  return reply
}

export const words = (reply: Reply | undefined): readonly string[] => list(reply).map(word)

/** Neighbours of a list, two by two. */
export function pairs(texts: readonly string[]): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < texts.length; i += 2) found.push([texts[i] as string, texts[i + 1] as string])
  return found
}

/** Neighbours of a list, three by three. */
export function triples(texts: readonly string[]): readonly (readonly [string, string, string])[] {
  const found: (readonly [string, string, string])[] = []
  for (let i = 0; i + 2 < texts.length; i += 3)
    found.push([texts[i] as string, texts[i + 1] as string, texts[i + 2] as string])
  return found
}
