import { describe, expect, it } from 'vitest'
import { type Account, accepts, appended } from '../../../src/store/ledger/account.ts'
import { type Entry, entriesAfter } from '../../../src/store/ledger/entry.ts'
import { afterCompare } from '../../../src/store/ledger/join.ts'
import type { Meta } from '../../../src/store/ledger/meta.ts'
import { shipmentOf } from '../../../src/store/ledger/shipment.ts'

const entry = (seq: number, name: string, prev: string): Entry => ({ seq, name, prev, at: seq })
const [A, B, C] = [entry(1, 'a', '-'), entry(2, 'b', 'a'), entry(3, 'c', 'b')]

const ACCOUNT: Account = { epoch: 4, head: { seq: 1, name: 'a' }, at: 1, folded: 0, keptFrom: 1 }
const metaAt = (seq: number, name: string, change: Partial<Meta> = {}): Meta => ({
  epoch: 4,
  head: { seq, name },
  at: seq,
  incarnation: 'life',
  copy: 4,
  joining: 4,
  evicted: 0,
  ...change,
})

describe('what a server has written', () => {
  it('goes on from the ledger’s head, whether the stretch begins there or before', () => {
    expect(entriesAfter(ACCOUNT.head, [B, C])).toEqual([B, C])
    expect(entriesAfter(ACCOUNT.head, [A, B, C])).toEqual([B, C])
    expect(entriesAfter(ACCOUNT.head, [C])).toBeUndefined()
    expect(entriesAfter({ seq: 1, name: 'x' }, [A, B, C])).toBeUndefined()
  })

  it('is shipped in one piece, and moves the ledger’s head and clock', () => {
    const shipment = shipmentOf(ACCOUNT, { meta: metaAt(3, 'c'), entries: [B, C] })
    expect(shipment).toEqual({ kind: 'append', append: { epoch: 4, after: ACCOUNT.head, entries: [B, C] } })
    if (shipment.kind !== 'append') return
    expect(accepts(ACCOUNT, shipment.append)).toBe(true)
    expect(appended(ACCOUNT, shipment.append)).toEqual({ ...ACCOUNT, head: { seq: 3, name: 'c' }, at: 3 })
  })

  it.each([
    ['a newer epoch', { ...ACCOUNT, epoch: 5 }],
    ['another entry of the same number', { ...ACCOUNT, head: { seq: 1, name: 'x' } }],
    ['what another shipper was first with', { ...ACCOUNT, head: { seq: 2, name: 'b' } }],
  ])('is refused by a ledger with %s', (_, account) => {
    expect(accepts(account, { epoch: 4, after: ACCOUNT.head, entries: [B] })).toBe(false)
  })
})

describe('a server', () => {
  it.each([
    ['is empty', undefined, [], { kind: 'misfit', why: 'empty' }],
    ['was never loaded', metaAt(0, '-', { copy: 0 }), [], { kind: 'misfit', why: 'empty' }],
    ['was joined in an older epoch', metaAt(1, 'a', { epoch: 3 }), [], { kind: 'misfit', why: 'fenced' }],
    ['is behind', metaAt(0, '-'), [], { kind: 'misfit', why: 'behind' }],
    ['has another entry of that number', metaAt(1, 'x'), [], { kind: 'misfit', why: 'forked' }],
    ['has gone on from another one', metaAt(2, 'y'), [entry(2, 'y', 'x')], { kind: 'misfit', why: 'forked' }],
    ['was joined in a newer epoch', metaAt(1, 'a', { epoch: 5 }), [], { kind: 'outdated' }],
    ['has nothing more', metaAt(1, 'a'), [], { kind: 'shipped' }],
  ] as const)('that %s', (_, meta, entries, expected) => {
    expect(shipmentOf(ACCOUNT, { meta, entries })).toEqual(expected)
  })

  it('that fits is joined as it is, unless a lost call is to be decided', () => {
    const view = { meta: metaAt(1, 'a'), entries: [] }
    expect(afterCompare(ACCOUNT, view, 'life', 0)).toEqual({ step: 'joined', epoch: 4 })
    expect(afterCompare(ACCOUNT, view, 'life', 4)).toEqual({ step: 'fence', account: ACCOUNT })
    expect(afterCompare(ACCOUNT, view, 'another life', 0)).toEqual({ step: 'fence', account: ACCOUNT })
  })

  it('that restarted with all it had ships before it is fenced', () => {
    const view = { meta: metaAt(2, 'b'), entries: [B] }
    expect(afterCompare(ACCOUNT, view, 'another life', 0).step).toBe('ship')
  })
})
