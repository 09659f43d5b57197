import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sayable, sealBody, sealProse, shownProse, unsealBody, unsealProse } from '../../src/engine/sealing.ts'
import { aesGcm, withoutCiphertext } from '../../src/library/encryption.ts'

const codec = aesGcm({ keys: { 'k-1': randomBytes(32) }, current: 'k-1' })
const whose = { tenant: 'acme', job: 'pj_1' }
const heading = { generation: 2, word: 'w' }

describe('a sealed body', () => {
  it('is bound to its name, its job and its tenant, and to the generation it was written in', () => {
    const sealed = sealBody(codec, { name: 'step/one#1', text: '{"step":true}' }, whose, heading)
    for (const generation of [2, 3]) expect(unsealBody(codec, sealed, whose, generation).text).toBe('{"step":true}')
    expect(() => unsealBody(codec, sealed, whose, 1)).toThrow(/generation 2, and the job is in generation 1/)
    expect(() => unsealBody(codec, { ...sealed, name: 'step/two#1' }, whose, 2)).toThrow('another place')
    expect(() => unsealBody(codec, sealed, { ...whose, job: 'pj_2' }, 2)).toThrow('another place')
    expect(() => unsealBody(codec, sealed, { ...whose, tenant: 'rival' }, 2)).toThrow('another place')
  })

  it('is read in no other place, whichever two are swapped', () => {
    const names = ['input', 'output', 'checkpoint', 'step/a', 'step/a#1', 'step/ab', 'signal', 'failure', 'reason']
    const owners = ['acme', 'acm', 'acme\npj_1', ''].flatMap((tenant) =>
      ['pj_1', 'pj_11', 'e\npj_1', 'input'].map((job) => ({ tenant, job })),
    )
    const places = owners.flatMap((owner) => names.map((name) => ({ owner, name })))
    const sealed = places.map(({ owner, name }) => sealBody(codec, { name, text: '"same"' }, owner, heading))
    for (const [i, { text }] of sealed.entries())
      for (const [j, { owner, name }] of places.entries()) {
        const read = () => unsealBody(codec, { name, text }, owner, 2).text
        if (i === j) expect(read()).toBe('"same"')
        else if ((i + j) % 7 === 0) expect(read).toThrow('another place')
      }
    // A heading is inside the seal: neither its generation nor its word can be put before another text.
    const [one = '', two = ''] = sealed.map(({ text }) => JSON.parse(text) as string)
    const cut = Math.floor(one.length / 2)
    const spliced = JSON.stringify(one.slice(0, cut) + two.slice(cut))
    expect(() => unsealBody(codec, { name: 'input', text: spliced }, whose, 2)).toThrow()
  })

  it('looks the same when the same word is said again, and else never', () => {
    const body = { name: 'checkpoint', text: '1' }
    const once = sealBody(codec, body, whose, heading).text
    expect(sealBody(codec, body, whose, heading).text).toBe(once)
    expect(sealBody(codec, body, whose, { ...heading, word: 'x' }).text).not.toBe(once)
    expect(sealBody(codec, body, whose, { ...heading, generation: 3 }).text).not.toBe(once)
  })

  it('of a signal keeps what it was sent as', () => {
    const signal = { name: 'approved', key: 'order "7"\n' }
    const sealed = sealBody(codec, { name: 'signal', text: '{}' }, whose, { ...heading, signal })
    expect(unsealBody(codec, { ...sealed, name: 'signal/3' }, whose, 2)).toMatchObject({
      text: '{}',
      heading: { signal },
    })
  })
})

describe('sealed prose', () => {
  const about = { ...whose, body: 'reason' }
  const sealed = (text: string, max = 2_000) => sealProse(codec, sayable(text), max, about, heading)

  it.each(['', 'because', '\ud800', 'ü'.repeat(300)])('comes back: %.20s', (text) => {
    expect(unsealProse(codec, sealed(text), about)).toEqual({ said: text })
  })

  it('fits where it has to, and says so where it was cut', () => {
    for (const max of [260, 512, 2_000]) {
      for (const text of ['m'.repeat(5_000), '字'.repeat(5_000), '\u{1f980}'.repeat(2_000)]) {
        const fitting = sealed(text, max)
        expect(fitting.length).toBeLessThanOrEqual(max)
        const found = unsealProse(codec, fitting, about)
        expect('said' in found && found.said.endsWith('…') && found.said.length > 10).toBe(true)
      }
    }
    expect(sealed('nothing fits', 100)).toBe('')
  })

  it('that cannot be read says why, and is a mark for those who have no keys', () => {
    const found = unsealProse(codec, sealed('because'), { ...about, job: 'pj_2' })
    expect(found).toEqual({ why: expect.stringMatching(/^\(The text reason of job pj_2 cannot be read with key k-1/) })
    expect(unsealProse(codec, 'clear', about)).toEqual({ said: 'clear' })
    expect(shownProse(sealed('because'))).toBe('(encrypted)')
    expect(shownProse('clear')).toBe('clear')
    const body = codec.encode('1', about)
    expect(withoutCiphertext(sealed('because'))).toBe('(encrypted, key k-1)')
    expect(withoutCiphertext(body)).toBe('"(encrypted, key k-1)"')
    expect(withoutCiphertext(String(JSON.parse(body)))).toBe('(encrypted, key k-1)')
    const whole = { reason: sealed('because'), input: JSON.parse(body) as string, clear: 'pawl:1:k-1:short' }
    expect(JSON.parse(withoutCiphertext(JSON.stringify(whole)))).toEqual({
      reason: '(encrypted, key k-1)',
      input: '(encrypted, key k-1)',
      clear: 'pawl:1:k-1:short',
    })
  })
})
