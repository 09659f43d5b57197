/**
 * Hints, passed on to clients that listen over HTTP: that there may be work, or news of a job; never what. Nothing is
 * read for them. (Workers used to take their hints from the event stream, for which each event is read: 110 of the 123 µs
 * of CPU that a job drained over HTTP cost the database.)
 */
import type { Hint } from '../../store/store.ts'
import type { Clock } from '../../system/clock.ts'
import type { Timers } from '../../system/timers.ts'
import { type Ear, Listener } from './listener.ts'

export class Hearing {
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()

  constructor(timers: Timers, clock: Clock) {
    this.#timers = timers
    this.#clock = clock
  }

  hinted(hint: Hint): void {
    for (const listener of this.#listeners) listener.hinted(hint)
  }

  /** Passes hints on to a listener, until that is disposed of. */
  listen(ear: Ear): Listener {
    const leave = () => this.#listeners.delete(listener)
    const listener = new Listener({ ear, timers: this.#timers, clock: this.#clock, leave })
    this.#listeners.add(listener)
    return listener
  }
}
