/**
 * The connection that hears what others notify: on the channel of all, and on one whose name nobody else knows, so that
 * nobody else can listen. Modes: quiet (no connection), listening (opened again whenever it breaks).
 *
 * A connection that only listens never notices that it is dead: so it sends an empty statement now and then, and the route finds out
 * whether that is answered.
 */
import type { Clock } from '../../../system/clock.ts'
import { fractionOf, type Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import { within } from '../../../system/within.ts'
import type { Link, Role } from '../connection/link.ts'
import { keepsBackend } from '../connection/pooling.ts'
import type { Route } from '../connection/route.ts'
import type { Statements } from '../connection/statements.ts'

export interface ListeningParts {
  readonly route: Route
  readonly channel: string
  readonly statements: Pick<Statements, 'hear'>
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly heard: (payload: string) => void
  /** On the channel that is ours alone. */
  readonly heardAlone: (payload: string) => void
  /** Called when it listens again after a gap, in which notifications may have been missed. */
  readonly again: () => void
}

const LISTEN: Role = { name: 'listens', pipeline: false, workMs: 60_000 }
/** A subscriber waits no longer than this for the connection; hints that come before it are lost. */
const READY_WITHIN_MS = 2_000
const TRY_FOR_MS = 30_000
/** Pause before the connection is opened again, doubled each time it fails; that no server can be reached is the route's business. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

export class Listening {
  readonly #parts: ListeningParts
  /** Present while listening. */
  #stop: AbortController | undefined
  #stopped: Promise<void> = Promise.resolve()
  /** Present while there is a connection. */
  #link: Link | undefined
  #ownChannel: string | undefined

  constructor(parts: ListeningParts) {
    this.#parts = parts
  }

  /** The channel of this process alone; absent while nobody would hear a notification on it. */
  get ownChannel(): string | undefined {
    return this.#ownChannel
  }

  /** Resolves when it listens, has tried, or takes its time. */
  async start(): Promise<void> {
    if (this.#stop !== undefined) return
    const stop = new AbortController()
    this.#stop = stop
    const { promise, resolve } = Promise.withResolvers<void>()
    let isAwaited = true
    this.#stopped = this.#stopped.then(() => this.#listen(stop.signal, resolve, () => isAwaited))
    await within(this.#parts.timers, READY_WITHIN_MS, promise)
    isAwaited = false
  }

  stop(): Promise<void> {
    this.#stop?.abort()
    this.#stop = undefined
    return this.#stopped
  }

  /** The connection is a dead one, whatever it looks like. */
  deaf(): void {
    this.#ownChannel = undefined
    this.#link?.abandon(new Error('it did not hear what it was told'))
  }

  /** `isAwaited`: nobody has gone on without hearing, and may have missed something, or parked nothing. */
  async #listen(signal: AbortSignal, tried: () => void, isAwaited: () => boolean): Promise<void> {
    const { timers, random } = this.#parts
    let pauseMs = FIRST_PAUSE_MS
    for (let first = true; !signal.aborted; first = false) {
      const listens = () => {
        pauseMs = FIRST_PAUSE_MS
        if (!first || !isAwaited()) this.#parts.again()
        tried()
      }
      // There is no connection now: workers poll meanwhile.
      const inVain = await this.#once(signal, listens).catch(() => false)
      tried()
      if (inVain) return
      await timers.sleep(pauseMs * (0.5 + fractionOf(random) / 2), signal)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }

  /** Listens for as long as one connection lasts. True: behind this pooler no notification will ever arrive. */
  async #once(signal: AbortSignal, listens: () => void): Promise<boolean> {
    const { timers } = this.#parts
    const link = await this.#open(signal)
    const leave = () => void link.close(timers)
    signal.addEventListener('abort', leave)
    this.#link = link
    try {
      if (!link.greeting.direct && !(await this.#keepsBackend(link, signal))) return true
      await this.#hear(link)
      listens()
      await this.#attend(link, signal)
      return false
    } finally {
      this.#link = undefined
      this.#ownChannel = undefined
      signal.removeEventListener('abort', leave)
      await link.close(timers)
    }
  }

  #open(signal: AbortSignal): Promise<Link> {
    const { route, clock } = this.#parts
    return route.open(LISTEN, clock.monotonicMs() + TRY_FOR_MS, signal)
  }

  async #keepsBackend(link: Link, signal: AbortSignal): Promise<boolean> {
    const other = await this.#open(signal)
    try {
      return await keepsBackend(link, other)
    } finally {
      await other.close(this.#parts.timers)
    }
  }

  async #hear(link: Link): Promise<void> {
    const { channel: common, random, statements, heard, heardAlone } = this.#parts
    const own = `pawl_${random.hex64()}${random.hex64()}`
    link.client.heard((channel, payload) => {
      try {
        if (channel !== own) heard(payload)
        // Said to ourselves.
        else if (payload === '') this.#ownChannel = own
        else heardAlone(payload)
      } catch {
        // Every role that may connect may NOTIFY: a payload that cannot be read is passed over.
      }
    })
    // Not through a pooler, whose connections outlive us, lock and all. What is said to oneself may come all the same,
    // with the answer to having said it.
    if (link.greeting.direct) await link.ask(statements.hear, [own])
    await link.ask(`listen ${common}`)
  }

  /** Keeps the connection busy enough to be found dead, until it is gone. */
  async #attend(link: Link, signal: AbortSignal): Promise<void> {
    const { route, timers } = this.#parts
    const over = new AbortController()
    void link.gone.then(() => over.abort())
    const ends = AbortSignal.any([signal, over.signal])
    while (!ends.aborted) {
      await timers.sleep(route.answerWithinMs, ends)
      if (!ends.aborted) await link.ask('select')
    }
  }
}
