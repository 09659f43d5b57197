/**
 * Requests to a gateway: retried while it cannot be reached or has too much to do, always with the same words, so
 * that the request ids inside make a repetition harmless.
 */
import type { Clock } from '../system/clock.ts'
import { withoutCredentials } from '../system/credentials.ts'
import type { Timers } from '../system/timers.ts'

export interface HttpOptions {
  readonly url: string
  readonly token: string | undefined
  readonly timers: Timers
  readonly clock: Clock
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly body: unknown
}

/** The gateway could not be reached, or did not recover within the tries. */
export class GatewayUnavailable extends Error {
  override readonly name = 'GatewayUnavailable'
}

const CLOSED = 'pawl was closed before the gateway had answered.'
const TRIES = 6
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** The status of whoever has as much as it may. */
export const FULL = 429
const RETRIED: ReadonlySet<number> = new Set([408, FULL, 502, 503, 504])

/** What all calls of a client have in common, those that end with a signal included. */
interface Common {
  /** The gateway's clock minus the monotonic one, when it last answered. */
  offsetMs: number
  /** Those under way. Each has a signal of its own: fetch lets go of a shared one only when garbage is collected. */
  readonly calls: Set<AbortController>
  closed: boolean
}

export class Http {
  readonly #options: HttpOptions
  readonly #common: Common
  readonly #until: AbortSignal | undefined

  constructor(options: HttpOptions, common?: Common, until?: AbortSignal) {
    const { clock } = options
    mustBeAskable(options.url)
    this.#options = options
    this.#common = common ?? { offsetMs: clock.now() - clock.monotonicMs(), calls: new Set(), closed: false }
    this.#until = until
  }

  get offsetMs(): number {
    return this.#common.offsetMs
  }

  /** The same for one call. */
  until(signal: AbortSignal): Http {
    return new Http(this.#options, this.#common, signal)
  }

  /** Whoever still waits for an answer is told now: a gateway that swallows requests would keep them for minutes. */
  close(): void {
    this.#common.closed = true
    for (const call of this.#common.calls) call.abort(new GatewayUnavailable(CLOSED))
  }

  get fetch(): typeof globalThis.fetch {
    return this.#options.fetch ?? globalThis.fetch
  }

  url(path: string): string {
    // A gateway may be mounted below a path of its own.
    const { origin, pathname } = new URL(this.#options.url)
    return origin + pathname.replace(/\/+$/, '') + path
  }

  headers(): Record<string, string> {
    const { token } = this.#options
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** The answer, whatever it says; only what may pass by itself is asked again. `full`: what to do where there is no room. */
  async request(
    method: string,
    path: string,
    text?: string,
    more: Readonly<Record<string, string>> = {},
    full: 'ask again' | 'tell' = 'ask again',
  ): Promise<HttpAnswer> {
    this.#until?.throwIfAborted()
    if (this.#common.closed) throw new GatewayUnavailable(CLOSED)
    const headers = {
      ...this.headers(),
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    }
    const { calls } = this.#common
    const call = new AbortController()
    const abort = () => call.abort(this.#until?.reason)
    calls.add(call)
    this.#until?.addEventListener('abort', abort)
    try {
      const { signal } = call
      return await this.#answer(
        path,
        { method, headers, signal, ...(text === undefined ? {} : { body: text }) },
        signal,
        full,
      )
    } finally {
      calls.delete(call)
      this.#until?.removeEventListener('abort', abort)
    }
  }

  async #answer(
    path: string,
    asked: RequestInit,
    signal: AbortSignal,
    full: 'ask again' | 'tell',
  ): Promise<HttpAnswer> {
    let reason = ''
    for (let n = 0; n < TRIES; n += 1) {
      if (n > 0) await this.#options.timers.sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** n), signal)
      signal.throwIfAborted()
      try {
        const response = await this.fetch(this.url(path), asked)
        this.#listen(response)
        const answer = await response.text()
        if (RETRIED.has(response.status) && !(full === 'tell' && response.status === FULL)) {
          reason = `it answered ${response.status}`
          await this.#pause(response, signal)
          continue
        }
        return { status: response.status, body: answer === '' ? undefined : JSON.parse(answer) }
      } catch (error) {
        signal.throwIfAborted()
        reason =
          error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error)
      }
    }
    throw new GatewayUnavailable(
      `pawl: ${this.#options.url} could not be asked: ${reason}. Is the gateway running there?`,
    )
  }

  #listen(response: Response): void {
    const now = Number(response.headers.get('x-pawl-now'))
    if (now > 0) this.#common.offsetMs = now - this.#options.clock.monotonicMs()
  }

  async #pause(response: Response, signal: AbortSignal): Promise<void> {
    const seconds = Number(response.headers.get('retry-after') ?? 0)
    if (seconds > 0) await this.#options.timers.sleep(Math.min(LONGEST_PAUSE_MS, seconds * 1_000), signal)
  }
}

/** What no retry would change is said at once. Whoever put a password into the URL means a token. */
function mustBeAskable(url: string): void {
  const shown = withoutCredentials(url)
  if (!URL.canParse(url)) throw new Error(`pawl: ${shown} is not a URL.`)
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    throw new Error(`pawl: ${shown} names a user; a gateway knows tokens only: give it one by \`token\` or PAWL_TOKEN.`)
}
