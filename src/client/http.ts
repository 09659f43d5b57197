/**
 * Requests to a gateway: retried while it cannot be reached or has too much to do, always with the same words, so
 * that the request ids inside make a repetition harmless.
 */
import type { Clock } from '../system/clock.ts'
import { withoutCredentials } from '../system/credentials.ts'
import { isBun } from '../system/is-bun.ts'
import type { Timers } from '../system/timers.ts'
import { turn } from '../system/turn.ts'
import { versionOfPawl } from '../system/version.ts'
import { fetchLines, type Heard, type Lines } from './lines.ts'
import { nodeLines } from './node-lines.ts'
import { patienceOf, tellsOfLines } from './patience.ts'

export interface HttpOptions {
  readonly url: string
  readonly token: string | undefined
  readonly timers: Timers
  readonly clock: Clock
  /** In place of connections of its own. */
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

/** Who asks, for logs. */
const AGENT = ['pawl', versionOfPawl()].filter((part) => part !== undefined).join('/')
const CLOSED = 'pawl was closed before the gateway had answered.'
const WITH_ANOTHER = 'another on the same way was not answered'
const TRIES = 6
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** The status of whoever has as much as it may. */
export const FULL = 429
const RETRIED: ReadonlySet<number> = new Set([408, FULL, 502, 503, 504])

/** A body comes through a poor line in its own time. */
const MS_PER_KB = 10
/** Whoever has waited in vain for so long asks no more. */
const SILENT_MS = 25_000

/** How one request is made, where it is not as usual. */
export interface Manner {
  /** What to do where there is no room. */
  readonly full?: 'ask again' | 'tell' | undefined
  /** How long the answer is of use; for ever unless given. */
  readonly usefulMs?: number | undefined
  /** How long the gateway was asked to wait. */
  readonly waitMs?: number | undefined
}

/** What all calls of a client have in common, those that end with a signal included. */
interface Common {
  /** The gateway's clock minus the monotonic one, when it last answered. */
  offsetMs: number
  /** Those under way. Each has a signal of its own: fetch lets go of a shared one only when garbage is collected. */
  readonly calls: Set<AbortController>
  /** Their tries, and the stream of hints: when each began, or was heard last. */
  readonly tries: Map<AbortController, number>
  readonly lines: Lines
  /** When something was heard on these lines last, by the monotonic clock; undefined while nothing was, since they were dropped. */
  heardAtMs: number | undefined
  /** Something has fallen silent, and nothing was heard since. */
  silent: boolean
  /** A stream has said something: nothing on the way keeps streams back until they end. */
  streams: boolean
  closed: boolean
}

/** One try, for as long as its answer comes. */
export interface Answering extends Disposable {
  readonly status: number
  header(name: string): string | undefined
  /** Each piece has the time that the whole had to begin. */
  readonly body: AsyncIterable<Uint8Array>
}

export class Http {
  readonly #options: HttpOptions
  readonly #common: Common
  readonly #until: AbortSignal | undefined

  constructor(options: HttpOptions, common?: Common, until?: AbortSignal) {
    const { clock, url, fetch } = options
    mustBeAskable(url)
    this.#options = options
    this.#common = common ?? {
      offsetMs: clock.now() - clock.monotonicMs(),
      calls: new Set(),
      tries: new Map(),
      lines: linesTo(url, fetch),
      heardAtMs: undefined,
      silent: false,
      streams: false,
      closed: false,
    }
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
    this.#common.lines.drop('all')
  }

