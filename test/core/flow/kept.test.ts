import { describe, expect, it } from 'vitest'
import { KEY_LOG_MOST } from '../../../src/core/flow/document.ts'
import { isTold } from '../../../src/core/flow/event.ts'
import { foldOfKept } from '../../../src/core/flow/kept.ts'
import { KeyLife, retryAfter, THROTTLED } from './key-given.ts'

/** A key that is pushed back over and over, and probed between. */
function pushedBack(times: number): KeyLife {
  const life = new KeyLife()
  for (let n = 0; n < times; n += 1) life.hears(THROTTLED).after(400_000)
  return life
}

describe('what is kept of a key’s changes', () => {
  it('comes to its record, from rest', () => {
    const { key, events } = pushedBack(6)
    expect(foldOfKept(key, events.filter(isTold))).toEqual(key)
    expect(foldOfKept(key, [])).toBe(key)
  })

  it('comes to its record where the first of them are forgotten, whatever state those had led to', () => {
    const { key, events } = pushedBack(KEY_LOG_MOST * 2)
    const told = events.filter(isTold)
    for (const kept of [told.slice(-KEY_LOG_MOST), told.slice(-KEY_LOG_MOST - 1)])
      expect(foldOfKept(key, kept)).toEqual(key)
  })

  it('begins in the state that the first of them says', () => {
    const life = new KeyLife()
    for (let n = 0; n < KEY_LOG_MOST * 2; n += 1) life.hears(THROTTLED, life.now).after(1).told('reset').after(1)
    const told = life.events.filter(isTold)
    expect(told.at(-KEY_LOG_MOST)?.from).not.toBe('probing')
    expect(foldOfKept(life.key, told.slice(-KEY_LOG_MOST))).toEqual(life.key)
  })

  it.each([
    ['open', new KeyLife()],
    ['slow', new KeyLife().hears(THROTTLED)],
    ['broken', new KeyLife().hears(retryAfter(3_600_000))],
    ['probing', new KeyLife().hears(retryAfter(1_000)).after(60_000)],
  ])('comes to its record where all of them are numbers that were set while it was %s', (state, life) => {
    for (let n = 0; n < KEY_LOG_MOST * 2; n += 1) {
      life.limit = { concurrency: 1 + (n % 8) }
      life.after(1).told('set')
    }
    expect(life.state).toBe(state)
    expect(foldOfKept(life.key, life.events.filter(isTold).slice(-KEY_LOG_MOST))).toEqual(life.key)
  })

  it('does not come to a record that somebody has changed by hand', () => {
    const { key, events } = pushedBack(3)
    expect(foldOfKept({ ...key, session: key.session + 1 }, events.filter(isTold))).not.toEqual({
      ...key,
      session: key.session + 1,
    })
  })
})
