/**
 * The way to a server: one connection that many calls share, each sent as it comes and answered in order. The driver connects again
 * by itself; what was under way then fails, and the store repeats it (`Calls.repeated`).
 */
import { loadDriver } from './driver.ts'
import type { Reply } from './reply.ts'

export interface Address {
  /** `redis://` or `rediss://`, with user, password and database. */
  readonly url: string
  /** How long the server may be silent before the connection is replaced. */
  readonly answerWithinMs: number
}

export interface Link {
  /** `host:port`, never who asks or with which password. */
  readonly where: string
  /** Counts connections: another number is another connection, hence perhaps another server. */
  readonly connections: number
  send(words: readonly string[]): Promise<Reply>
  /** Hears what is published on a channel; `again` after the connection was replaced, when something may have been missed. */
  listen(channel: string, heard: (message: string) => void, again: () => void): Promise<void>
  close(): Promise<void>
}

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500
/** Pings within the time that a server may be silent. */
const PINGS = 3

export async function openLink({ url, answerWithinMs }: Address): Promise<Link> {
  const { createClient } = await loadDriver()
  let connections = 0
  const client = createClient({
    url,
    RESP: 2,
    // What is asked while there is no connection fails at once: who asks waits, and asks again, as long as it wants to.
    disableOfflineQueue: true,
    pingInterval: Math.ceil(answerWithinMs / PINGS),
    socket: {
      connectTimeout: answerWithinMs,
      socketTimeout: answerWithinMs,
      noDelay: true,
      // Who opens a store is told at once that nobody is there; later on it is waited for.
      reconnectStrategy: (tries, cause) =>
        connections === 0 ? cause : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10)),
    },
  })
  let again = (): void => {}
  client.on('ready', () => {
    connections += 1
    if (connections > 1) again()
  })
  // Without a listener an error would end the process. The next call is told.
  client.on('error', () => {})
  await client.connect()
  return {
    where: placeOf(url),
    get connections() {
      return connections
    },
    send: (words) => client.sendCommand<Reply>([...words]),
    async listen(channel, heard, missed) {
      again = missed
      await client.sSubscribe(channel, heard)
    },
    async close() {
      client.destroy()
    },
  }
}

function placeOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? '6379' : port}`
}
