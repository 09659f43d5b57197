/** A process of today, and all that it says to the database's functions, with the answers. */
import pg from 'pg'
import {
  type Client,
  type Connect,
  connectWithPg,
  type Question,
  TYPES,
} from '../../../../src/store/postgres/connection/client.ts'
import { type Statements, statementsIn } from '../../../../src/store/postgres/connection/statements.ts'
import { openPostgresStore, type PostgresStore } from '../../../../src/store/postgres/postgres.ts'
import type { Transaction } from '../../../../src/store/store.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Answer, Call, Session } from './edition.ts'
import { BEGINNING, keepServerTime, setServerTime } from './server-time.ts'

/** What calls none of our functions, and what is asked in between, is not told. */
const OURS = /"pawl"\.\w+\(/

export class Recording implements AsyncDisposable {
  readonly store: PostgresStore
  readonly statements: Statements
  readonly calls: Call[]
  readonly #client: pg.Client
  readonly #time: { ms: number }

  private constructor(parts: { store: PostgresStore; client: pg.Client; calls: Call[]; time: { ms: number } }) {
    this.store = parts.store
    this.calls = parts.calls
    this.#client = parts.client
    this.#time = parts.time
    this.statements = statementsIn('pawl')
  }

  /** On a database of its own, which nobody else speaks to. */
  static async open(url: string): Promise<Recording> {
    await (await openPostgresStore({ url, migrate: true })).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await keepServerTime(client)
    await setServerTime(client, BEGINNING)
    const time = { ms: BEGINNING }
    const calls: Call[] = []
    const clock = { now: () => time.ms, monotonicMs: () => time.ms }
    let drawn = 0
    const draw = () => {
      drawn += 1
      return drawn.toString(16).padStart(16, '0')
    }
    const random = { hex64: draw, uuid: draw, secret: draw }
    const connect: Connect = (config) => recorded(connectWithPg(config), calls, time)
    const store = await openPostgresStore({ url, connect, clock, random })
    return new Recording({ store, client, calls, time })
  }

  /** Both clocks go on: the server's, and that of the process. */
  async advance(ms: number): Promise<void> {
    this.#time.ms += ms
    await setServerTime(this.#client, this.#time.ms)
  }

  /** Something that the process says only when it is in a hurry or has lost an answer, as it would say it. */
  async ask(text: string, values: unknown[]): Promise<readonly unknown[][]> {
    return told(this.calls, this.#time.ms, 'store', text, values, () => asked(this.#client, text, values))
  }

  /** A transaction of the caller's. */
  async transaction(work: (tx: Transaction) => Promise<void>, end: 'commit' | 'rollback' = 'commit'): Promise<void> {
    const query = async (text: string, values: unknown[] = []) => {
      const rows = await told(this.calls, this.#time.ms, 'caller', text, values, () =>
        asked(this.#client, text, values),
      )
      return { rows: [...rows] }
    }
    await query('begin')
    await work({ query })
    await query(end)
  }

  /** What the statement was last called with. */
  lastValues(text: string): unknown[] {
    const call = this.calls.findLast(([, , said]) => said === text)
    if (call === undefined) throw new Error(`nobody has said ${text}`)
    return [...call[3]]
  }

  async heard(what: string, isIt: (call: Call) => boolean): Promise<void> {
    await eventually(what, () => this.calls.some(isIt), { withinMs: 10_000, everyMs: 5 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close()
    await this.#client.end()
  }
}

function recorded(client: Client, calls: Call[], time: { readonly ms: number }): Client {
  return {
    ...client,
    async query(question: Question) {
      const { text, values } = question
      const session = text.includes('.hear(') ? 'listener' : 'store'
      let answer: { rows: unknown[] } = { rows: [] }
      await told(calls, time.ms, session, text, values, async () => {
        answer = await client.query(question)
        return answer.rows as unknown[][]
      })
      return answer
    },
  }
}

async function told(
  calls: Call[],
  at: number,
  session: Session,
  text: string,
  values: readonly unknown[],
  ask: () => Promise<readonly unknown[][]>,
): Promise<readonly unknown[][]> {
  const tell = (answer: Answer) => {
    if (session === 'caller' || OURS.test(text)) calls.push([at, session, text, values, answer])
  }
  try {
    const rows = await ask()
    tell(withoutTransaction(text, rows))
    return rows
  } catch (error) {
    tell(codeOf(error))
    throw error
  }
}

export async function asked(client: pg.Client, text: string, values: readonly unknown[]): Promise<unknown[][]> {
  return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array', types: TYPES })).rows
}

export const codeOf = (error: unknown): string => String((error as { code?: unknown }).code)

/** The number of the caller's transaction is another one every time. It comes last. */
export function withoutTransaction(text: string, rows: readonly unknown[][]): Answer {
  return text.includes('pg_current_xact_id') ? rows.map((row) => [...row.slice(0, -1), 'transaction']) : rows
}
