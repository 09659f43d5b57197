/** Many new jobs are written column by column, what they share once: whatever differs, each comes back as it was. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Command } from '../../../src/core/command.ts'
import { decide } from '../../../src/core/decide.ts'
import { idNumber, idText } from '../../../src/core/id.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { NewJob, Store } from '../../../src/store/store.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { accepted, grantOf, kindOf, range } from './flow.ts'

let database: FreshDatabase
let store: Store
let client: pg.Client

beforeAll(async () => {
  database = await migratedDatabase()
  store = await openPostgresStore({ url: database.url, migrate: true })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await store.close()
  await database.drop()
})

const plain = kindOf('plain')
const others = {
  kind: kindOf('other', { leaseMs: 70_000 }),
  admitted: kindOf('admitted', { admission: true }),
  limited: kindOf('limited', { startWithinMs: 60_000 }),
}
const INPUT = '{"n":1}'

type Words = Partial<Extract<Command, { type: 'enqueue' }>> & {
  readonly text?: string | null
  readonly later?: number
}

/** One way each to differ from a job that has nothing special. */
const WAYS: Readonly<Record<string, Words>> = {
  'no input': { text: null },
  'an empty input': { text: '' },
  'another input': { text: '{"quotes":"\\"{},\\\\","null":null,"wide":"äß🙂"}' },
  'a long input': { text: JSON.stringify('x'.repeat(100_000)) },
  'a time': { later: 7 },
  'a kind': { kind: others.kind },
  'a priority': { priority: 9 },
  'an actor': { actor: 'user:"quoted"' },
  'a correlation': { correlationId: 'null' },
  labels: { labels: { colour: 'r,e}d', size: 'NULL' } },
  'a parent': { parentId: idText(77), workflowId: 'w' },
  'a later start': { runAt: 4_000_000_000_000 },
  'a time limit': { kind: others.limited },
  admission: { kind: others.admitted },
}

let last = 2 ** 33

function jobWith(at: number, { text = INPUT, later = 0, ...words }: Words): NewJob {
  last += 1
  const id = idText(last)
  const input = text ?? undefined
  const ref = input === undefined ? undefined : { name: 'input', size: input.length, digest: undefined }
  const asked = { id, kind: plain, priority: 5, input: ref, actor: 'producer', requestId: id } as const
  const { job, events } = accepted(decide(undefined, { type: 'enqueue', ...asked, ...words }, at + later))
  const [event] = events
  if (event === undefined) throw new Error('a new job has an event')
  return { job, event, input, keys: [] }
}

/** Enqueued together they are what was asked for, and their rows are those of twins that were enqueued one by one. */
async function areThemselves(ways: readonly Words[]): Promise<readonly NewJob[]> {
  const { now } = await store.load([])
  const items = ways.map((words) => jobWith(now, words))
  const { items: answers } = await store.insert(items)
  expect(answers).toEqual(items.map(() => ({ status: 'inserted' })))
  const found = await store.load(items.map(({ job }) => ({ id: job.id, bodies: ['input'] })))
  for (const [i, { job, input }] of items.entries()) {
    expect(found.items[i]?.job).toEqual(job)
    expect(found.items[i]?.bodies['input']).toBe(input)
  }
  const twins = ways.map((words) => jobWith(now, words))
  for (const twin of twins) await store.insert([twin])
  expect(await rowsOf(items)).toEqual(await rowsOf(twins))
  return items
}

async function rowsOf(items: readonly NewJob[]): Promise<readonly unknown[]> {
  const { rows } = await client.query(
    `select to_jsonb(j) - 'id' as job, to_jsonb(r) - 'id' as ready, to_jsonb(s) - 'id' as rest
     from pawl.job j left join pawl.ready r using (id) left join pawl.rest s using (id)
     where j.id = any($1) order by j.id`,
    [items.map(({ job }) => idNumber(job.id))],
  )
  expect(rows.length).toBe(items.length)
  return rows
}

describe('new jobs, column by column', () => {
  for (const [way, words] of Object.entries(WAYS)) {
    it(`${way}: shared by all, of the first only, of the last only`, async () => {
      await areThemselves([words, words, words])
      await areThemselves([words, {}, {}])
      await areThemselves([{}, {}, words])
    })
  }

  it('all ways at once, and many of them', async () => {
    await areThemselves(range(0, 5).flatMap(() => Object.values(WAYS)))
  })

  it('what was enqueued together with what may not run is claimed, and nothing else', async () => {
    const kind = kindOf('mixed')
    const held = kindOf('mixed', { admission: true })
    const items = await areThemselves(range(0, 10).map((n) => ({ kind: n % 3 === 0 ? held : kind })))
    const expected = items.filter(({ job }) => job.readyAt !== undefined).map(({ job }) => job.id)
    expect(expected.length).toBe(6)
    const { jobs } = await store.claim(grantOf('mixed', 20))
    const claimed = new Set(jobs.map(({ before }) => before.id))
    for (const { job } of items) expect(claimed.has(job.id)).toBe(expected.includes(job.id))
  })
})
