/**
 * One connection to one server, from the moment it was greeted to its end. Whether it still hears and is heard cannot be
 * told by looking at it; only that something was asked and nothing came for a while. Who looks now and then counts such
 * looks, and not time: a process that was blocked or asleep has not looked, and what came meanwhile is yet to be read.
 */
import type { Timers } from '../../../system/timers.ts'
import { within } from '../../../system/within.ts'
import { type Client, type Row, TYPES } from './client.ts'

/** The kind of work that a connection serves. */
export interface Role {
  /** The application name, by which people find it among the server's connections. */
  readonly name: string
  readonly pipeline: boolean
  /** How long a statement may take even while the server is seen working on it. */
  readonly workMs: number
}

/** What the server said of itself when it let us in. */
export interface Greeting {
  /** No pooler is in between. */
  readonly direct: boolean
  readonly processId: number
  /** When the backend began, by the server's clock: one with this process id that began later is another. */
  readonly at: string
}

export interface LinkParts {
  readonly client: Client
  readonly greeting: Greeting
  readonly role: Role
  /** When it was greeted, by our clock. */
  readonly sinceMs: number
}

export class Link {
  readonly client: Client
  readonly greeting: Greeting
  readonly role: Role
  readonly sinceMs: number
  /** Resolves when it has ended, however that came. */
  readonly gone: Promise<void>
  /** Why it was given up, where that was our doing. */
  #reason: Error | undefined
  /** The last statement asked behind a pooler: the next one waits for its answer. */
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false
  #received: number
  #quiet = 0
  #unseen = 0

  constructor({ client, greeting, role, sinceMs }: LinkParts) {
    this.client = client
    this.greeting = greeting
    this.role = role
    this.sinceMs = sinceMs
    this.#received = client.traffic().received
    this.gone = client.gone.then((reason) => {
      this.#reason ??= reason
    })
  }

  /** Why it ended, as far as anybody said. */
  get reason(): Error | undefined {
    return this.#reason
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** A statement was sent and has not been answered. */
  get isBusy(): boolean {
    const { sent, answered } = this.client.traffic()
    return sent !== answered
  }

  async ask(text: string, values: unknown[] = [], name?: string): Promise<Row[]> {
    const question = { ...(name !== undefined && { name }), text, values, rowMode: 'array', types: TYPES } as const
    const { direct } = this.greeting
    const asked = direct ? this.client.query(question) : this.#turn.then(() => this.client.query(question))
    if (!direct) this.#turn = asked.catch(() => {})
    const { rows } = await asked
    return rows as Row[]
  }

  /** An answer is waited for, and no byte has come since the last `look`. */
  get isQuiet(): boolean {
    const { sent, received, answered } = this.client.traffic()
    return sent !== answered && received === this.#received
  }

  look(): void {
    const quiet = this.isQuiet
    this.#received = this.client.traffic().received
    this.#unseen = quiet ? this.#unseen + 1 : 0
    this.#quiet = quiet ? this.#quiet + 1 : 0
  }

  /** Looks in a row at which it was quiet. */
  get quiet(): number {
    return this.#quiet
  }

  /** Looks in a row at which it was quiet, since the server was last seen working on the statement (`vouch`). */
  get unseen(): number {
    return this.#unseen
  }

  /** The server was seen working on what was asked. */
  vouch(): void {
    this.#unseen = 0
  }

  /** Gives it up: what is under way on it fails. */
  abandon(reason: Error | undefined): void {
    this.#reason ??= reason
    this.client.destroy()
  }

  /** Takes leave; or does without, where something is under way or nobody answers. */
  async close(timers: Timers): Promise<void> {
    this.#closed = true
    if (!this.isBusy) await within(timers, LEAVE_WITHIN_MS, this.client.end())
    this.client.destroy()
    await this.gone
  }
}

const LEAVE_WITHIN_MS = 500
