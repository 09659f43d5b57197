import { describe, expect, it } from 'vitest'
import { isNews } from '../../src/core/news.ts'
import { given, type History, type Words } from './given.ts'

/** Whether somebody waits to hear of what these words do. */
function tells(history: History, words: Words, byOwner = false): boolean {
  const before = history.record
  return isNews(before, history.does(words).record, byOwner)
}

describe('who waits for a job', () => {
  it('hears of its end, whoever ended it', () => {
    expect(tells(given().starts(), { type: 'complete', fence: 'mine' }, true)).toBe(true)
    expect(tells(given(), { type: 'cancel', mode: 'hard' })).toBe(true)
  })

  it('hears as its owner that it is to let go, or has lost it', () => {
    expect(tells(given().starts(), { type: 'cancel', mode: 'soft' })).toBe(true)
    expect(tells(given().starts().after(31_000), { type: 'stall' })).toBe(true)
  })

  it('hears nothing of what its owner does itself, nor of what leaves the lease as it is', () => {
    expect(tells(given().claims(), { type: 'start', fence: 'mine' }, true)).toBe(false)
    expect(tells(given().starts(), { type: 'signal', name: 'x' })).toBe(false)
  })

  it('hears nothing of a job that nobody owns', () => {
    expect(tells(given(), { type: 'claim', workerId: 'w1', nonce: '0123456789abcdef' })).toBe(false)
  })
})
