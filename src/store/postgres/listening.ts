/**
 * The connection that hears what others notify: on the channel of all, and on one whose name nobody else knows, so that
 * nobody else can listen. Modes: quiet (no connection), listening (opened again whenever it breaks).
 */
import pg from 'pg'
import type { Random } from '../../system/random.ts'
import type { Timers } from '../../system/timers.ts'
import type { Statements } from './statements.ts'

export interface ListeningParts {
  readonly url: string
  readonly channel: string
  readonly statements: Pick<Statements, 'hear'>
  readonly timers: Timers
  readonly random: Random
  readonly heard: (payload: string) => void
  /** On the channel that is ours alone. */
  readonly heardAlone: (payload: string) => void
  /** It listens again after it did not. */
  readonly again: () => void
}

const RECONNECT_MS = 250

export class Listening {
  readonly #parts: ListeningParts
  /** Present while listening. */
  #stop: AbortController | undefined
  #stopped: Promise<void> = Promise.resolve()
  #leave: (() => void) | undefined
  #ownChannel: string | undefined

  constructor(parts: ListeningParts) {
    this.#parts = parts
  }

  /** Absent while nothing would be heard on it. */
  get ownChannel(): string | undefined {
    return this.#ownChannel
  }

  /** Resolves when it listens, or has tried. */
  async start(): Promise<void> {
    if (this.#stop !== undefined) return
    const stop = new AbortController()
    this.#stop = stop
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stopped = this.#stopped.then(() => this.#listen(stop.signal, resolve))
    await promise
  }

  stop(): Promise<void> {
    this.#stop?.abort()
    this.#stop = undefined
    return this.#stopped
  }

  /** The connection is a dead one, whatever it looks like. */
  deaf(): void {
    this.#ownChannel = undefined
    this.#leave?.()
  }

  async #listen(signal: AbortSignal, ready: () => void): Promise<void> {
    const { url, timers, again } = this.#parts
    for (let first = true; !signal.aborted; first = false) {
      const client = new pg.Client({ connectionString: url, keepAlive: true })
      const broken = Promise.withResolvers<void>()
      const leave = () => {
        broken.resolve()
        client.end().catch(() => {})
      }
      try {
        client.on('error', () => broken.resolve())
        client.on('end', () => broken.resolve())
        this.#leave = leave
        signal.addEventListener('abort', leave)
        await client.connect()
        await this.#hear(client)
        if (!first) again()
        ready()
        await broken.promise
      } catch {
        // Not there now; polling is the truth meanwhile.
        ready()
      } finally {
        this.#ownChannel = undefined
        signal.removeEventListener('abort', leave)
        await client.end().catch(() => {})
      }
      if (!signal.aborted) await timers.sleep(RECONNECT_MS, signal)
    }
    ready()
  }

  async #hear(client: pg.Client): Promise<void> {
    const { channel: common, random, statements, heard, heardAlone } = this.#parts
    const own = `pawl_${random.hex64()}${random.hex64()}`
    client.on('notification', ({ channel, payload = '' }) => {
      try {
        if (channel !== own) heard(payload)
        // Said to ourselves.
        else if (payload === '') this.#ownChannel = own
        else heardAlone(payload)
      } catch {
        // Whoever may connect may say anything.
      }
    })
    // Not through a pooler, whose connections outlive us, lock and all, and listen for nobody. What is said to oneself
    // may come all the same, with the answer to having said it.
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    if (rows[0]?.pid === (client as Connected).processID) await client.query(statements.hear, [own])
    await client.query(`listen ${common}`)
  }
}

/** Who the server said it is. */
type Connected = pg.Client & { readonly processID: number | null }
