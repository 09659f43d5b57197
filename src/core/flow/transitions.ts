/**
 * The key's machine as data. `decideKey` may only answer with a move that stands here; the documentation and the model checker
 * read the same table. What has no cell changes nothing: a key is told of everything that happens to its jobs, and most of it
 * is none of its concern.
 */
import type { KeyEventType, KeyInputType } from './event.ts'
import type { KeyState, StoredKeyState } from './key.ts'

export interface KeyMove {
  readonly event: KeyEventType
  readonly to: StoredKeyState
  readonly when: string
}

type Cells = Readonly<Partial<Record<KeyState, readonly KeyMove[]>>>

const move = (event: KeyEventType, to: StoredKeyState, when: string): KeyMove => ({ event, to, when })

const breaks = (when: string): KeyMove => move('broken', 'broken', when)
/** The other side says itself when it can be asked again, and whoever hears it first is to be believed. */
const echoOfRetryAfter = breaks('echo: session and level stay')
const limited = (state: StoredKeyState): readonly KeyMove[] => [move('limited', state, 'always')]
const reset: readonly KeyMove[] = [move('reset', 'open', 'always')]

export const KEY_MACHINE: Readonly<Record<KeyInputType, Cells>> = {
  throttled: {
    open: [move('slowed', 'slow', 'fresh')],
    slow: [move('slowed', 'slow', 'fresh, more than one was allowed'), breaks('fresh, one was allowed')],
    probing: [breaks('fresh')],
  },
  retry_after: {
    open: [breaks('fresh: as long as asked'), echoOfRetryAfter],
    slow: [breaks('fresh: as long as asked, no shorter than the cool-down'), echoOfRetryAfter],
    broken: [move('prolonged', 'broken', 'echo, later than it would end')],
    probing: [breaks('fresh: as long as asked, no shorter than the cool-down'), echoOfRetryAfter],
  },
  unavailable: {
    open: [move('counted', 'open', 'fresh, fewer than five in a row'), breaks('fresh, the fifth in a row')],
    slow: [move('counted', 'slow', 'fresh, the first'), breaks('fresh, the second in a row')],
    probing: [breaks('fresh')],
  },
  succeeded: {
    open: [
      move('counted', 'open', 'fresh, after a strike, or the first in an hour under a session that is not the first'),
    ],
    slow: [
      move('counted', 'slow', 'fresh'),
      move('raised', 'slow', 'fresh, as many as allowed have succeeded, 10 s after the last raise'),
      move('opened', 'open', 'fresh, all that its limit has is allowed, and it has been calm'),
    ],
    probing: [move('recovering', 'slow', 'fresh')],
  },
  set: { open: limited('open'), slow: limited('slow'), broken: limited('broken'), probing: limited('broken') },
  reset: { open: reset, slow: reset, broken: reset, probing: reset },
  time: { broken: [move('probing', 'broken', 'its cool-down is over')] },
  probe: { broken: [move('hastened', 'broken', 'always')] },
}

export const keyMovesFrom = (input: KeyInputType, state: KeyState): readonly KeyMove[] =>
  KEY_MACHINE[input][state] ?? []
