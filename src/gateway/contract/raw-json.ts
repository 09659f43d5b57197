/**
 * JSON text, looked at before it is parsed: how deep it is, how many keys it has, and the exact text of a member. What
 * users send is kept as they wrote it (2^53+1 stays 2^53+1, -0 stays -0, key order stays), so it is cut out of the
 * text and never parsed and written again.
 */
export interface JsonShape {
  readonly depth: number
  readonly keys: number
}

/** Counts without building anything. The text need not be valid JSON: whoever parses it afterwards will say. */
export function shapeOf(text: string): JsonShape {
  let depth = 0
  let deepest = 0
  let keys = 0
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) i = endOfString(text, i)
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) deepest = Math.max(deepest, ++depth)
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1
    else if (c === COLON) keys += 1
  }
  return { depth: deepest, keys }
}

/** The members of an object's text, each as it stands there; the last of equal names, as `JSON.parse` has it. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let i = skipSpace(text, 0) + 1
  for (;;) {
    i = skipSpace(text, i)
    if (text.charCodeAt(i) !== QUOTE) return members
    const end = endOfString(text, i) + 1
    const name = JSON.parse(text.slice(i, end)) as string
    const from = skipSpace(text, skipSpace(text, end) + 1)
    const to = endOfValue(text, from)
    members.set(name, text.slice(from, to))
    i = skipSpace(text, to) + 1
  }
}

/** The elements of an array's text, each as it stands there. */
export function elementsOf(text: string): readonly string[] {
  const elements: string[] = []
  let i = skipSpace(text, 0) + 1
  for (;;) {
    i = skipSpace(text, i)
    if (i >= text.length || text.charCodeAt(i) === CLOSE_BRACKET) return elements
    const to = endOfValue(text, i)
    elements.push(text.slice(i, to))
    i = skipSpace(text, to) + 1
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

const isSpace = (c: number): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09

function skipSpace(text: string, from: number): number {
  let i = from
  while (i < text.length && isSpace(text.charCodeAt(i))) i += 1
  return i
}

/** Index of the closing quote, or of the last character where there is none. */
function endOfString(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i += 1) {
    const c = text.charCodeAt(i)
    if (c === BACKSLASH) i += 1
    else if (c === QUOTE) return i
  }
  return text.length - 1
}

/** Index just behind a value. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let i = from; i < text.length; i += 1) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) {
      i = endOfString(text, i)
      if (depth === 0) return i + 1
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth += 1
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      if (depth === 0) return i
      depth -= 1
      if (depth === 0) return i + 1
    } else if (depth === 0 && (c === COMMA || isSpace(c))) return i
  }
  return text.length
}
