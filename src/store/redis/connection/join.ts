/** Makes a server and a process known to each other: which life of which server this is, and what that means for job numbers. */
import { assert } from '../../../core/assert.ts'
import { LAYOUT } from '../script/scripts.ts'
import { infoOf } from './info.ts'
import { list, type Reply, word } from './reply.ts'
import { RedisStoreError } from './trouble.ts'

interface JoinParts {
  readonly send: (words: readonly string[]) => Promise<Reply>
  readonly run: (args: readonly string[]) => Promise<Reply>
  readonly process: string
  readonly meta: string
  readonly clockSetByMs: () => number
}

/** A server that came back may have lost its last second, and with it which job numbers were given out: so many are left out. */
const SKIPPED = 2 ** 24
const TRIES = 100

/** The epoch that scripts are to be called with. */
export async function join({ send, run, process, meta, clockSetByMs }: JoinParts): Promise<string> {
  const info = infoOf(word(await send(['INFO'])))
  const incarnation = `${info['run_id']} ${info['master_replid']}`
  const ids = meta.replace(/meta$/, 'set:ids')
  for (let n = 0; n < TRIES; n += 1) {
    const there = await send(['HGET', ids, 'next'])
    const before = there === null ? '' : word(there)
    const answer = list(await run([incarnation, before, skipped(before), String(clockSetByMs()), process]))
    if (answer[0] === 'joined') return word(answer[1])
    if (answer[0] === 'layout') throw otherLayout(word(answer[1]))
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

/** The counter's document, further on. */
function skipped(stored: string): string {
  if (stored === '') return ''
  const [, rev, at, text] = /^(\d+) (\d+) (.*)$/s.exec(stored) ?? []
  const counter = JSON.parse(text ?? '{}') as { readonly next?: unknown }
  assert(typeof counter.next === 'number', 'the id counter is a number')
  return `${Number(rev) + 1} ${at} ${JSON.stringify({ ...counter, next: counter.next + SKIPPED })}`
}
