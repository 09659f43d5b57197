/**
 * The heart of a key: what an input does to it, as events. Nothing is refused: an input that has no cell in the table, or
 * whose condition is not met, causes nothing. Reads no clock and changes nothing.
 */
import { assert, unreachable } from '../assert.ts'
import type { Time } from '../job.ts'
import type { KeyEvent, KeyEventType, KeyPayloads } from './event.ts'
import { evolveKey } from './evolve.ts'
import {
  type KeyCircumstances,
  type KeyRecord,
  type KeyState,
  keyStateAt,
  lastHeardAt,
  type StoredKeyState,
} from './key.ts'
import {
  allowedNow,
  calmMs,
  coolMs,
  HEARD_MS,
  half,
  levelUp,
  mostOf,
  RAISE_MS,
  STRIKE_MS,
  STRIKES_TO_BREAK,
  stepOf,
} from './numbers.ts'
import { askedMs, type KeyInput } from './signal.ts'
import { keyMovesFrom } from './transitions.ts'

export interface KeyDecision {
  /** What the input has done; undefined where nothing. */
  readonly event: KeyEvent | undefined
  /** That, and before it what time has done: written with what came of it. */
  readonly events: readonly KeyEvent[]
  /** The record with the events applied. */
  readonly key: KeyRecord
}

export function decideKey(key: KeyRecord, input: KeyInput, around: KeyCircumstances, now: Time): KeyDecision {
  // What was decided elsewhere under a clock that is ahead does not begin before it ends.
  const at = Math.max(now, key.since)
  const here: Place = { key, state: keyStateAt(key, at), around, at }
  const change = changeBy(here, input)
  if (change === undefined) return { event: undefined, events: [], key }
  const known = keyMovesFrom(input.type, here.state).some(({ event, to }) => event === change.type && to === change.to)
  assert(known, 'every move of a key is in the table')
  const turned = turnedBy(here, change, input)
  const before = turned === undefined ? key : evolveKey(key, turned)
  const stamp = { key: key.key, rev: before.rev + 1, at, input: input.type, from: here.state, cause: input.cause }
  const event = { ...stamp, ...change } as KeyEvent
  const events = turned === undefined ? [event] : [turned, event]
  return { event, events, key: evolveKey(before, event) }
}

/** That its cool-down was over, where what ends the probing is about to be written. */
function turnedBy({ key, state }: Place, { type }: Change, { cause }: KeyInput): KeyEvent | undefined {
  if (state !== 'probing' || type === 'limited') return undefined
  const byTime = { ...cause, job: undefined, attempt: undefined, code: undefined, actor: 'time' }
  const stamp = { key: key.key, rev: key.rev + 1, at: key.until, input: 'time', from: 'broken', to: 'broken' } as const
  return { ...stamp, type: 'probing', payload: {}, cause: byTime }
}

interface Place {
  readonly key: KeyRecord
  readonly state: KeyState
  readonly around: KeyCircumstances
  readonly at: Time
}

type Change = {
  readonly [T in KeyEventType]: { readonly type: T; readonly to: StoredKeyState; readonly payload: KeyPayloads[T] }
}[KeyEventType]

function changeBy(here: Place, input: KeyInput): Change | undefined {
  switch (input.type) {
    case 'throttled':
      return isFresh(here, input) ? throttled(here) : undefined
    case 'retry_after':
      return retryAfter(here, input.retryAfterMs, isFresh(here, input))
    case 'unavailable':
      return isFresh(here, input) ? unavailable(here) : undefined
    case 'succeeded':
      return isFresh(here, input) ? succeeded(here) : undefined
    case 'set':
      return limited(here)
    case 'reset':
      return { type: 'reset', to: 'open', payload: {} }
    case 'probe':
      return here.state === 'broken' ? { type: 'hastened', to: 'broken', payload: {} } : undefined
    default:
      return unreachable(input)
  }
}

/** This one comparison makes a burst one episode: all that was claimed before it began is an echo of it. */
const isFresh = ({ key }: Place, { claimedAt }: { readonly claimedAt: Time }): boolean => claimedAt >= key.freshFrom

