/** The part of the driver that pawl calls, as an interface: tests put something in between. */
import type { Socket } from 'node:net'
import pg from 'pg'
import type { DriverConfig } from './target.ts'

export interface Client {
  /** `host:port`, for words. */
  readonly where: string
  connect(): Promise<unknown>
  query(question: Question): Promise<{ rows: unknown[] }>
  /** Takes leave when nothing is under way. */
  end(): Promise<void>
  /** Closes the socket at once, without taking leave of a server that may not hear it. Statements under way fail. */
  destroy(): void
  /** Resolves when it has ended, however that came, with the error it ended by, if there was one. */
  readonly gone: Promise<Error | undefined>
  heard(listener: (channel: string, payload: string) => void): unknown
  /** Notices that the server sends besides its answers. */
  noticed(listener: (code: string, message: string) => void): unknown
  /** The process id of the backend, as told when the connection was greeted. A pooler makes one up. */
  processId(): number | null
  traffic(): Traffic
  /** The driver's own client, for a handler that is handed a transaction. */
  readonly driver: pg.Client
}

export interface Question {
  readonly name?: string
  readonly text: string
  readonly values: unknown[]
  readonly rowMode: 'array'
  readonly types: typeof TYPES
}

/** A row, column by column. Numbers are numbers, everything else is text or null. */
export type Row = readonly (string | number | boolean | null)[]

/** Bytes since the beginning. */
export interface Traffic {
  readonly sent: number
  readonly received: number
  /** How many of the statements sent have been answered: fewer than were sent while an answer is waited for. */
  readonly answered: number
}

export interface ClientConfig {
  /** The address of one host. */
  readonly host: DriverConfig
  /** The application name, for people who look at the server's connections; one in the address goes first. */
  readonly name: string
  /** Statements are sent as they come, and not one after the other. */
  readonly pipeline: boolean
}

export type Connect = (config: ClientConfig) => Client

/** Between two signs of life on a connection that rests: a dead one is found before a statement needs it. */
const KEEP_ALIVE_MS = 10_000

export const connectWithPg: Connect = ({ host, name, pipeline }) => {
  const client = new pg.Client({
    ...host,
    fallback_application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    pipeline,
  })
  return overDriver(client)
}

/** Another one once the connection is encrypted. */
export const socketOf = ({ connection }: pg.Client): Socket => connection.stream as Socket

/** A client that is to be connected, or one that is already. */
export function overDriver(client: pg.Client): Client {
  const socket = () => socketOf(client)
  let answered = socket().bytesWritten
  client.on('drain', () => {
    answered = socket().bytesWritten
  })
  const gone = new Promise<Error | undefined>((resolve) => {
    let reason: Error | undefined
    client.on('error', (error) => {
      reason ??= error
    })
    client.on('end', () => resolve(reason))
  })
  return {
    where: client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`,
    async connect() {
      await client.connect()
      answered = socket().bytesWritten
    },
    query: (question) => client.query(question),
    end: () => client.end(),
    destroy: () => socket().destroy(),
    gone,
    heard: (listener) => client.on('notification', ({ channel, payload = '' }) => listener(channel, payload)),
    noticed: (listener) => client.on('notice', ({ code = '', message = '' }) => listener(code, message)),
    processId: () => (client as Connected).processID,
    traffic: () => ({ sent: socket().bytesWritten, received: socket().bytesRead, answered }),
    driver: client,
  }
}

/** The driver keeps it, and its types do not say so. */
type Connected = pg.Client & { readonly processID: number | null }

const INT2 = 21
const INT4 = 23
const INT8 = 20
const BOOL = 16

/** 8-byte numbers are times, ids and counts: all of them safe integers. */
export const TYPES = {
  getTypeParser: (oid: number): ((text: string) => unknown) =>
    oid === INT8 || oid === INT4 || oid === INT2 ? Number : oid === BOOL ? isTrue : asIs,
}
const isTrue = (text: string): boolean => text === 't'
const asIs = (text: string): string => text
