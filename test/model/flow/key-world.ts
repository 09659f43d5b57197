/**
 * One key and a few attempts under it. Everything that can end an attempt may happen at any moment, also after whatever else
 * ended in the meantime; an operator may speak; the clock stands still, moves by a millisecond, or to whatever comes next.
 * Now is always the same instant: times are rebased, and what is too long ago to matter is all the same.
 */
import type { KeyEvent } from '../../../src/core/flow/event.ts'
import { keyBreaches } from '../../../src/core/flow/invariants.ts'
import { atRest, type KeyCause, type KeyRecord, keyStateAt } from '../../../src/core/flow/key.ts'
import { COOL_BASE_MS, COOL_MAX_MS, calmMs, HEARD_MS, RAISE_MS, STRIKE_MS } from '../../../src/core/flow/numbers.ts'
import type { KeyInput } from '../../../src/core/flow/signal.ts'
import { keyMovesFrom } from '../../../src/core/flow/transitions.ts'
import { breach, must } from '../breach.ts'
import type { FlowCore } from './flow-core.ts'

export const NOW = 10_000_000_000
const LONG_AGO = NOW - HEARD_MS - 1
const SESSION = 5
const CAUSE: KeyCause = { job: 'pj_1', attempt: 1, code: 'E', actor: 'worker:w', requestId: 'r' }
const HEALED_WITHIN = 200

/** An attempt that was let in and claimed, and has not ended. */
interface Attempt {
  readonly claimedAt: number
  readonly session: number
}

export interface KeyWorld {
  readonly key: KeyRecord
  readonly concurrency: number | undefined
  readonly attempts: readonly Attempt[]
  /** Kept by the model: bad episodes since it was open, and failures in a row. */
  readonly episodes: number
  readonly row: number
  readonly rowAt: number
}

export interface KeyBounds {
  readonly attempts: number
  readonly depth: number
}

/** With so many failures in a row already: five of them are a long way. */
export const beginning = (concurrency: number | undefined, row = 0): KeyWorld => ({
  key: { ...atRest('k'), session: SESSION, freshFrom: LONG_AGO, strikes: row, struckAt: row === 0 ? 0 : NOW },
  concurrency,
  attempts: [],
  episodes: 0,
  row,
  rowAt: row === 0 ? LONG_AGO : NOW,
})

type Reach = (label: string, next: KeyWorld) => void

export class Keys {
  readonly taken = new Set<string>()
  readonly #core: FlowCore
  readonly #bounds: KeyBounds

  constructor(core: FlowCore, bounds: KeyBounds) {
    this.#core = core
    this.#bounds = bounds
  }

