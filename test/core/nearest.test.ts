/** What somebody may have meant who wrote a word that nobody knows. */
import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/core/nearest.ts'

describe('the nearest of known words', () => {
  it.each([
    ['a letter is left out', 'retr', ['retry']],
    ['a letter is put in', 'rettry', ['retry']],
    ['a letter is another', 'retrx', ['retry']],
    ['two letters are swapped', 'rerty', ['retry']],
    ['the first two are swapped', 'ertry', ['retry']],
    ['capitals are others', 'ONEXHAUSTED', ['onExhausted']],
    ['it is far from all of them', 'zzzzz', []],
    ['there is none', '', []],
  ])('where %s', (_, word, meant) => {
    expect(nearest(word, ['retry', 'timeout', 'onExhausted'])).toEqual(meant)
  })

  it('are those that are as near as the nearest, and three at most', () => {
    expect(nearest('leas', ['leases', 'lease', 'least', 'leash', 'leap'])).toEqual(['lease', 'least', 'leash'])
    expect(nearest('lease', ['least', 'lease'])).toEqual(['lease'])
  })

  it('is as many edits away as the shortest way has', () => {
    expect(nearest('ab', ['ba'])).toEqual(['ba'])
    expect(nearest('abc', ['a'])).toEqual([])
    expect(nearest('abcde', ['abc'])).toEqual(['abc'])
    expect(nearest('abcde', ['ab'])).toEqual([])
  })
})
