/** Flows, keys and held jobs as rows, and rounds over them on connections of one's own: what a store does, without the store. */
import pg from 'pg'
import type { Gate } from '../../../../src/core/flow/gate.ts'
import { idText } from '../../../../src/core/id.ts'
import type { Row } from '../../../../src/store/postgres/connection/client.ts'
import { statementsIn } from '../../../../src/store/postgres/connection/statements.ts'
import { documentRow } from '../../../../src/store/postgres/flow/flows.ts'
import { Rounds } from '../../../../src/store/postgres/flow/rounds.ts'
import { LET_IN } from '../../../../src/store/postgres/names/let-in-lane.ts'
import { openPostgresStore } from '../../../../src/store/postgres/postgres.ts'
import { filled } from '../../../../src/store/postgres/schema/constants.ts'
import { sqlFiles } from '../../../../src/store/postgres/schema/files.ts'
import { migratedDatabase } from '../../../support/migrated-postgres.ts'

export const statements = statementsIn('pawl')

export const OPEN: Gate = {
  slots: undefined,
  cap: undefined,
  openAt: 0,
  since: 0,
  rate: undefined,
  rateMs: 0,
  budget: undefined,
  perMs: 0,
  weight: 1,
}

export const atOnce = (most: number): Gate => ({ ...OPEN, slots: most, cap: most })

/** A word of a function's text that is replaced by another, in this database only. */
export interface Mutant {
  readonly of: string
  readonly from: string
  readonly to: string
}

export class HallTables {
  readonly #url: string
  readonly #drop: () => Promise<void>
  readonly #clients: pg.Client[] = []
  readonly client: pg.Client
  /** Of rounds: nobody is told but here. */
  readonly failures: unknown[] = []
  #job = 0

  private constructor(url: string, drop: () => Promise<void>, client: pg.Client) {
    this.#url = url
    this.#drop = drop
    this.client = client
  }

  static async open(...mutants: readonly Mutant[]): Promise<HallTables> {
    const { url, drop } = await migratedDatabase()
    await (await openPostgresStore({ url, migrate: true })).close()
    const tables = new HallTables(url, drop, new pg.Client({ connectionString: url }))
    await tables.client.connect()
    tables.#clients.push(tables.client)
    for (const { of, from, to } of mutants) {
      const text = filled(sqlFiles().get(`flow/${of}.sql`) ?? '')
      if (!text.includes(from)) throw new Error(`${of} does not say ${from}`)
      await tables.client.query(text.replace(from, () => to))
    }
    return tables
  }

  async another(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    this.#clients.push(client)
    return client
  }

  /** `between`: called after each look, before what came of it is applied. */
  rounds(client: pg.Client, between: () => Promise<unknown> = async () => {}): Rounds {
    const run = async (text: string, values: unknown[]): Promise<Row[]> => {
      if (text === statements.flowApply) await between()
      const { rows } = await client.query({ text, values, rowMode: 'array', types: { getTypeParser: parserOf } })
      return rows as Row[]
    }
    const failed = (error: unknown) => this.failures.push(error)
    return new Rounds({ run, statements, tell: () => {}, failed })
  }

  async queue(name: string): Promise<number> {
    const { rows } = await this.client.query('select pawl.intern_queues($1) as ids', [
      JSON.stringify([{ h: name, t: 't', q: name }]),
    ])
    return rows[0].ids[0]
  }

  /** Answers with the number of the flow and of its keys. */
  async flow(
    queue: string,
    keys: Readonly<Record<string, Gate>>,
    { priority = 5, fair = '' } = {},
  ): Promise<{ readonly flow: number; readonly keys: readonly number[]; readonly lane: number }> {
    const lane = 10 * (await this.queue(queue)) + priority
    const ks = Object.entries(keys).map(([k, gate]) => ({ k, ...documentRow({ gate, text: 'said' }) }))
    const h = JSON.stringify([lane, fair, Object.keys(keys)])
    const { rows } = await this.client.query<{ intern_flows: [[number, number[]]] }>(statements.internFlows, [
      JSON.stringify([{ h, l: lane, p: priority, t: 't', w: fair, ks }]),
    ])
    const [flow = 0, numbers = []] = rows[0]?.intern_flows[0] ?? []
    return { flow, keys: numbers, lane }
  }

  /** New jobs of a flow, held. */
  async hold(flow: number, count: number, { readyAt = 0, client = this.client } = {}): Promise<readonly number[]> {
    const ids = Array.from({ length: count }, () => {
      this.#job += 1
      return this.#job
    })
    await client.query(
      `insert into pawl.ready (id, ready_at, lane, window_ms, kind) select i, $2, $3, 30000, 1 from unnest($1::bigint[]) as i`,
      [ids, readyAt, -flow],
    )
    await client.query('insert into pawl.arrival (flow) values ($1)', [flow])
    return ids
  }

  /** Jobs that stand in a lane, without anything else to them. */
  async stand(lane: number, count: number): Promise<void> {
    await this.client.query(
      `insert into pawl.ready (id, ready_at, lane, window_ms, kind) select $1::bigint + n, 0, $2, 30000, 1 from generate_series(1, $3) as n`,
      [this.#job, lane + LET_IN, count],
    )
    this.#job += count
  }

  /** What a claim does: the job leaves its lane, and its slots are stamped. */
  async claim(lane: number, count = 1, client = this.client): Promise<readonly number[]> {
    const { rows } = await client.query(
      `with gone as (
         delete from pawl.ready r where r.ctid = any(array(select r.ctid from pawl.ready r where r.lane = $1
           order by r.ready_at, r.id limit $2 for update skip locked)) returning r.id
       ), stamped as (update pawl.slot s set claimed = pawl.clock() from gone g where s.job = g.id)
       select g.id from gone g order by g.id`,
      [lane + LET_IN, count],
    )
    return rows.map(({ id }) => Number(id))
  }

  /** What an end does, in a commit of its own or in a transaction of the caller's. */
  async free(jobs: readonly number[], client = this.client): Promise<void> {
    await client.query('select pawl.flow_free($1, pawl.clock())', [JSON.stringify(jobs.map((i) => ({ i })))])
  }

  async set(name: string, gate: Gate): Promise<void> {
    const { rows } = await this.client.query(`select rev from pawl.flow_key where tenant = 't' and key = $1`, [name])
    const row = { t: 't', k: name, v: rows[0].rev, ...documentRow({ gate, text: `after ${rows[0].rev}` }) }
    await this.client.query(statements.flowSet, [JSON.stringify(row)])
  }

  async standing(lane: number): Promise<readonly string[]> {
    const { rows } = await this.client.query('select id from pawl.ready where lane = $1 order by ready_at, id', [
      lane + LET_IN,
    ])
    return rows.map(({ id }) => idText(Number(id)))
  }

  async slots(key: number): Promise<number> {
    const { rows } = await this.client.query('select count(*)::int as n from pawl.slot where key = $1', [key])
    return rows[0].n
  }

  async waiting(flow: number): Promise<{ readonly waitsAt: string | null; readonly nextAt: number | null }> {
    const { rows } = await this.client.query('select waits_at, next_at from pawl.flow where id = $1', [flow])
    return { waitsAt: rows[0].waits_at, nextAt: rows[0].next_at === null ? null : Number(rows[0].next_at) }
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.end()
    await this.#drop()
  }
}

/** As the store's own connections have it: booleans are booleans, the rest is text. */
const parserOf = (oid: number) => (text: string) => (oid === 16 ? text === 't' : text)
