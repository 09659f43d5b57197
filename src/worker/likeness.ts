/**
 * A value in a few words, whatever it is. What is shown is a likeness: as much of the value as the words have room for,
 * counted before it is looked at, and made of objects of our own. Nothing of the value runs: an accessor is named and not
 * asked, since it may throw, take its time, or answer with a promise whose rejection nobody would hear.
 */
import { inspect } from 'node:util'
import { isDate, isMap, isNativeError, isPromise, isSet, isStringObject } from 'node:util/types'

const TEXT_MAX = 500
/** Properties, elements or entries of one object. */
const EACH_MAX = 20
/** Objects inside objects. */
const DEPTH_MAX = 3
/** Values shown of everything together: twenty in each of twenty in each of twenty would be 8,000. */
const ALL_MAX = 400
/**
 * Names of properties, of all objects together. How many an object has is known only once all of them are listed, so the
 * first that has more is the last that is asked.
 */
const NAMES_MAX = 10_000
/** The time that a bigint takes to be written grows faster than its length. */
const BITS_MAX = 1_024

export function described(value: unknown): string {
  return typeof value === 'string' ? value : show(new Likeness().of(value, 0))
}

/** The value of an own property; undefined where a getter would have to run, or it cannot be read. */
export function own(of: object, name: string): unknown {
  try {
    return Reflect.getOwnPropertyDescriptor(of, name)?.value
  } catch {
    return undefined
  }
}

class Likeness {
  #left = ALL_MAX
  #names = NAMES_MAX

  of(value: unknown, depth: number): unknown {
    this.#left -= 1
    switch (typeof value) {
      case 'string':
        return cut(value)
      case 'bigint':
        return BigInt.asIntN(BITS_MAX, value) === value ? value : new Unquoted(`a bigint of more than ${BITS_MAX} bits`)
      case 'symbol':
        return new Unquoted(`Symbol(${cut(value.description ?? '')})`)
      case 'function':
        return new Unquoted(`[Function: ${textOf(own(value, 'name')) || '(anonymous)'}]`)
      case 'object':
        return value === null ? null : this.#ofObject(value, depth)
      default:
        return value
    }
  }

  #ofObject(value: object, depth: number): unknown {
    try {
      return inShort(value) ?? this.#inside(value, depth)
    } catch {
      // A proxy that was revoked, or that throws whatever it is asked.
      return new Unquoted('[something that cannot be read]')
    }
  }

  #inside(value: object, depth: number): unknown {
    const name = classOf(value)
    if (depth === DEPTH_MAX || this.#left <= 0 || this.#names <= 0) return new Unquoted(`[${name}]`)
    const elements = elementsOf(value)
    const shown = elements === undefined ? this.#named(value, depth + 1) : this.#listed(elements, depth + 1)
    return name === 'Object' || name === 'Array' ? shown : new Unquoted(`${name} ${show(shown)}`)
  }

  #listed(elements: Iterable<unknown>, depth: number): readonly unknown[] {
    const shown: unknown[] = []
    for (const each of elements) {
      if (shown.length === EACH_MAX) return [...shown, new Unquoted('…')]
      shown.push(this.of(each, depth))
    }
    return shown
  }

  #named(value: object, depth: number): object {
    const names = Object.keys(value)
    this.#names -= names.length
    const entries = names.slice(0, EACH_MAX).map((name) => [cut(name), this.#property(value, name, depth)])
    if (names.length > EACH_MAX) entries.push(['…', new Unquoted(`${names.length - EACH_MAX} more`)])
    return Object.fromEntries(entries)
  }

  #property(of: object, name: string, depth: number): unknown {
    const property = Reflect.getOwnPropertyDescriptor(of, name)
    return property === undefined || 'value' in property ? this.of(property?.value, depth) : new Unquoted('[Getter]')
  }
}

/** Shown as they are, without quotes. */
class Unquoted {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  [inspect.custom](): string {
    return this.#text
  }
}

/** Only for likenesses: inspecting anything else may run its code, and takes as long as it is long. */
const show = (likeness: unknown): string => inspect(likeness, { depth: DEPTH_MAX + 1, breakLength: 120 })

/** The short form of objects that need no look inside. */
function inShort(value: object): unknown {
  if (isPromise(value)) return new Unquoted('[Promise]')
  if (isNativeError(value)) return new Unquoted(`[${classOf(value)}: ${textOf(own(value, 'message'))}]`)
  if (isDate(value)) return new Unquoted(dateOf(Date.prototype.getTime.call(value)))
  if (isStringObject(value)) return cut(String.prototype.valueOf.call(value))
  return ArrayBuffer.isView(value) ? new Unquoted(`[${classOf(value)}]`) : undefined
}

function elementsOf(value: object): Iterable<unknown> | undefined {
  if (isMap(value)) return Map.prototype.entries.call(value)
  if (isSet(value)) return Set.prototype.values.call(value)
  return Array.isArray(value) ? byIndex(value) : undefined
}

function* byIndex(array: readonly unknown[]): Iterable<unknown> {
  const length = Number(own(array, 'length'))
  for (let i = 0; i < length; i += 1) yield own(array, String(i))
}

function classOf(value: object): string {
  const prototype = Reflect.getPrototypeOf(value)
  const made = prototype === null ? undefined : own(prototype, 'constructor')
  return (typeof made === 'function' && textOf(own(made, 'name'))) || 'Object'
}

const dateOf = (time: number): string => (Number.isNaN(time) ? 'Invalid Date' : new Date(time).toISOString())

const textOf = (value: unknown): string => (typeof value === 'string' ? cut(value) : '')

const cut = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)
