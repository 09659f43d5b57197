/** `past` says by itself where a job stood before each of its rows and after: whoever audits it with SQL reads nothing else. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { evolve } from '../../../src/core/evolve.ts'
import { idNumber } from '../../../src/core/id.ts'
import { type Job, RANK } from '../../../src/core/job.ts'
import { impliedRequestId } from '../../../src/core/receipt.ts'
import { grow, growAll, SPECIMENS } from '../../../src/store/conformance/specimens.ts'
import { openStoreFixture, type Saying, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { STEP_BITS, stepOf } from '../../../src/store/postgres/names/step.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let database: FreshDatabase
let client: pg.Client
let fixture: StoreFixture

beforeAll(async () => {
  database = await migratedDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const store = await openPostgresStore({ url: database.url, migrate: true })
  fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
})

afterAll(async () => {
  await fixture.store.close()
  await client.end()
  await database.drop()
})

interface Row {
  readonly from_rev: number
  readonly rev: number
  readonly from_step: string
  readonly to_step: string
  readonly claimed: boolean
}

const rowsOf = async ({ id }: Job): Promise<readonly Row[]> => {
  const text = `select from_rev, rev, from_step, to_step, coalesce(claim > 0, false) as claimed
    from pawl.past where job = $1 order by from_rev`
  return (await client.query<Row>(text, [idNumber(id)])).rows
}

/** The step of a job at each of its revisions, by its events. */
async function stepsOf({ id }: Job): Promise<ReadonlyMap<number, number>> {
  const steps = new Map<number, number>()
  let job: Job | undefined
  for (const event of await fixture.events(id)) {
    job = evolve(job, event)
    steps.set(job.rev, stepOf(job))
  }
  return steps
}

async function expectTrue(job: Job): Promise<readonly Row[]> {
  const [rows, steps] = [await rowsOf(job), await stepsOf(job)]
  for (const row of rows) {
    expect([Number(row.from_step), Number(row.to_step)], `row ${row.from_rev} of ${job.id}`).toEqual([
      steps.get(row.from_rev),
      steps.get(row.rev),
    ])
  }
  return rows
}

const fence = (job: Job): string => job.lease?.fence ?? ''
const ended = (job: Job): Saying => ({ type: 'complete', fence: fence(job) })
/** The worker's usual word, which is the same for all jobs of a claim. */
const endedAlike = (job: Job): Saying => ({
  ...ended(job),
  actor: 'worker:w1',
  requestId: impliedRequestId(fence(job), 'complete'),
})
const moved = (job: Job): Saying => ({ type: 'release', fence: fence(job), reason: 'shutdown' })

const claimable = [...SPECIMENS.queued, ...SPECIMENS.retrying, ...SPECIMENS.stalled].filter(
  ({ name }) => !name.startsWith('compensating'),
)

describe('a row of history', () => {
  it('says where its job stood before and after, however it came there', async () => {
    for (const job of await growAll(fixture)) await expectTrue(job)
  })

  it.each([
    ['a job that ended', 'ends', ended, 1],
    ['one of many that ended alike', 'alike', endedAlike, 40],
    ['a job that moved on', 'moves', moved, 1],
  ] as const)('says what %s was claimed from', async (_, queue, saying, copies) => {
    const grown: Promise<Job>[] = []
    for (const specimen of claimable) for (let n = 0; n < copies; n++) grown.push(grow(fixture, specimen, { queue }))
    await Promise.all(grown)
    const { jobs } = await fixture.claim({ queue, limit: 1_000 })
    const records = await Promise.all(jobs.map(({ before }) => fixture.record(before.id)))
    const now = await fixture.now()
    const verdicts = await fixture.commit(...records.map((job) => fixture.change(job, saying(job), now)))
    expect(new Set(verdicts.map(({ status }) => status))).toEqual(new Set(['applied']))

    const ranks = new Set<number>()
    for (const job of records) {
      for (const { claimed, from_step } of await expectTrue(job)) {
        if (claimed) ranks.add(Number(from_step) & (2 ** STEP_BITS.attempt - 1))
      }
    }
    expect(ranks).toEqual(new Set([RANK.queued, RANK.retrying, RANK.stalled]))
  })
})
