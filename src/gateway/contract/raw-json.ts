/**
 * The parts of a text that is known to be JSON, each exactly as it stands there: 2^53+1 stays 2^53+1, -0 stays -0, key
 * order stays. Where the text turns out not to be JSON, the parts before that place.
 */
import { JSON_DEPTH_MAX } from '../../core/json.ts'
import { behindSpace, behindString, behindValue, CLOSE_BRACKET, QUOTE } from './json-text.ts'

/** The members of an object's text; the last of equal names, as `JSON.parse` has it. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let i = behindSpace(text, 0) + 1
  for (;;) {
    i = behindSpace(text, i)
    const end = text.charCodeAt(i) === QUOTE ? behindString(text, i) : -1
    if (end < 0) return members
    const name = JSON.parse(text.slice(i, end)) as string
    const from = behindSpace(text, behindSpace(text, end) + 1)
    const to = behindValue(text, from, DEPTH)
    if (to < 0) return members
    members.set(name, text.slice(from, to))
    i = behindSpace(text, to) + 1
  }
}

/** The elements of an array's text. */
export function elementsOf(text: string): readonly string[] {
  const elements: string[] = []
  let i = behindSpace(text, 0) + 1
  for (;;) {
    i = behindSpace(text, i)
    const to = text.charCodeAt(i) === CLOSE_BRACKET ? -1 : behindValue(text, i, DEPTH)
    if (to < 0) return elements
    elements.push(text.slice(i, to))
    i = behindSpace(text, to) + 1
  }
}

/** An answer puts what it tells into a list of records. */
const DEPTH = JSON_DEPTH_MAX + 10
