/**
 * A TCP proxy on loopback in front of a server, whose way can be made bad: what firewalls, dead switches and failovers do
 * to connections, at the moment a test says so.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpProxy extends AsyncDisposable {
  /** The url that was given, with this proxy in place of the server. */
  readonly url: string
  /** Connections that were let in, ever; and those that are open at our end. */
  readonly accepted: number
  readonly open: number
  /** Connections that were refused, ever. */
  readonly refused: number
  /** Those that exist are silent from now on, both ways, for good: neither end is told. */
  swallow(): void
  /** Those that exist are reset. */
  reset(): void
  /** New ones are led to another server. */
  lead(serverUrl: string): void
  /** What happens to new ones. */
  fresh(fate: Fate): void
  /** How long everything takes, each way. */
  delay(ms: number): void
  stop(): Promise<void>
}

/** `pass`; `swallow`: let in, and silent; `refuse`: reset at once. */
export type Fate = 'pass' | 'swallow' | 'refuse'

export async function startProxy(serverUrl: string): Promise<TcpProxy> {
  let target = new URL(serverUrl)
  const pairs = new Set<Pair>()
  let fate: Fate = 'pass'
  let delayMs = 0
  let accepted = 0
  let refused = 0
  const server = createServer((near) => {
    near.on('error', () => {})
    if (fate === 'refuse') {
      refused += 1
      return void near.resetAndDestroy()
    }
    accepted += 1
    const pair = new Pair(near, connect(Number(target.port || 5432), target.hostname), () => delayMs)
    if (fate === 'swallow') pair.swallow()
    pairs.add(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const stop = async () => {
    for (const pair of pairs) pair.end()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: url.href,
    get accepted() {
      return accepted
    },
    get open() {
      return [...pairs].filter((pair) => pair.isOpen).length
    },
    get refused() {
      return refused
    },
    swallow() {
      for (const pair of pairs) pair.swallow()
    },
    reset() {
      for (const pair of pairs) pair.end()
    },
    lead(to) {
      target = new URL(to)
    },
    fresh(next) {
      fate = next
    },
    delay(ms) {
      delayMs = ms
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** One connection: whoever came, and the server. */
class Pair {
  readonly #near: Socket
  readonly #far: Socket
  #silent = false

  constructor(near: Socket, far: Socket, delayMs: () => number) {
    this.#near = near
    this.#far = far
    far.on('error', () => {})
    this.#carry(near, far, delayMs)
    this.#carry(far, near, delayMs)
  }

  get isOpen(): boolean {
    return !this.#near.destroyed
  }

  /** The server is not told that its client has gone, nor the client that the server has: nothing gets through. */
  swallow(): void {
    this.#silent = true
  }

  end(): void {
    this.#near.resetAndDestroy()
    this.#far.resetAndDestroy()
  }

  #carry(from: Socket, to: Socket, delayMs: () => number): void {
    const later = (act: () => void) => {
      const ms = delayMs()
      if (ms === 0) act()
      else setTimeout(act, ms)
    }
    from.on('data', (bytes) => {
      if (!this.#silent) later(() => to.destroyed || to.write(bytes))
    })
    from.on('close', () => {
      if (!this.#silent) later(() => to.destroy())
    })
  }
}