function throttled(here: Place): Change {
  const { key, state, around } = here
  const have = allowedNow(key, around)
  if (state === 'probing' || (state === 'slow' && have <= 1))
    return broken(here, coolDown(here), { rotate: true, worse: true })
  return {
    type: 'slowed',
    to: 'slow',
    payload: {
      allowed: half(have),
      level: levelUp(key.level),
      session: key.session + 1,
      base: mostOf(key, around),
    },
  }
}

function retryAfter(here: Place, retryAfterMs: number, fresh: boolean): Change | undefined {
  const { key, state, at } = here
  const asked = askedMs(retryAfterMs, seedOf(here))
  if (state === 'broken') {
    return at + asked > key.until ? { type: 'prolonged', to: 'broken', payload: { until: at + asked } } : undefined
  }
  if (!fresh) return broken(here, asked, { rotate: false, worse: false })
  return broken(here, state === 'open' ? asked : Math.max(asked, coolDown(here)), { rotate: true, worse: true })
}

function unavailable(here: Place): Change {
  const { key, state, at } = here
  if (state === 'probing') return broken(here, coolDown(here), { rotate: false, worse: true })
  const strikes = (at - key.struckAt > STRIKE_MS ? 0 : key.strikes) + 1
  if (strikes >= STRIKES_TO_BREAK[key.state === 'open' ? 'open' : 'slow'])
    return broken(here, coolDown(here), { rotate: false, worse: true })
  return { type: 'counted', to: key.state, payload: { strikes, struckAt: at, good: key.good } }
}

function succeeded(here: Place): Change | undefined {
  const { key, state, around, at } = here
  if (state === 'probing') return { type: 'recovering', to: 'slow', payload: {} }
  if (state === 'open') {
    if (isUneventful(key, { type: 'succeeded' }, at)) return undefined
    return { type: 'counted', to: 'open', payload: { strikes: 0, struckAt: 0, good: 0, heardAt: at } }
  }
  const most = mostOf(key, around)
  const good = key.good + 1
  if (key.allowed >= most) {
    if (at - key.freshFrom >= calmMs(key.level)) return { type: 'opened', to: 'open', payload: {} }
  } else if (good >= key.allowed && at - key.stepAt >= RAISE_MS) {
    return { type: 'raised', to: 'slow', payload: { allowed: Math.min(most, raisedFrom(key, most)) } }
  }
  return { type: 'counted', to: 'slow', payload: { strikes: 0, struckAt: 0, good } }
}

/**
 * A success under a key that is open and without strikes changes nothing about it, whatever its limit; but of one whose session is not
 * the first it is noted now and then that it is in use: once it is forgotten, handlers begin again with identities that the other
 * side has seen through.
 */
export const isUneventful = (key: KeyRecord, { type }: Pick<KeyInput, 'type'>, now: Time): boolean =>
  type === 'succeeded' &&
  key.state === 'open' &&
  key.strikes === 0 &&
  (key.session === 0 || now - lastHeardAt(key) < HEARD_MS)

/** Twice as many up to where it was pushed back, for that much it took before; then step by step. */
const raisedFrom = ({ allowed, target }: KeyRecord, most: number): number =>
  allowed < target ? Math.min(target, 2 * allowed) : allowed + stepOf(most)

function limited({ key, around }: Place): Change {
  const allowed = key.state === 'slow' ? allowedNow(key, around) : key.allowed
  return { type: 'limited', to: key.state, payload: { limit: around.limit, allowed, before: around.limitBefore } }
}

interface Episode {
  /** The other side has seen through this session. */
  readonly rotate: boolean
  readonly worse: boolean
}

function broken(here: Place, forMs: number, { rotate, worse }: Episode): Change {
  const { key, around, at } = here
  const keepsTarget = !worse && key.target > 0
  return {
    type: 'broken',
    to: 'broken',
    payload: {
      // At least a millisecond: what was claimed in this one must not pass for a probe.
      until: at + Math.max(1, forMs),
      target: keepsTarget ? key.target : half(allowedNow(key, around)),
      level: worse ? levelUp(key.level) : key.level,
      session: rotate ? key.session + 1 : key.session,
      base: mostOf(key, around),
    },
  }
}

const coolDown = (here: Place): number => coolMs(levelUp(here.key.level), seedOf(here))

const seedOf = ({ key, at }: Place): string => `${key.key}/${key.session}/${levelUp(key.level)}/${at}`
