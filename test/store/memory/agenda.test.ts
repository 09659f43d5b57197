import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agenda } from '../../../src/store/memory/agenda.ts'

/** Names 0 to 19; a name's number is the name. */
const move = fc.record({ name: fc.nat(19), at: fc.option(fc.nat(9), { nil: undefined }) })

describe('an agenda', () => {
  it('always names the earliest, then the lowest number, whatever is set, moved and removed', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 200 }), (moves) => {
        const agenda = new Agenda()
        const model = new Map<number, number>()
        for (const { name, at } of moves) {
          agenda.set(String(name), at, name)
          if (at === undefined) model.delete(name)
          else model.set(name, at)
          const [first] = [...model].sort((a, b) => a[1] - b[1] || a[0] - b[0])
          const expected = first && { name: String(first[0]), at: first[1], number: first[0] }
          expect(agenda.first()).toEqual(expected)
        }
      }),
    )
  })

  it('gives everything in order when it is emptied from the front', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 100 }), (times) => {
        const agenda = new Agenda()
        for (const [i, at] of times.entries()) agenda.set(String(i), at, i)
        const given: number[] = []
        for (let next = agenda.first(); next !== undefined; next = agenda.first()) {
          given.push(next.number)
          agenda.remove(next.name)
        }
        const order = times.map((at, i) => ({ at, i })).sort((a, b) => a.at - b.at || a.i - b.i)
        expect(given).toEqual(order.map(({ i }) => i))
      }),
    )
  })

  it('removes what is not there without harm', () => {
    const agenda = new Agenda()
    agenda.set('a', 1, 1)
    agenda.remove('b')
    expect(agenda.first()).toEqual({ name: 'a', at: 1, number: 1 })
  })
})
