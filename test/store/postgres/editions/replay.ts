/** What a process of an earlier edition said, said again: on a database that today's code may have brought up to date. */
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { type Answer, type Call, type Edition, type Session, unorderedIn } from './edition.ts'
import { asked, codeOf, withoutTransaction } from './recording.ts'
import { BEGINNING, keepServerTime, setServerTime } from './server-time.ts'

/** A call that is not answered as it was. */
export interface Difference {
  readonly call: number
  readonly statement: string
  readonly values: readonly unknown[]
  readonly was: Answer
  readonly is: Answer
}

export class Replay implements AsyncDisposable {
  readonly #edition: Edition
  readonly #sessions: Readonly<Record<Session, pg.Client>>
  readonly #unordered: ReadonlySet<string>
  #next = 0
  #at = BEGINNING

  private constructor(edition: Edition, sessions: Readonly<Record<Session, pg.Client>>) {
    this.#edition = edition
    this.#sessions = sessions
    this.#unordered = unorderedIn(edition.schema)
  }

  /** Makes the edition's schema in an empty database. */
  static async open(url: string, edition: Edition): Promise<Replay> {
    const connected = async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      return client
    }
    const [store, caller, listener] = [await connected(), await connected(), await connected()]
    await store.query(edition.schema)
    const replay = new Replay(edition, { store, caller, listener })
    await replay.keepTime()
    return replay
  }

  readonly ask = async (text: string, values: unknown[] = []): Promise<unknown[][]> =>
    (await this.#sessions.store.query<unknown[]>({ text, values, rowMode: 'array' })).rows

  /** After functions were applied, which read the time from the machine again. */
  async keepTime(): Promise<void> {
    await keepServerTime(this.#sessions.store)
    await setServerTime(this.#sessions.store, this.#at)
  }

  /** Goes on up to that call, and answers with what is answered otherwise than it was. */
  async until(end: number): Promise<readonly Difference[]> {
    const different: Difference[] = []
    for (; this.#next < end; this.#next += 1) {
      const call = this.#edition.calls[this.#next]
      if (call === undefined) throw new Error(`edition ${this.#edition.number} has no call ${this.#next}`)
      const [, , statement, values, was] = call
      const is = await this.#said(call)
      const alike = (answer: Answer) => (this.#isOrdered(statement) ? answer : inAnyOrder(answer))
      if (!isDeepStrictEqual(alike(is), alike(was))) different.push({ call: this.#next, statement, values, was, is })
    }
    return different
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of Object.values(this.#sessions)) await client.end()
  }

  #isOrdered(statement: string): boolean {
    const [, name = ''] = /"pawl"\.(\w+)\(/.exec(this.#edition.statements[statement] ?? '') ?? []
    return !this.#unordered.has(name)
  }

  async #said([at, session, statement, values]: Call): Promise<Answer> {
    if (at !== this.#at) await setServerTime(this.#sessions.store, at)
    this.#at = at
    const text = this.#edition.statements[statement] ?? statement
    try {
      return withoutTransaction(text, await asked(this.#sessions[session], text, values))
    } catch (error) {
      return codeOf(error)
    }
  }
}

const inAnyOrder = (answer: Answer): Answer =>
  typeof answer === 'string' ? answer : answer.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