  /** The answer, whatever it says; only what may pass by itself is asked again. */
  async request(method: string, path: string, text?: string, manner: Manner = {}): Promise<HttpAnswer> {
    this.#until?.throwIfAborted()
    if (this.#common.closed) throw new GatewayUnavailable(CLOSED)
    const { calls } = this.#common
    const call = new AbortController()
    const abort = () => call.abort(this.#until?.reason)
    calls.add(call)
    this.#until?.addEventListener('abort', abort)
    try {
      return await this.#answer({ method, path, text }, call.signal, manner)
    } finally {
      calls.delete(call)
      this.#until?.removeEventListener('abort', abort)
    }
  }

  /**
   * One try. Who falls silent is given up: for `withinMs` before its answer begins, or within its body. Where others were heard on these
   * lines, but none since, the lines are to blame, and all that is under way on them is given up with it, to be asked again on others.
   */
  async try({ method, path, text, accept }: Asking, signal: AbortSignal, withinMs: number): Promise<Answering> {
    const { timers, clock, token } = this.#options
    const { tries, lines, silent } = this.#common
    const line = new AbortController()
    const abort = () => line.abort(signal.reason)
    // Something on the way may keep a stream back until it ends: that no line is to blame for.
    let tells = accept === undefined || this.#common.streams
    let sinceMs = clock.monotonicMs()
    let timer: Disposable | undefined
    // Timers run before what has come is read: where this process was busy for as long, the answer may have been here all the time.
    const late = async () => {
      const mine = timer
      await turn()
      if (timer === mine) this.#fallenSilent(line, { withinMs, sinceMs, tells, isStream: accept !== undefined })
    }
    const arm = () => {
      timer?.[Symbol.dispose]()
      timer = timers.after(withinMs, late)
    }
    const heard = () => {
      sinceMs = clock.monotonicMs()
      tries.set(line, sinceMs)
      this.#common.heardAtMs = sinceMs
      this.#common.silent = false
    }
    const end = () => {
      timer?.[Symbol.dispose]()
      timer = undefined
      tries.delete(line)
      signal.removeEventListener('abort', abort)
    }
    tries.set(line, sinceMs)
    signal.addEventListener('abort', abort)
    arm()
    const headers = {
      'user-agent': AGENT,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept }),
    }
    try {
      const asked = { method, headers, body: text, signal: line.signal, isFresh: silent }
      const head = await unlessAborted(lines.ask(this.#url(path), asked), line.signal)
      heard()
      arm()
      this.#listen(head)
      const { status, header } = head
      let whole = false
      const body = pieces(head.body, line.signal, (piece) => {
        heard()
        tells = true
        if (accept !== undefined) this.#common.streams = true
        whole = piece === undefined
        if (whole) end()
        else arm()
      })
      const dispose = () => {
        end()
        if (!whole) line.abort()
      }
      return { status, header, body, [Symbol.dispose]: dispose }
    } catch (error) {
      end()
      throw error
    }
  }

  async #answer(asking: Asking, signal: AbortSignal, manner: Manner): Promise<HttpAnswer> {
    const { timers, clock } = this.#options
    const { full, usefulMs = Number.POSITIVE_INFINITY, waitMs = 0 } = manner
    const untilMs = clock.monotonicMs() + usefulMs
    const moreMs = waitMs + Math.floor((asking.text?.length ?? 0) / 1_024) * MS_PER_KB
    let reason = ''
    let silentMs = 0
    for (let n = 0; n < TRIES && silentMs < SILENT_MS; n += 1) {
      if (n > 0) await timers.sleep(pauseBefore(n), signal)
      signal.throwIfAborted()
      const triedMs = moreMs + patienceOf(usefulMs, untilMs - clock.monotonicMs(), pauseBefore(n + 1))
      try {
        using answer = await this.try(asking, signal, triedMs)
        if (leadsElsewhere(answer.status)) throw elsewhere(this.#options.url, asking.path, answer)
        const text = await textOf(answer.body)
        if (RETRIED.has(answer.status) && !(full === 'tell' && answer.status === FULL)) {
          reason = `it answered ${answer.status}`
          await this.#pause(answer, signal)
          continue
        }
        return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof GatewayUnavailable) throw error
        if (error instanceof Silent) silentMs += triedMs
        // It was another that was silent: this one has its tries still.
        if (error instanceof Dropped) n -= 1
        reason =
          error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error)
      }
    }
    throw new GatewayUnavailable(
      `pawl: ${this.#options.url} could not be asked: ${reason}. Is the gateway running there?`,
    )
  }

