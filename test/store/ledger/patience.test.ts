import { expect, it } from 'vitest'
import type { Account } from '../../../src/store/ledger/account.ts'
import { BEGINNING } from '../../../src/store/ledger/entry.ts'
import type { Meta } from '../../../src/store/ledger/meta.ts'
import { type Patience, patienceWith } from '../../../src/store/ledger/patience.ts'

const ACCOUNT: Account = { epoch: 1, head: { seq: 9, name: 'i' }, at: 9, folded: 9, keptFrom: 1 }
const EMPTY: Meta = { epoch: 0, head: BEGINNING, at: 0, incarnation: '', copy: 0, joining: 0, evicted: 0 }
const LOOK_AGAIN_MS = 50
const PAGES = 20
/** More than any of these may need: who has not come to an end by then never will. */
const MOST_EPOCHS = 100

/** How many epochs are taken until one of so many joiners, all of whom notice an empty server at once, has loaded it. */
function epochsUntilLoaded(joiners: number, pageMs: number): number {
  let account = ACCOUNT
  let meta = EMPTY
  let pages = 0
  const each = Array.from({ length: joiners }, (_, n) => ({
    atMs: n,
    spread: (n + 1) / (joiners + 1),
    patience: undefined as Patience | undefined,
    loads: undefined as number | undefined,
  }))
  while (account.epoch < MOST_EPOCHS) {
    const [joiner] = each.toSorted((one, other) => one.atMs - other.atMs)
    if (joiner === undefined) break
    if (joiner.loads === meta.joining) {
      pages += 1
      if (pages === PAGES) break
      joiner.atMs += pageMs
      continue
    }
    joiner.patience = patienceWith(joiner.patience, { account, meta, pages }, joiner.atMs, joiner.spread)
    const leftMs = joiner.patience.untilMs - joiner.atMs
    joiner.atMs += leftMs <= 0 ? pageMs : Math.min(LOOK_AGAIN_MS, leftMs)
    if (leftMs > 0) continue
    account = { ...account, epoch: account.epoch + 1 }
    meta = { ...EMPTY, joining: account.epoch }
    pages = 0
    joiner.loads = account.epoch
  }
  return account.epoch - ACCOUNT.epoch
}

it.each([
  [2, 20, 1],
  [50, 20, 1],
  // Longer than anybody waits at first: all who see an epoch taken wait twice as long for the next sign.
  [2, 300, 4],
  [50, 300, 4],
  [50, 2_000, 7],
])('%i who would load a server, %i ms a page, have loaded it after %i epochs at most', (joiners, pageMs, most) => {
  const epochs = epochsUntilLoaded(joiners, pageMs)
  expect(epochs).toBeGreaterThan(0)
  expect(epochs).toBeLessThanOrEqual(most)
})

it('what calls of the old epoch write, and what is folded of them, makes nobody wait who would take the next one', () => {
  const open = { ...EMPTY, epoch: 1, joining: 1, copy: 1, head: ACCOUNT.head }
  const first = patienceWith(undefined, { account: ACCOUNT, meta: open, pages: 0 }, 0, 0)
  const busy = { ...ACCOUNT, folded: 12, head: { seq: 12, name: 'l' } }
  const later = patienceWith(first, { account: busy, meta: { ...open, head: busy.head }, pages: 0 }, 40, 0)
  expect(later).toBe(first)
})

it('who has begun to join and does nothing more is waited for no longer than a moment', () => {
  const begun = { ...EMPTY, joining: 1 }
  const seen = { account: ACCOUNT, meta: begun, pages: 3 }
  const first = patienceWith(undefined, seen, 0, 1)
  expect(patienceWith(first, seen, 99, 1)).toBe(first)
  expect(first.untilMs).toBe(100)
  expect(patienceWith(first, { ...seen, pages: 4 }, 99, 1).untilMs).toBe(199)
})
