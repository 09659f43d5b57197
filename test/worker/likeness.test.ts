/** A value in a few words: what they say, and how little of the value is looked at for them. */
import { describe, expect, it } from 'vitest'
import { described } from '../../src/worker/likeness.ts'

class Order {
  readonly id = 7
  readonly placed = new Date(0)
}

const circle: Record<string, unknown> = { name: 'round' }
circle['self'] = circle

describe('a value is described', () => {
  it.each<readonly [value: unknown, words: string]>([
    ['text', 'text'],
    [undefined, 'undefined'],
    [-0, '-0'],
    [12n, '12n'],
    [Symbol('s'), 'Symbol(s)'],
    [function named() {}, '[Function: named]'],
    [() => {}, '[Function: (anonymous)]'],
    [{ a: 'x', b: [1, null], c: {} }, `{ a: 'x', b: [ 1, null ], c: {} }`],
    [new Order(), 'Order { id: 7, placed: 1970-01-01T00:00:00.000Z }'],
    [Object.create(null), '{}'],
    [{ when: new Date(Number.NaN) }, '{ when: Invalid Date }'],
    [{ bad: new RangeError('too far') }, '{ bad: [RangeError: too far] }'],
    [new Map([['k', { v: 1 }]]), `Map [ [ 'k', { v: 1 } ] ]`],
    [new Set([1, 2]), 'Set [ 1, 2 ]'],
    [{ late: Promise.resolve() }, '{ late: [Promise] }'],
    [new Uint8Array(3), '[Uint8Array]'],
    [Object('boxed'), `'boxed'`],
    [{ a: { b: { c: { d: 1 } } } }, '{ a: { b: { c: [Object] } } }'],
    [circle, `{ name: 'round', self: { name: 'round', self: { name: 'round', self: [Object] } } }`],
    [{ long: 'x'.repeat(1_000) }, `{\n  long: '${'x'.repeat(500)}…'\n}`],
  ])('%#', (value, words) => {
    expect(described(value)).toBe(words)
  })

  it('by its first elements', () => {
    const words = described(Array.from({ length: 1_000 }, (_, i) => i))
    expect(words.replace(/\s+/g, ' ')).toBe(`[ ${Array.from({ length: 20 }, (_, i) => i).join(', ')}, … ]`)
  })

  it('without asking what is computed', () => {
    const asked: string[] = []
    const value = {
      get secret() {
        return asked.push('secret')
      },
      get [Symbol.toStringTag]() {
        return String(asked.push('tag'))
      },
      toString: () => String(asked.push('toString')),
      toJSON: () => asked.push('toJSON'),
      [Symbol.for('nodejs.util.inspect.custom')]: () => asked.push('inspect'),
    }
    expect(described(value)).toBe('{ secret: [Getter], toString: [Function: toString], toJSON: [Function: toJSON] }')
    expect(asked).toEqual([])
  })

  it('as far as it can be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(described({ a: 1, proxy })).toBe('{ a: 1, proxy: [something that cannot be read] }')
  })
})

describe('of what is big, little is looked at', () => {
  /** Counts what is asked about an object, however it is asked. */
  function watched(target: object, looks: { count: number }): object {
    const look =
      <A extends unknown[], R>(way: (...args: A) => R) =>
      (...args: A): R => {
        looks.count += 1
        return way(...args)
      }
    return new Proxy(target, {
      get: look(Reflect.get),
      getOwnPropertyDescriptor: look(Reflect.getOwnPropertyDescriptor),
      ownKeys: look(Reflect.ownKeys),
    })
  }

  it('elements: the first of them', () => {
    const looks = { count: 0 }
    expect(described(watched(new Array(1_000_000).fill(1), looks)).length).toBeLessThan(200)
    expect(looks.count).toBeLessThan(50)
  })

  it('properties: listed once, and of no other object once there were many', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
    const looks = { count: 0 }
    const words = described([many, ...Array.from({ length: 10 }, () => watched({ ...many }, looks))])
    expect(words).toContain(`'…': 19980 more`)
    expect(words.length).toBeLessThan(1_000)
    expect(looks.count).toBe(0)
  })

  it('whatever is inside: so much in all', () => {
    const looks = { count: 0 }
    const tree = (depth: number): unknown =>
      depth === 0
        ? 1
        : watched(
            Array.from({ length: 20 }, () => tree(depth - 1)),
            looks,
          )
    expect(described(tree(3)).length).toBeLessThan(10_000)
    expect(looks.count).toBeLessThan(2_000)
  })
})
