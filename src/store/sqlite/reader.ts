/**
 * The second thread, which only reads: beside the writer, as a write-ahead log allows, so that no question, however long
 * it takes, stands before a heartbeat. A thread that nobody asks anything is not there: it starts with the first question.
 * A question that is asked after a write was answered sees that write: each reads what is committed when it begins.
 */
import { type Channel, closed, type Reply } from './channel.ts'
import type { Asked, Op } from './protocol.ts'

export class Reader {
  readonly #start: () => Promise<Channel>
  #channel: Promise<Channel> | undefined
  #closed = false

  constructor(start: () => Promise<Channel>) {
    this.#start = start
  }

  async call<O extends Op>(op: O, asked: Asked<O>): Promise<Reply<O>> {
    if (this.#closed) throw closed()
    this.#channel ??= this.#start()
    const channel = this.#channel
    try {
      return await (await channel).call(op, asked)
    } catch (error) {
      // A reader that could not be opened is forgotten, so that the next question tries again.
      await channel.catch(() => {
        if (this.#channel === channel) this.#channel = undefined
      })
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    // A reader that could not be opened has nothing to close.
    const channel = await this.#channel?.catch(() => undefined)
    await channel?.close()
  }
}
