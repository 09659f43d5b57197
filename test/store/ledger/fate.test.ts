import { describe, expect, it } from 'vitest'
import { BEGINNING } from '../../../src/store/ledger/entry.ts'
import { type Awaited, fateOf, type LedgerView, tellingOf } from '../../../src/store/ledger/fate.ts'

const NAMES = ['-', 'a', 'b', 'c']

/** A ledger with three entries in epoch 4, of which those before `keptFrom` are forgotten. */
const ledger = (epoch = 4, keptFrom = 1): LedgerView => ({
  account: { epoch, head: { seq: 3, name: 'c' }, at: 0, folded: 3, keptFrom },
  nameAt: (seq) => (seq < keptFrom - 1 ? undefined : NAMES[seq]),
  has: (name) => NAMES.indexOf(name) >= keptFrom,
})

const call = (name: string, seq: number | undefined, looked = BEGINNING): Awaited => ({ epoch: 4, name, seq, looked })

describe('a call', () => {
  it.each([
    ['is there by its name', call('b', 2), ledger(), 'there'],
    ['without an answer is there by its name', call('b', undefined), ledger(), 'there'],
    ['is open where the ledger has another name of its number', call('x', 2), ledger(), 'open'],
    ['is open while its epoch lasts', call('x', 4), ledger(), 'open'],
    ['comes to nothing with its epoch', call('x', 4), ledger(5), 'never'],
    ['without an answer comes to nothing with its epoch', call('x', undefined), ledger(5), 'never'],
    ['is there although its epoch is over', call('b', 2), ledger(5), 'there'],
    ['is forgotten with what the ledger had', call('a', 1), ledger(5, 3), 'forgotten'],
    ['is not forgotten that began later', call('x', undefined, { seq: 2, name: 'b' }), ledger(5, 3), 'never'],
  ])('%s', (_, awaited, view, expected) => {
    expect(fateOf(awaited, view)).toBe(expected)
  })
})

describe('a look', () => {
  const look = (name: string, seq: number, looked: number) => ({
    ...call(name, seq, { seq: looked, name: NAMES[looked] ?? '' }),
    seq,
  })

  it.each([
    ['is told when the ledger has what it saw', look('c', 3, 3), 'tell'],
    ['of before the first entry is told where there was none', look('-', 0, 0), 'tell'],
    ['waits for what it saw', look('x', 4, 3), 'wait'],
    ['at a server that went back is not told, although the ledger has what it saw', look('b', 2, 3), 'again'],
  ])('%s', (_, seen, expected) => {
    expect(tellingOf(seen, ledger())).toBe(expected)
  })

  it('at what came to nothing is taken again', () => {
    expect(tellingOf(look('x', 4, 3), ledger(5))).toBe('again')
  })
})
