/**
 * The way to a database, shared by all connections of a store: what one of them learns holds for the others.
 *
 *   up      connections are opened as they are wanted.
 *   down    nobody was let in when it was last tried. One attempt at a time, after a pause; all others wait for it.
 *   closed  no connection is left, none is opened.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import { fractionOf, type Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Connect } from './client.ts'
import { greeted } from './greeting.ts'
import { Link, type Role } from './link.ts'
import { Outage } from './outage.ts'
import type { DriverConfig, Target } from './target.ts'
import { type Attempt, isLost, PostgresUnavailable, reasonOf } from './trouble.ts'
import { Watch } from './watch.ts'

export interface RouteParts {
  readonly target: Target
  readonly connect: Connect
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
  /** How long a statement may go unanswered before the server is asked about its backend. */
  readonly answerWithinMs: number
  /** How long a connection, or a statement that was lost, is tried again while no server answers. */
  readonly retryForMs: number
}

/** A caller who comes while the database has been away for long is refused after this long. */
const TELL_AFTER_MS = 1_000

/** The connection from which `watch.ts` asks about the backends of the others. */
const WATCH: Role = { name: 'watch', pipeline: false, workMs: 0 }

export class Route {
  readonly #parts: RouteParts
  readonly #outage: Outage
  readonly #watch: Watch
  /** The host that let us in last: it is tried first. */
  #host: DriverConfig
  /** False for good once a pooler was seen in between. */
  #direct = true
  /** Present while the route is down and an attempt is under way. It resolves, whatever comes of it. */
  #attempt: Promise<void> | undefined
  /** Run on the first connection after one was lost, before others are used; and whether that is due, or under way. */
  #check: (link: Link) => Promise<void> = async () => {}
  #unchecked = false
  #rewoundMs = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined
  readonly #closing = new AbortController()

  constructor(parts: RouteParts) {
    this.#parts = parts
    this.#outage = new Outage(parts)
    this.#host = parts.target.hosts[0]
    this.#watch = new Watch({
      ...parts,
      fresh: () => this.#asked(),
      lost: (link) => this.#lost(link),
    })
  }

  /**
   * Called with the first connection after one was lost, before any is used: the server at the other end may not be the one that
   * was there before. Where it throws, so does whatever was waiting.
   */
  onReturn(check: (link: Link) => Promise<void>): void {
    this.#check = check
  }

  /** The server knows less than before, as was found out on this way or on another to it. */
  rewound(): void {
    this.#rewoundMs = this.#parts.clock.monotonicMs()
  }

  /** When that was found out last: what was asked until then must not be said to it. */
  get rewoundMs(): number {
    return this.#rewoundMs
  }

  get answerWithinMs(): number {
    return this.#parts.answerWithinMs
  }

  /** Until when a statement is tried that was to be sent at `fromMs`, or was lost then. */
  giveUpMs(fromMs: number): number {
    const { retryForMs } = this.#parts
    const awayMs = Math.min(fromMs, this.#outage.sinceMs ?? fromMs)
    return Math.max(awayMs + retryForMs, fromMs + Math.min(retryForMs, TELL_AFTER_MS))
  }

  /** A new connection. Throws where there is none by then; and before, when an attempt to get one has failed. */
  async open(role: Role, untilMs: number, signal: AbortSignal): Promise<Link> {
    if (this.#closing.signal.aborted) throw new Error('pawl: the store is closed')
    while (this.#attempt !== undefined) await this.#until(untilMs, signal, this.#attempt)
    const opening = this.#outage.isDown ? this.#again(role) : this.#opened(role)
    return this.#until(untilMs, signal, opening).catch((error: unknown) => {
      // Should it come after all, nobody wants it.
      opening.then((link) => link.close(this.#parts.timers)).catch(() => {})
      throw error
    })
  }

  /** A server that took writes takes none any more, and all connections lead there. */
  demoted(cause: unknown): void {
    this.#watch.abandonAll(new Error(reasonOf(cause), { cause }))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#watch.close()
    await this.#attempt
  }

  /** One attempt to connect, shared by all who wait for a link. */
  #again(role: Role): Promise<Link> {
    const { timers } = this.#parts
    const opening = timers.sleep(this.#outage.pauseMs, this.#closing.signal).then(() => this.#opened(role))
    const done = () => {
      this.#attempt = undefined
    }
    this.#attempt = opening.then(done, done)
    return opening
  }

  async #until<T>(untilMs: number, signal: AbortSignal, opening: Promise<T>): Promise<T> {
    const { clock, timers } = this.#parts
    const came = new AbortController()
    const ends = AbortSignal.any([came.signal, signal, this.#closing.signal])
    const over = timers.sleep(untilMs - clock.monotonicMs(), ends).then(() => {
      throw this.#outage.error ?? new PostgresUnavailable([])
    })
    try {
      return await Promise.race([opening, over])
    } finally {
      over.catch(() => {})
      came.abort()
    }
  }

  async #opened(role: Role): Promise<Link> {
    const failed: Attempt[] = []
    for (const host of this.#inOrder()) {
      const came = await this.#greeted(host, role)
      if (this.#closing.signal.aborted) {
        if (came instanceof Link) came.abandon(undefined)
        throw new Error('pawl: the store is closed')
      }
      if (came instanceof Link) return await this.#arrived(came, host)
      failed.push(came)
    }
    const error = new PostgresUnavailable(failed)
    this.#outage.refused(error)
    throw error
  }

  /** A connection to the host that has fallen silent, to ask about its backends. If it does not answer, the next host comes first from now on. */
  async #asked(): Promise<Link | Attempt> {
    const { hosts } = this.#parts.target
    const host = this.#host
    const came = await this.#greeted(host, WATCH)
    if (!(came instanceof Link)) this.#host = hosts[(hosts.indexOf(host) + 1) % hosts.length] ?? host
    return came
  }

  #greeted(host: DriverConfig, role: Role): Promise<Link | Attempt> {
    return greeted({ ...this.#parts, signal: this.#closing.signal }, host, role, this.#direct)
  }

  /** Hosts in the order to try them: the one that let us in last, then the others as the address has them, or at random where it asks for that. */
  #inOrder(): readonly DriverConfig[] {
    const { target, random } = this.#parts
    if (target.order === 'given') return [this.#host, ...target.hosts.filter((host) => host !== this.#host)]
    const drawn = target.hosts.map((host) => ({ host, at: fractionOf(random) }))
    return drawn.sort((a, b) => a.at - b.at).map(({ host }) => host)
  }

  async #arrived(link: Link, host: DriverConfig): Promise<Link> {
    this.#host = host
    this.#direct &&= link.greeting.direct
    this.#outage.over(link.client.where)
    this.#watch.add(link)
    try {
      while (this.#unchecked) await this.#checked(link)
      return link
    } catch (error) {
      link.abandon(undefined)
      throw isLost(error) ? new PostgresUnavailable([{ where: link.client.where, cause: error }]) : error
    }
  }

  async #checked(link: Link): Promise<void> {
    const done = () => {
      this.#checking = undefined
    }
    this.#checking ??= this.#check(link).finally(done)
    await this.#checking
    this.#unchecked = false
  }

  #lost({ client, reason, sinceMs, isBusy }: Link): void {
    this.#unchecked = true
    if (isBusy) this.#outage.lost(client.where, reasonOf(reason), sinceMs)
  }
}
