/** The walk before the parse: it takes what a parser takes, keeps what was written, and stops at its bounds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outlineOf } from '../../src/gateway/contract/outline.ts'
import { scaled } from '../support/scale.ts'
import { name, noise, space, value } from './hostile-json.ts'

const runs = { numRuns: scaled(3_000, 100_000) }
const WIDE = { depth: 1_000, keys: 1_000_000 }

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('an outline', () => {
  it('is of JSON exactly where a parser says so, kept or not', () => {
    fc.assert(
      fc.property(fc.oneof(noise, value, fc.string()), (text) => {
        expect(outlineOf(text, undefined, WIDE).ok, text).toBe(isJson(text))
        expect(outlineOf(text, true, WIDE).ok, text).toBe(isJson(text))
        expect(outlineOf(`{"input":${text}}`, { input: true }, WIDE).ok, text).toBe(isJson(`{"input":${text}}`))
      }),
      runs,
    )
  })

  it('keeps what was written to the letter, and leaves null in its place', () => {
    const written = fc.array(fc.tuple(space, name, space, space, value, space), { maxLength: 5 })
    fc.assert(
      fc.property(written, (parts) => {
        const text = `{${parts.map(([a, n, b, c, v, d]) => `${a + n + b}:${c}${v}${d}`).join(',')}}`
        const outline = outlineOf(text, { input: true }, WIDE)
        const last = parts.findLast(([, n]) => JSON.parse(n) === 'input')?.[4].trim()
        expect(outline.ok && outline.kept.get('input')).toBe(last)
        const cut = parts.map(([a, n, b, c, v, d]) => {
          const left = JSON.parse(n) === 'input' ? 'null' : v.trim()
          return `${a + n + b}:${c}${v.replace(v.trim(), () => left)}${d}`
        })
        expect(outline.ok && outline.text).toBe(`{${cut.join(',')}}`)
      }),
      runs,
    )
  })

  it('finds what is kept in every element of a list, by its place', () => {
    fc.assert(
      fc.property(fc.array(fc.option(value), { maxLength: 8 }), (inputs) => {
        const jobs = inputs.map((input) => (input === null ? '{"type":"x"}' : `{"type":"x","input":${input}}`))
        const outline = outlineOf(`{"jobs":[${jobs.join(' , ')}]}`, { jobs: { '*': { input: true } } }, WIDE)
        expect(outline.ok).toBe(true)
        if (!outline.ok) return
        expect(inputs.map((_, i) => outline.kept.get(`jobs.${i}.input`) ?? null)).toEqual(
          inputs.map((input) => input?.trim() ?? null),
        )
      }),
      runs,
    )
  })

  it('is not made where a part that holds something to keep is there twice', () => {
    const opaque = { step: { value: true }, jobs: { '*': { input: true } } } as const
    for (const text of ['{"step":{"value":1},"step":{}}', '{"step":1,"st\\u0065p":2}', '{"jobs":[],"jobs":[]}']) {
      expect(outlineOf(text, opaque, WIDE)).toMatchObject({ ok: false, misfit: 'twice' })
    }
  })

  it('counts outside of what is kept, and ends at the first too many', () => {
    const limits = { depth: 3, keys: 4 }
    const many = `[${'0,'.repeat(9)}0]`
    expect(outlineOf(`{"a":1,"b":[2,3],"input":${many}}`, { input: true }, { ...limits, keys: 5 }).ok).toBe(true)
    expect(outlineOf(`{"a":1,"b":[2,3],"input":${many}}`, { input: true }, limits)).toMatchObject({
      misfit: 'too many',
    })
    // Never looked at behind that: what is wrong there is not told.
    expect(outlineOf('{"a":1,"b":2,"c":3,"d":4,"e":5,!', undefined, limits)).toMatchObject({ misfit: 'too many' })
  })

  it('goes as deep as it may, kept or not', () => {
    const limits = { depth: 3, keys: 100 }
    expect(outlineOf('[[[]]]', undefined, limits).ok).toBe(true)
    expect(outlineOf('[[[[]]]]', undefined, limits)).toMatchObject({ misfit: 'too deep' })
    expect(outlineOf('{"input":[[]]}', { input: true }, limits).ok).toBe(true)
    expect(outlineOf('{"input":[[[]]]}', { input: true }, limits)).toMatchObject({ misfit: 'too deep', where: 'input' })
    expect(outlineOf('['.repeat(2_000_000), undefined, limits)).toMatchObject({ misfit: 'too deep' })
  })
})
