/**
 * One walk over a request's text before anything is built of it: is it JSON, how deep, how many members and elements,
 * and where are those that are kept exactly as they were sent. What is kept is cut out, never parsed: eight megabytes
 * of empty objects keep `JSON.parse` busy for half a second in which nobody's heartbeat is heard, and this walk for a
 * tenth of that. What is left is small, and is all the gateway has to understand.
 */
import {
  behindScalar,
  behindSpace,
  behindString,
  behindValue,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  NOWHERE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  TOO_DEEP,
} from './json-text.ts'

/** Which members are kept as they are, by name; `*` stands for every element of a list. */
export type Opaque = true | { readonly [member: string]: Opaque }

export interface OutlineLimits {
  readonly depth: number
  /** Members and elements outside of what is kept. */
  readonly keys: number
}

export type Misfit = 'not json' | 'too deep' | 'too many' | 'twice'

export type Outline =
  | {
      readonly ok: true
      /** The text, with `null` in place of what is kept. */
      readonly text: string
      readonly kept: Kept
    }
  | { readonly ok: false; readonly misfit: Misfit; readonly where: string }

/** Texts that are kept as they were sent, by path: `input`, `jobs.3.input`. */
export type Kept = ReadonlyMap<string, string>

export function outlineOf(text: string, opaque: Opaque | undefined, limits: OutlineLimits): Outline {
  const walk = new Walk(text, limits)
  const end = walk.value(behindSpace(text, 0), 0, opaque, '')
  return end === NOWHERE || behindSpace(text, end) < text.length
    ? { ok: false, misfit: walk.misfit, where: walk.where }
    : { ok: true, text: walk.rest(), kept: walk.kept }
}

class Walk {
  readonly kept = new Map<string, string>()
  /** Why it came to an end too early, if it did. */
  misfit: Misfit = 'not json'
  where = ''
  readonly #text: string
  readonly #limits: OutlineLimits
  readonly #pieces: string[] = []
  readonly #entered = new Set<string>()
  /** Where the text goes on behind what was cut out last. */
  #from = 0
  #keys = 0

  constructor(text: string, limits: OutlineLimits) {
    this.#text = text
    this.#limits = limits
  }

  rest(): string {
    return this.#from === 0 ? this.#text : `${this.#pieces.join('')}${this.#text.slice(this.#from)}`
  }

  /** Index behind the value that begins at `i`. */
  value(i: number, depth: number, opaque: Opaque | undefined, path: string): number {
    if (opaque === true) return this.#cut(i, depth, path)
    const c = this.#text.charCodeAt(i)
    if (c !== OPEN_BRACE && c !== OPEN_BRACKET) return behindScalar(this.#text, i, c)
    if (depth === this.#limits.depth) return this.#fault('too deep', path)
    return c === OPEN_BRACE
      ? this.#members(i + 1, depth + 1, opaque, path)
      : this.#elements(i + 1, depth + 1, opaque?.['*'], path)
  }

  #cut(i: number, depth: number, path: string): number {
    const end = behindValue(this.#text, i, this.#limits.depth - depth)
    if (end === TOO_DEEP) return this.#fault('too deep', path)
    if (end === NOWHERE) return NOWHERE
    // The last of equal names, as a parser has it.
    this.kept.set(path, this.#text.slice(i, end))
    this.#pieces.push(this.#text.slice(this.#from, i), 'null')
    this.#from = end
    return end
  }

  #members(from: number, depth: number, opaque: Opaque | undefined, path: string): number {
    const text = this.#text
    let i = behindSpace(text, from)
    if (text.charCodeAt(i) === CLOSE_BRACE) return i + 1
    for (;;) {
      if (this.#isTooMany()) return this.#fault('too many', path)
      const end = text.charCodeAt(i) === QUOTE ? behindString(text, i) : NOWHERE
      if (end === NOWHERE) return NOWHERE
      const name = opaque === undefined ? undefined : nameOf(text.slice(i, end))
      const inner = name === undefined || opaque === true ? undefined : own(opaque, name)
      const place = inner === undefined ? '' : join(path, name)
      // A member that occurs twice: a parser takes the last, and this walk would have kept texts of both.
      if (inner !== undefined && inner !== true && this.#entered.has(place)) return this.#fault('twice', place)
      if (inner !== undefined) this.#entered.add(place)
      i = behindSpace(text, end)
      if (text.charCodeAt(i) !== COLON) return NOWHERE
      i = this.value(behindSpace(text, i + 1), depth, inner, place)
      if (i === NOWHERE) return NOWHERE
      i = behindSpace(text, i)
      const c = text.charCodeAt(i)
      if (c === CLOSE_BRACE) return i + 1
      if (c !== COMMA) return NOWHERE
      i = behindSpace(text, i + 1)
    }
  }

  #elements(from: number, depth: number, opaque: Opaque | undefined, path: string): number {
    const text = this.#text
    let i = behindSpace(text, from)
    if (text.charCodeAt(i) === CLOSE_BRACKET) return i + 1
    for (let n = 0; ; n += 1) {
      if (this.#isTooMany()) return this.#fault('too many', path)
      i = this.value(i, depth, opaque, opaque === undefined ? '' : join(path, n))
      if (i === NOWHERE) return NOWHERE
      i = behindSpace(text, i)
      const c = text.charCodeAt(i)
      if (c === CLOSE_BRACKET) return i + 1
      if (c !== COMMA) return NOWHERE
      i = behindSpace(text, i + 1)
    }
  }

  #isTooMany(): boolean {
    this.#keys += 1
    return this.#keys > this.#limits.keys
  }

  #fault(misfit: Misfit, where: string): typeof NOWHERE {
    this.misfit = misfit
    this.where = where
    return NOWHERE
  }
}

const nameOf = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)

const own = (opaque: Exclude<Opaque, true> | undefined, name: string): Opaque | undefined =>
  opaque !== undefined && Object.hasOwn(opaque, name) ? opaque[name] : undefined

const join = (path: string, name: string | number | undefined): string => (path === '' ? `${name}` : `${path}.${name}`)
