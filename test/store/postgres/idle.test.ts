/** What workers with nothing to do ask of the server. Counted by the rounds of the one on duty, not by a clock. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineJob } from '../../../src/library/define-job.ts'
import type { Pawl } from '../../../src/library/pawl.ts'
import { openOn } from '../../../src/open.ts'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'

const WORKERS = 8
const ROUNDS = 12

let database: FreshDatabase
const opened: Pawl[] = []
/** Statements, and those that ask what is due, by process. */
const asked = Array.from({ length: WORKERS }, () => ({ all: 0, due: 0 }))

const counted =
  (count: { all: number; due: number }): Connect =>
  (config) => {
    const client = connectWithPg(config)
    return {
      ...client,
      query(question) {
        count.all += 1
        if (question.text.includes('.due(')) count.due += 1
        return client.query(question)
      },
    }
  }

const idle = defineJob({ type: 'idle', queue: 'idle', run: () => 'done' })

async function process(count: { all: number; due: number }): Promise<Pawl> {
  const store = await openPostgresStore({ url: database.url, connect: counted(count) })
  const pawl = openOn(store, {}, { lastDue: () => store.lastDue() })
  pawl.work([idle])
  return pawl
}

beforeAll(async () => {
  database = await migratedDatabase()
  await (await openPostgresStore({ url: database.url, migrate: true })).close()
  for (const count of asked) opened.push(await process(count))
})

afterAll(async () => {
  await Promise.all(opened.map((pawl) => pawl.close()))
  await database.drop()
})

const roundsOf = (counts: readonly { readonly due: number }[]) => counts.reduce((sum, { due }) => sum + due, 0)

it('of eight workers with nothing to do one asks what is due, and the others ask less than once each meanwhile', async () => {
  const rest = roundsOf(asked) + ROUNDS
  await eventually('all to have come to rest', () => roundsOf(asked) >= rest, { withinMs: 60_000 })
  const before = structuredClone(asked)
  await eventually('more rounds', () => roundsOf(asked) >= roundsOf(before) + ROUNDS, { withinMs: 60_000 })
  const since = asked.map(({ all, due }, i) => ({ all: all - (before[i]?.all ?? 0), due: due - (before[i]?.due ?? 0) }))
  const offDuty = since.filter(({ due }) => due === 0)
  expect(offDuty).toHaveLength(WORKERS - 1)
  const statements = offDuty.reduce((sum, { all }) => sum + all, 0)
  expect(statements).toBeLessThan(offDuty.length * ROUNDS)
})

it('a job whose delay is over is begun by somebody, although nobody looks every second', async () => {
  const [first] = opened
  const handle = await first?.enqueue(idle, undefined, { delay: '1500ms' })
  expect(await handle?.result({ timeout: '30s' })).toBe('done')
  const job = await first?.get(handle?.id ?? '')
  const events = (await first?.events({ by: 'job', id: handle?.id ?? '', afterRev: 0, limit: 10 }))?.events ?? []
  const claimedAt = events.find(({ type }) => type === 'claimed')?.at ?? Number.POSITIVE_INFINITY
  expect(job?.state).toBe('succeeded')
  expect(events.filter(({ type }) => type === 'claimed')).toHaveLength(1)
  expect(claimedAt).toBeGreaterThanOrEqual((events[0]?.at ?? 0) + 1_500)
})