  successors(world: KeyWorld, reach: Reach): void {
    const { attempts } = world
    if (this.#hasRoom(world) && attempts.length < this.#bounds.attempts) reach('let in', this.#letIn(world))
    for (const [i, attempt] of attempts.entries()) {
      if (attempts.findIndex((other) => same(other, attempt)) < i) continue
      const without = { ...world, attempts: attempts.toSpliced(i, 1) }
      reach('nothing', without)
      for (const input of inputsOf(attempt)) reach(labelOf(input), this.#hear(without, input, attempt))
    }
    for (const type of ['reset', 'probe'] as const) reach(type, this.#hear(world, { type, cause: CAUSE }, undefined))
    for (const concurrency of [1, 2, 4])
      if (world.concurrency !== undefined && concurrency !== world.concurrency)
        reach(`set ${concurrency}`, this.#hear({ ...world, concurrency }, { type: 'set', cause: CAUSE }, undefined))
    for (const ms of clocksOf(world)) reach(`${ms} ms later`, later(world, ms))
  }

  /** Whatever state it is in: nothing but successes from now on, and it opens. */
  heal(from: KeyWorld): void {
    let world: KeyWorld = { ...from, attempts: [] }
    for (let n = 0; n < HEALED_WITHIN; n += 1) {
      if (world.key.state === 'open') return
      while (this.#hasRoom(world) && world.attempts.length < 8) world = this.#letIn(world)
      for (const attempt of world.attempts) {
        const without = { ...world, attempts: world.attempts.slice(1) }
        world = this.#hear(without, { type: 'succeeded', claimedAt: attempt.claimedAt, cause: CAUSE }, attempt)
      }
      world = later(world, Math.max(...clocksOf(world)))
    }
    breach('F13', `not open after ${HEALED_WITHIN} rounds of nothing but successes: ${describe(from)}`)
  }

  #use({ key, concurrency, attempts }: KeyWorld) {
    const slots = attempts.map(({ claimedAt }, i) => ({ job: `pj_${i}`, letInAt: claimedAt, claimedAt }))
    return { gate: this.#core.gateOf(key, { concurrency }), slots, paces: [], spent: 0, window: 0 }
  }

  #hasRoom(world: KeyWorld): boolean {
    const use = this.#use(world)
    const room = this.#core.shortageOf(use.gate, this.#core.countOf(use, NOW), NOW) === undefined
    const { key, concurrency, attempts } = world
    const most = concurrency ?? (key.state === 'broken' ? Infinity : key.state === 'open' ? Infinity : key.allowed)
    const probes = attempts.filter(({ claimedAt }) => claimedAt >= key.until).length
    const state = keyStateAt(key, NOW)
    if (state === 'broken') must(!room, 'F5', 'let in while broken')
    if (state === 'probing' && probes > 0) must(!room, 'F6', 'a second probe')
    if (state === 'probing' && probes === 0 && attempts.length < most) must(room, 'F13', 'no probe is let in')
    if (state === 'probing' && attempts.length >= most) must(!room, 'F1', 'a probe beyond the limit')
    if (state === 'slow') must(room === attempts.length < Math.min(key.allowed, most), 'F1', 'slow, and another number')
    if (state === 'open') must(room === attempts.length < most, 'F1', 'open, and another number than its limit')
    return room
  }

  #letIn(world: KeyWorld): KeyWorld {
    return { ...world, attempts: sorted([...world.attempts, { claimedAt: NOW, session: world.key.session }]) }
  }

  #hear(world: KeyWorld, input: KeyInput, attempt: Attempt | undefined): KeyWorld {
    const { key } = world
    const around = { limit: { concurrency: world.concurrency }, taken: world.attempts.length + (attempt ? 1 : 0) }
    const decision = attempted(() => this.#core.decideKey(Object.freeze(key), input, around, NOW))
    const { event, events, key: after } = decision
    const books = booksAfter(world, input, attempt, event)
    if (event === undefined) {
      must(after === key, 'fold', 'changed without an event')
      judgeSilence(world, input, attempt)
      return { ...world, ...books }
    }
    for (const each of events) this.taken.add(rowOf(each))
    const wasProbed = keyStateAt(key, NOW) === 'probing' && event.type !== 'limited'
    must((events[0]?.type === 'probing') === wasProbed, 'probing', 'what ends the probing says when it began')
    const known = keyMovesFrom(input.type, event.from).some(
      ({ to, event: type }) => to === event.to && type === event.type,
    )
    must(known, 'table', rowOf(event))
    for (const { invariant, what } of keyBreaches(key, event, after, around, attempt?.claimedAt))
      breach(invariant, what)
    judgeEvent(world, input, attempt, event, after, books)
    return { ...world, ...books, key: { ...after, session: after.session, cause: undefined, rev: 0, since: 0 } }
  }
}

/** What must not happen in silence. */
function judgeSilence({ key }: KeyWorld, input: KeyInput, attempt: Attempt | undefined): void {
  if (input.type === 'retry_after')
    must(closedUntil(key) >= NOW + input.retryAfterMs, 'F10', 'Retry-After was not heard')
  const fresh = attempt !== undefined && attempt.claimedAt >= key.freshFrom
  if (fresh && input.type === 'throttled') breach('episode', 'pushed back, and nothing changed')
  if (fresh && input.type === 'succeeded' && key.state === 'open') {
    const heard = Math.max(key.freshFrom, key.stepAt, key.struckAt, key.heardAt)
    must(NOW - heard < HEARD_MS, 'session', 'it was used, and would be forgotten with its session')
  }
  if (input.type === 'reset' || (input.type === 'probe' && keyStateAt(key, NOW) === 'broken'))
    breach('hand', input.type)
}

function judgeEvent(
  { key, row }: KeyWorld,
  input: KeyInput,
  attempt: Attempt | undefined,
  event: KeyEvent,
  after: KeyRecord,
  books: Books,
): void {
  if (attempt !== undefined && attempt.claimedAt < key.freshFrom)
    must(input.type === 'retry_after' && after.session === key.session, 'episode', `an echo: ${event.type}`)
  if (after.session > key.session) must(attempt?.session === key.session, 'F7', 'blamed for another session')
  if (input.type === 'reset') must(after.session === key.session && after.state === 'open', 'hand', 'reset')
  if (input.type === 'throttled' && key.state === 'slow')
    must(after.state === 'broken' || after.allowed < key.allowed, 'episode', 'pushed back in vain')
  if (input.type === 'throttled') must(after.session === key.session + 1, 'F7', 'pushed back under the same session')
  if (input.type === 'retry_after')
    must(closedUntil(after) >= NOW + input.retryAfterMs, 'F10', 'Retry-After was not heard')
  if (event.type === 'broken' && input.type === 'unavailable' && event.from !== 'probing')
    must(row + 1 >= (event.from === 'open' ? 5 : 2), 'strikes', `broken after ${row + 1} in a row`)
  if (event.type === 'broken' && input.type !== 'retry_after') {
    const curve = Math.min(COOL_MAX_MS, COOL_BASE_MS * 2 ** (Math.min(7, books.episodes) - 1))
    must(after.until - NOW >= curve, 'F10', `cool-down of ${after.until - NOW} ms in episode ${books.episodes}`)
  }
  if (event.type === 'counted' && input.type === 'unavailable')
    must(books.row < (event.from === 'open' ? 5 : 2), 'strikes', `not broken after ${books.row} in a row`)
  if (event.type === 'raised') must(NOW - key.stepAt >= RAISE_MS, 'raise', 'too soon')
  must(after.level === Math.min(7, books.episodes), 'F10', `level ${after.level} in episode ${books.episodes}`)
  if (event.type === 'limited') must(after.allowed <= key.allowed, 'hand', 'raised by a limit')
}

type Books = Pick<KeyWorld, 'episodes' | 'row' | 'rowAt'>

function booksAfter(
  world: KeyWorld,
  input: KeyInput,
  attempt: Attempt | undefined,
  event: KeyEvent | undefined,
): Books {
  const { key, episodes, row, rowAt } = world
  const fresh = attempt !== undefined && attempt.claimedAt >= key.freshFrom
  const worse = fresh && (event?.type === 'slowed' || event?.type === 'broken')
  const opened = event?.type === 'opened' || event?.type === 'reset'
  const count = opened ? 0 : worse ? episodes + 1 : episodes
  if (
    opened ||
    event?.type === 'broken' ||
    event?.type === 'slowed' ||
    event?.type === 'recovering' ||
    (fresh && input.type === 'succeeded')
  )
    return { episodes: count, row: 0, rowAt: LONG_AGO }
  if (!fresh || input.type !== 'unavailable') return { episodes: count, row, rowAt }
  return { episodes: count, row: (NOW - rowAt > STRIKE_MS ? 0 : row) + 1, rowAt: NOW }
}

const closedUntil = ({ state, until }: KeyRecord): number => (state === 'broken' ? until : 0)

const inputsOf = ({ claimedAt }: Attempt): readonly KeyInput[] => [
  { type: 'throttled', claimedAt, cause: CAUSE },
  { type: 'retry_after', retryAfterMs: 0, claimedAt, cause: CAUSE },
  { type: 'retry_after', retryAfterMs: 40_000, claimedAt, cause: CAUSE },
  { type: 'unavailable', claimedAt, cause: CAUSE },
  { type: 'succeeded', claimedAt, cause: CAUSE },
]

const labelOf = (input: KeyInput): string =>
  input.type === 'retry_after' ? `retry after ${input.retryAfterMs} ms` : input.type

function clocksOf({ key }: KeyWorld): readonly number[] {
  const times = [key.until, key.stepAt + RAISE_MS, key.freshFrom + calmMs(key.level), key.struckAt + STRIKE_MS + 1]
  if (key.heardAt > LONG_AGO) times.push(NOW + HEARD_MS)
  return [...new Set([1, ...times.filter((at) => at > NOW + 1).map((at) => at - NOW)])]
}

/** As if `ms` had passed. */
export function later(world: KeyWorld, ms: number): KeyWorld {
  const moved = (at: number): number => (at === 0 ? 0 : Math.max(LONG_AGO, at - ms))
  const { key } = world
  const times = {
    freshFrom: moved(key.freshFrom),
    until: moved(key.until),
    struckAt: moved(key.struckAt),
    stepAt: moved(key.stepAt),
    heardAt: moved(key.heardAt),
  }
  // What was an echo remains one, however long ago both are.
  const attempts = world.attempts.map(({ claimedAt, session }) => ({
    claimedAt: claimedAt < key.freshFrom ? Math.min(moved(claimedAt), times.freshFrom - 1) : moved(claimedAt),
    session,
  }))
  return { ...world, key: { ...key, ...times }, attempts: sorted(attempts), rowAt: moved(world.rowAt) }
}

/** The same world with small numbers: sessions count from the present one. */
export function canonical(world: KeyWorld): KeyWorld {
  const shift = world.key.session - SESSION
  const attempts = world.attempts.map(({ claimedAt, session }) => ({
    claimedAt,
    session: Math.max(0, session - shift),
  }))
  // Noted within the hour, or not: nothing else is asked of it.
  const heardAt = NOW - world.key.heardAt < HEARD_MS ? NOW : 0
  const key = { ...world.key, session: SESSION, good: Math.min(world.key.good, 9), heardAt }
  return { ...world, key, attempts, episodes: Math.min(world.episodes, 7), row: Math.min(world.row, 5) }
}

const same = (a: Attempt, b: Attempt): boolean => a.claimedAt === b.claimedAt && a.session === b.session

const sorted = (attempts: readonly Attempt[]): readonly Attempt[] =>
  attempts.toSorted((a, b) => a.claimedAt - b.claimedAt || a.session - b.session)

export const rowOf = ({ input, from, type, to }: KeyEvent): string => `${input} while ${from} by ${type} to ${to}`

export const describe = ({ key, attempts, concurrency }: KeyWorld): string => {
  const { state, allowed, target, level, strikes, good, until, freshFrom } = key
  const from = freshFrom - NOW
  const ages = attempts.map(({ claimedAt }) => NOW - claimedAt).join()
  return `${state} ${allowed}/${concurrency} target ${target} level ${level} strikes ${strikes} good ${good} until ${until && until - NOW} fresh from ${from}; attempts ${ages}`
}

/** Core never throws for a domain reason. */
function attempted<T>(decide: () => T): T {
  try {
    return decide()
  } catch (error) {
    return breach('total', error instanceof Error ? error.message : String(error))
  }
}
