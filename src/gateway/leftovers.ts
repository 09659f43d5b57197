/**
 * What a refused request had still to send. Many clients read an answer only after they have sent everything, so what is left is
 * read and thrown away; but a flood of long bodies, each refused, was read with 120 MB a second, and the collector
 * threw it away with half of the machine. So the process reads so much of it, and what is more stays in the network:
 * such a client has its answer before it, and half a second later its connection is closed by the server's library.
 *
 * Modes: reading along (there is budget left) and leaving (it is spent: the request is paused and never resumed).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../system/clock.ts'

const MB = 1024 * 1024
/** Some of the largest bodies at once, and one more every second. */
const AT_ONCE_BYTES = 32 * MB
const PER_SECOND_BYTES = 8 * MB

export class Leftovers {
  readonly #clock: Clock
  #level = AT_ONCE_BYTES
  #at: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#at = clock.monotonicMs()
  }

  /** To be called before the request is answered: what it has not sent by then is a leftover. */
  watch(incoming: IncomingMessage, outgoing: ServerResponse): void {
    // Before Node's own listener, which would read all of it.
    outgoing.prependOnceListener('finish', () => {
      if (incoming.complete) return
      incoming.on('data', (chunk: Buffer) => {
        if (!this.#take(chunk.byteLength)) incoming.pause()
      })
    })
  }

  /** False where the budget is spent. It may be overdrawn by one chunk, which has been read already. */
  #take(bytes: number): boolean {
    const now = this.#clock.monotonicMs()
    this.#level = Math.min(AT_ONCE_BYTES, this.#level + ((now - this.#at) / 1_000) * PER_SECOND_BYTES)
    this.#at = now
    if (this.#level <= 0) return false
    this.#level -= bytes
    return true
  }
}
