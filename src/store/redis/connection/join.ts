/** Makes a server and a process known to each other: which life of which server this is, and what that means for job numbers. */
import { assert } from '../../../core/assert.ts'
import { LAYOUT } from '../script/scripts.ts'
import type { Backing, Server } from './backing.ts'
import { incarnationOf } from './info.ts'
import { list, word } from './reply.ts'
import { RedisStoreError } from './trouble.ts'

/** A server that came back may have lost its last second, and with it which job numbers were given out: so many are left out. */
const SKIPPED = 2 ** 24
const TRIES = 100

/** A server with nothing behind it: what it says is so. */
export const alone = (server: Server, clockSetByMs: () => number): Backing => ({
  join: () => join(server, clockSetByMs),
  answer: async ({ send }) => list(await send()),
  close: async () => {},
  compared: async () => [],
  standing: undefined,
  evicted: undefined,
})

/** The epoch that scripts are to be called with. */
async function join({ send, run, process, meta }: Server, clockSetByMs: () => number): Promise<string> {
  const incarnation = await incarnationOf(send)
  const ids = meta.replace(/meta$/, 'set:ids')
  for (let n = 0; n < TRIES; n += 1) {
    const there = await send(['HGET', ids, 'next'])
    const before = there === null ? '' : word(there)
    const answer = list(await run('join', [incarnation, before, skipped(before), String(clockSetByMs()), process]))
    if (answer[0] === 'joined') return word(answer[1])
    if (answer[0] === 'layout') throw otherLayout(word(answer[1]))
    if (answer[0] === 'ledger') throw hasLedger()
  }
  throw new RedisStoreError(
    'STORE_FAILED',
    `pawl: the server could not be joined in ${TRIES} tries: others change its job numbers all the time`,
  )
}

const otherLayout = (layout: string): RedisStoreError =>
  new RedisStoreError(
    'STORE_FAILED',
    `pawl: what is in this Redis was written by another version of pawl (layout ${layout}; this one knows ${LAYOUT}). Use that version, or another prefix.`,
  )

const hasLedger = (): RedisStoreError =>
  new RedisStoreError(
    'STORE_FAILED',
    'pawl: what is in this Redis has a ledger: without it nothing may be written here. Open it with that, or use another prefix.',
  )

/** The counter's document, further on. */
function skipped(stored: string): string {
  if (stored === '') return ''
  const [, rev, at, text] = /^(\d+) (\d+) (.*)$/s.exec(stored) ?? []
  const counter = JSON.parse(text ?? '{}') as { readonly next?: unknown }
  assert(typeof counter.next === 'number', 'the id counter is a number')
  return `${Number(rev) + 1} ${at} ${JSON.stringify({ ...counter, next: counter.next + SKIPPED })}`
}
