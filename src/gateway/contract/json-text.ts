/**
 * JSON as text, walked over without building anything of it. Each function answers with the index behind what begins at
 * `from`, or with `NOWHERE` where that is not JSON (RFC 8259, to the letter).
 */
export const NOWHERE = -1
/** Answer for a text that may be JSON, but is nested deeper than asked for. */
export const TOO_DEEP = -2

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
const BACKSLASH = 0x5c
const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const LETTER_A = 0x61
const LETTER_E = 0x65
const LETTER_F = 0x66
const LETTER_N = 0x6e
const LETTER_T = 0x74
const LETTER_U = 0x75
/** Upper and lower case differ by this bit. */
const LOWER = 0x20

/** Any value, nested at most `depth` deep. A loop with a stack of its own: by recursion it took three times as long. */
export function behindValue(text: string, from: number, depth: number): number {
  const closings = new Uint8Array(depth + 1)
  let level = 0
  let i = from
  for (;;) {
    const c = text.charCodeAt(i)
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      level += 1
      if (level > depth) return TOO_DEEP
      // Two further on in the table of letters, in both cases.
      const closing = c + 2
      closings[level] = closing
      i = behindSpace(text, i + 1)
      if (text.charCodeAt(i) !== closing) {
        if (c === OPEN_BRACE) i = behindName(text, i)
        if (i === NOWHERE) return NOWHERE
        continue
      }
      level -= 1
      i += 1
    } else {
      i = behindScalar(text, i, c)
      if (i === NOWHERE) return NOWHERE
    }
    // Behind a value: whatever ends here ends, until something follows.
    for (;;) {
      if (level === 0) return i
      i = behindSpace(text, i)
      const next = text.charCodeAt(i)
      const closing = closings[level]
      if (next === COMMA) {
        i = behindSpace(text, i + 1)
        if (closing === CLOSE_BRACE) i = behindName(text, i)
        if (i === NOWHERE) return NOWHERE
        break
      }
      if (next !== closing) return NOWHERE
      level -= 1
      i += 1
    }
  }
}

/** A member's name, its colon, and the space before the value. */
function behindName(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) return NOWHERE
  const end = behindString(text, from)
  if (end === NOWHERE) return NOWHERE
  const colon = behindSpace(text, end)
  return text.charCodeAt(colon) === COLON ? behindSpace(text, colon + 1) : NOWHERE
}

/** `c` is the first character. */
export function behindScalar(text: string, from: number, c: number): number {
  switch (c) {
    case QUOTE:
      return behindString(text, from)
    case LETTER_T:
      return text.startsWith('true', from) ? from + 4 : NOWHERE
    case LETTER_F:
      return text.startsWith('false', from) ? from + 5 : NOWHERE
    case LETTER_N:
      return text.startsWith('null', from) ? from + 4 : NOWHERE
    default:
      return behindNumber(text, from)
  }
}

export function behindSpace(text: string, from: number): number {
  let i = from
  for (;;) {
    const c = text.charCodeAt(i)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i
    i += 1
  }
}

const ESCAPED: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (c) => c.charCodeAt(0)))

export function behindString(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i += 1) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) return i + 1
    if (c < 0x20) return NOWHERE
    if (c !== BACKSLASH) continue
    i += 1
    const escaped = text.charCodeAt(i)
    if (ESCAPED.has(escaped)) continue
    if (escaped !== LETTER_U || !isHex(text, i + 1)) return NOWHERE
    i += 4
  }
  return NOWHERE
}

function isHex(text: string, from: number): boolean {
  for (let i = from; i < from + 4; i += 1) {
    const c = text.charCodeAt(i)
    const letter = c | LOWER
    if (!isDigit(c) && !(letter >= LETTER_A && letter <= LETTER_F)) return false
  }
  return true
}

function behindNumber(text: string, from: number): number {
  let i = text.charCodeAt(from) === MINUS ? from + 1 : from
  i = text.charCodeAt(i) === ZERO ? i + 1 : behindDigits(text, i)
  if (i !== NOWHERE && text.charCodeAt(i) === POINT) i = behindDigits(text, i + 1)
  if (i === NOWHERE || (text.charCodeAt(i) | LOWER) !== LETTER_E) return i
  const sign = text.charCodeAt(i + 1)
  return behindDigits(text, sign === PLUS || sign === MINUS ? i + 2 : i + 1)
}

function behindDigits(text: string, from: number): number {
  let i = from
  while (isDigit(text.charCodeAt(i))) i += 1
  return i === from ? NOWHERE : i
}

const isDigit = (c: number): boolean => c >= ZERO && c < ZERO + 10