  #fallenSilent(line: AbortController, { withinMs, sinceMs, tells, isStream }: Silence): void {
    const { tries, lines, heardAtMs } = this.#common
    line.abort(new Silent(`no answer for ${withinMs / 1_000} s`))
    if (!tells) return
    // On a stream something is said all the time: who has waited about as long as one that is silent is on a line as old.
    const oldMs = sinceMs + withinMs / 2
    for (const [other, heardMs] of tries) if (isStream && heardMs <= oldMs) other.abort(new Dropped(WITH_ANOTHER))
    // Lines on which nothing was ever heard are as good as new ones: it is the gateway that does not answer.
    if (heardAtMs === undefined) return
    this.#common.silent = true
    if (!tellsOfLines(withinMs)) return lines.drop('idle')
    // What others hear meanwhile has come by lines that are good.
    if (heardAtMs > sinceMs) return lines.drop('idle')
    this.#common.heardAtMs = undefined
    for (const other of tries.keys()) other.abort(new Dropped(WITH_ANOTHER))
    lines.drop('all')
  }

  #url(path: string): string {
    // A gateway may be mounted below a path of its own.
    const { origin, pathname } = new URL(this.#options.url)
    return origin + pathname.replace(/\/+$/, '') + path
  }

  #listen(heard: Heard): void {
    const now = Number(heard.header('x-pawl-now'))
    if (now > 0) this.#common.offsetMs = now - this.#options.clock.monotonicMs()
  }

  async #pause(heard: Answering, signal: AbortSignal): Promise<void> {
    const seconds = Number(heard.header('retry-after') ?? 0)
    if (seconds > 0) await this.#options.timers.sleep(Math.min(LONGEST_PAUSE_MS, seconds * 1_000), signal)
  }
}

interface Asking {
  readonly method: string
  readonly path: string
  readonly text?: string | undefined
  /** Whoever says so wants a stream. */
  readonly accept?: string | undefined
}

/** Nothing has come for `withinMs`, since `sinceMs` by the monotonic clock. */
interface Silence {
  readonly withinMs: number
  readonly sinceMs: number
  /** It may tell of the lines. */
  readonly tells: boolean
  readonly isStream: boolean
}

/** A try that was not answered in its time. */
class Silent extends Error {
  override readonly name = 'Silent'
}

/** A try that was given up because another was not answered. */
class Dropped extends Error {
  override readonly name = 'Dropped'
}

const pauseBefore = (n: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** n)

/** Whoever brings a `fetch` has it used. Bun's own client for Node's requests keeps connections that cannot be dropped. */
const linesTo = (url: string, fetch: typeof globalThis.fetch | undefined): Lines =>
  fetch === undefined && !isBun ? nodeLines(url) : fetchLines(fetch ?? globalThis.fetch)

/** What is called off is over for whoever waits, whatever it makes of its signal. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  work.then(resolve, reject)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

const leadsElsewhere = (status: number): boolean => status >= 300 && status < 400

/** A token is for whom it was given to: nobody is followed with it. */
function elsewhere(url: string, path: string, { status, header }: Answering): GatewayUnavailable {
  const shown = withoutCredentials(url)
  const to = header('location')
  if (to === undefined || !URL.canParse(to, url))
    return new GatewayUnavailable(`pawl: ${shown} leads elsewhere (${status}) and does not say where: is it a gateway?`)
  const { href } = new URL(to, url)
  const next = withoutCredentials(href.endsWith(path) ? href.slice(0, -path.length) : href)
  return new GatewayUnavailable(`pawl: ${shown} is no gateway (${status}): it leads to ${next}: open that.`)
}

/** Tells of each piece, and of the end. */
async function* pieces(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  heard: (piece: Uint8Array | undefined) => void,
): AsyncGenerator<Uint8Array> {
  const from = body[Symbol.asyncIterator]()
  for (;;) {
    const { value, done } = await unlessAborted(from.next(), signal)
    heard(done ? undefined : value)
    if (done) return
    yield value
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) text += decoder.decode(piece, { stream: true })
  return text + decoder.decode()
}

/** What no retry would change is said at once. Whoever put a password into the URL means a token. */
function mustBeAskable(url: string): void {
  const shown = withoutCredentials(url)
  if (!URL.canParse(url)) throw new Error(`pawl: ${shown} is not a URL.`)
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    throw new Error(`pawl: ${shown} names a user; a gateway knows tokens only: give it one by \`token\` or PAWL_TOKEN.`)
}
