/** AES-GCM for texts: what it gives back, to whom, and what it tells everybody else. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Undecipherable } from '../../src/engine/body-codec.ts'
import { aesGcm, bucketOf } from '../../src/library/encryption.ts'

const key = randomBytes(32)
const about = { tenant: 'acme', job: 'pj_1', body: 'output' }
const codec = aesGcm({ keys: { a: key }, current: 'a' })

describe('the cipher', () => {
  it.each(['{}', '"\\ud800"', '"\ud800"', '', '"\u{1f980}"', `"${'x'.repeat(100_000)}"`])(
    'gives back what went in: %.20s',
    (text) => {
      const sealed = codec.encode(text, about)
      expect(typeof JSON.parse(sealed)).toBe('string')
      expect(codec.decode(sealed, about)).toBe(text)
      expect(codec.encode(text, about)).toBe(sealed)
    },
  )

  it('gives back any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 })
    fc.assert(fc.property(text, (said) => codec.decode(codec.encode(said, about), about) === said))
  })

  it('opens nothing in another place, nor after the least change', () => {
    const sealed = codec.encode('{"a":1}', about)
    for (const other of [{ job: 'pj_2' }, { tenant: 'rival' }, { body: 'checkpoint' }])
      expect(() => codec.decode(sealed, { ...about, ...other })).toThrow(Undecipherable)
    for (let at = 10; at < sealed.length - 1; at += 1) {
      const altered = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      expect(() => codec.decode(altered, about), String(at)).toThrow(Undecipherable)
    }
    for (const cut of [2, 10, 40])
      expect(() => codec.decode(`${sealed.slice(0, -cut)}"`, about)).toThrow(Undecipherable)
  })

  it('takes no text that nobody has encrypted, unless told to for a while', () => {
    expect(() => codec.decode('{"a":1}', about)).toThrow(/output of job pj_1 is not encrypted.*clear: 'accept'/)
    const lenient = aesGcm({ keys: { a: key }, current: 'a', clear: 'accept' })
    expect(lenient.decode('{"a":1}', about)).toBe('{"a":1}')
    expect(lenient.decode(codec.encode('1', about), about)).toBe('1')
  })

  it('reads with every key it has, writes with the current one, and names the one it lacks', () => {
    const old = codec.encode('1', about)
    const rotated = aesGcm({ keys: { a: key, b: randomBytes(32) }, current: 'b' })
    expect(rotated.decode(old, about)).toBe('1')
    expect(rotated.encode('1', about)).toContain('pawl:1:b:')
    expect(rotated.formerly?.map((each) => each.encode('1', about))).toEqual([old])
    const without = aesGcm({ keys: { b: randomBytes(32) }, current: 'b' })
    expect(() => without.decode(old, about)).toThrow(/output of job pj_1 was written with key a, .* Add it to keys/)
    const another = aesGcm({ keys: { a: randomBytes(32) }, current: 'a' })
    expect(() => another.decode(old, about)).toThrow(/cannot be read with key a/)
  })

  it('wants keys of the right length and name', () => {
    expect(() => aesGcm({ keys: { a: randomBytes(16) }, current: 'a' })).toThrow('32')
    expect(() => aesGcm({ keys: { 'a b': key }, current: 'a b' })).toThrow('key id')
    expect(() => aesGcm({ keys: { a: key }, current: 'b' })).toThrow('no key b')
  })
})

describe('lengths', () => {
  it('are rounded up, by an eighth at most once they are long, and never down', () => {
    for (let bytes = 1; bytes < 5_000_000; bytes = Math.ceil(bytes * 1.013)) {
      expect(bucketOf(bytes)).toBeGreaterThanOrEqual(bytes)
      if (bytes > 128) expect(bucketOf(bytes) / bytes).toBeLessThan(1.125)
      expect(bucketOf(bucketOf(bytes))).toBe(bucketOf(bytes))
    }
    expect(new Set(Array.from({ length: 128 }, (_, n) => bucketOf(n + 1))).size).toBe(1)
    const buckets = new Set(Array.from({ length: 100_000 }, (_, n) => bucketOf(n + 1)))
    expect(buckets.size).toBeLessThan(200)
  })

  it('are the same for all texts of one bucket', () => {
    const lengths = new Set(['', '1', 'x'.repeat(100), 'ä'.repeat(60)].map((text) => codec.encode(text, about).length))
    expect(lengths.size).toBe(1)
  })
})
