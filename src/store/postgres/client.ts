/** What is used of the driver; tests put something in between. */
import pg from 'pg'

export interface Client {
  connect(): Promise<unknown>
  query(question: Question): Promise<{ rows: unknown[] }>
  end(): Promise<void>
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
  /** Of its backend, as whoever answered the connection told it. A pooler invents one. */
  processId(): number | null
}

export interface Question {
  readonly name?: string
  readonly text: string
  readonly values: unknown[]
  readonly rowMode: 'array'
  readonly types: typeof TYPES
}

export interface ClientConfig {
  readonly url: string
  /** Statements are sent as they come, and not one after the other. */
  readonly pipeline: boolean
}

export type Connect = (config: ClientConfig) => Client

const QUERY_MS = 60_000
const CONNECT_MS = 10_000

export const connectWithPg: Connect = ({ url, pipeline }) => {
  const client = new pg.Client({
    connectionString: url,
    query_timeout: QUERY_MS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    pipeline,
  })
  return {
    connect: () => client.connect(),
    query: (question) => client.query(question),
    end: () => client.end(),
    on: (event, listener) => client.on(event, listener),
    processId: () => (client as Connected).processID,
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
