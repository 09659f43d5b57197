/**
 * The limit: pawl's own functions called with ready-made words over two connections; no core, no adapter, no fences to
 * make, no handlers to start. The same tables, the same rows, the same audited lifecycle.
 */
import pg from 'pg'
import { builtArrays, builtMigrate } from '../build.ts'
import type { Contender, Working } from '../contender.ts'
import { payload } from '../contender.ts'

const BATCH = 500
const INPUT = JSON.stringify(payload(1_000_000.123))
const LANE = 15
const WINDOW_MS = 30_000

export const bareSql: Contender = {
  name: 'bare-sql',
  store: 'postgres',
  share: 1,
  keeps: 'what pawl keeps',
  configuration: `two connections, batches of ${BATCH}`,
  async prepare(url) {
    const [client] = await connected(url, 1)
    const { migrate } = await builtMigrate()
    const ask = async (text: string, values: unknown[] = []) => {
      const { rows } = await client.query({ text, values, rowMode: 'array' })
      return rows as unknown[][]
    }
    await migrate(ask, 'pawl')
    await client.query(`insert into pawl.queue (hash, tenant, name) values ('h', 't', 'q')`)
    await client.query(
      `insert into pawl.kind (hash, queue, type, window_ms, policy) values ('h', 1, 't', ${WINDOW_MS}, '[]')`,
    )
    await client.end()
  },
  async connect(url) {
    const clients = await connected(url, 2)
    let inserted = 0
    return {
      async bulk({ length }) {
        await insert(clients[0], inserted + 1, inserted + length)
        inserted += length
        return []
      },
      one: async () => {
        throw new Error('bare SQL has no single enqueue: that is the batcher of whoever calls it')
      },
      work: async ({ handle }) => drain(clients, () => handle(payload())),
      async close() {
        for (const client of clients) await client.end()
      },
    }
  },
}

async function connected(url: string, count: number): Promise<[pg.Client, ...pg.Client[]]> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }))
  for (const client of clients) await client.connect()
  return clients as [pg.Client, ...pg.Client[]]
}

async function insert(client: pg.Client, first: number, last: number): Promise<void> {
  const { bigints, texts } = await builtArrays()
  for (let from = first; from <= last; from += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, last - from + 1) }, (_, i) => from + i)
    await client.query('select pawl.insert_plain($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)', [
      bigints(ids),
      texts(ids.map(() => INPUT)),
      texts(['{"i":94}']),
      ...[`{${Date.now()}}`, '{1}', `{${LANE}}`, `{${WINDOW_MS}}`],
      ...['{}', '{}', '{}', '{}', '{}'],
      '{-eq}',
    ])
  }
}

function drain(clients: readonly pg.Client[], handled: () => void | Promise<void>): Working {
  const loops = Promise.all(clients.map((client, worker) => drainWith(client, worker, handled)))
  let ended = false
  void loops.then(() => {
    ended = true
  })
  return { settled: async () => ended, stop: async () => void (await loops) }
}

async function drainWith(client: pg.Client, worker: number, handled: () => void | Promise<void>): Promise<void> {
  const claim = 'select * from pawl.claim($1, null, $2, $3, $4, $5, $6, $7, $8)'
  for (let round = 0; ; round += 1) {
    const values = [`${worker}/${round}`, 'w', 'worker:w', '0123456789abcdef', `{${LANE}}`, '{0}', BATCH, 8 << 20]
    const { rows } = await client.query<unknown[]>({ text: claim, values, rowMode: 'array' })
    const [answer] = rows
    const [, claimedAt, , bundle, , , numbers] = answer ?? []
    if (!Array.isArray(numbers)) return
    const ids = `{${numbers}}`
    const at = Number(claimedAt)
    const events = '[0,["s",0,"o"],["S",0,null,[["output",0],0]]]'
    const alike = { i: ids, r: 2, n: at + WINDOW_MS, v: 4, s: 24, a: at, z: 'S', p: 1, e: events, c: bundle }
    const words = [JSON.stringify([alike]), ids, '{3}', '{1}', '{csSS}']
    if (bundle === null) await client.query('select * from pawl.settle_leases($1, $2, $3, $4, $5)', words)
    else await client.query('select * from pawl.settle_bundles($1, $2, $3, $4, $5, $6)', [...words, `{${bundle}}`])
    for (let i = 0; i < numbers.length; i += 1) void handled()
  }
}
