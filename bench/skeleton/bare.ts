/** The limit: pawl's own functions called with ready-made words over two connections; no core, no adapter, no loop. */
import pg from 'pg'
import { migrate } from '../../src/store/postgres/migrate.ts'
import type { Figures, Meter } from './meter.ts'

const BATCH = 500
const INPUT = JSON.stringify({ url: `https://example.com/${'x'.repeat(70)}` })

export async function bare(meter: Meter, jobs: number): Promise<Record<'enqueue' | 'drain', Figures>> {
  const clients = [
    new pg.Client({ connectionString: meter.url }),
    new pg.Client({ connectionString: meter.url }),
  ] as const
  for (const client of clients) await client.connect()
  const [first] = clients
  await migrate(first, 'pawl')
  await first.query(`insert into pawl.queue (hash, tenant, name) values ('h', 't', 'q')`)
  await first.query(`insert into pawl.kind (hash, queue, type, window_ms, policy) values ('h', 1, 't', 30000, '[]')`)
  for (const client of clients) await client.query('select 1')

  const enqueue = await meter.measure(jobs, async () => {
    for (let from = 1; from <= jobs; from += BATCH) {
      const ids = Array.from({ length: BATCH }, (_, i) => from + i)
      const t = Date.now()
      const rows = [{ i: `{${ids}}`, t, k: 1, l: 15, w: 30_000, b: ids.map(() => INPUT), h: '{"i":94}' }]
      await first.query('select pawl.insert_plain($1, $2, $3, $4)', [JSON.stringify(rows), `{${ids}}`, '{1}', '{-eq}'])
    }
  })
  await meter.settle('pawl')
  const drain = await meter.measure(jobs, async () => {
    await Promise.all(clients.map((client, worker) => drainWith(client, worker)))
  })
  for (const client of clients) await client.end()
  return { enqueue, drain }
}

async function drainWith(client: pg.Client, worker: number): Promise<void> {
  for (let round = 0; ; round += 1) {
    const { rows } = await client.query<unknown[]>({
      text: 'select * from pawl.claim($1, null, $2, $3, $4, $5, $6, $7, $8)',
      values: [`${worker}/${round}`, 'w', 'worker:w', '0123456789abcdef', '{15}', '{0}', BATCH, 8 << 20],
      rowMode: 'array',
    })
    const [head, ...claimed] = rows
    if (claimed.length === 0) return
    const ids = `{${claimed.map(([id]) => id)}}`
    const e = '[0,["s",0,"o"],["S",0,null,[["output",0],0]]]'
    const alike = { i: ids, r: 2, n: Number(head?.[1]) + 30_000, v: 4, s: 24, a: head?.[1], z: 'S', p: 1, e }
    await client.query('select * from pawl.settle($1, $2, $3, $4, $5)', [
      JSON.stringify([alike]),
      ids,
      '{3}',
      '{1}',
      '{csSS}',
    ])
  }
}
