/** The views for reports, held against what the store itself says. */
import pg from 'pg'
import { expect } from 'vitest'
import { idNumber } from '../../../src/core/id.ts'
import type { Job } from '../../../src/core/job.ts'
import { storable } from '../../../src/store/codec/text.ts'
import type { Store } from '../../../src/store/store.ts'

/** Of every job: one row that says what its record says, and its events in the order of its log. */
export async function expectViews(store: Store, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const jobs = await allJobs(store)
    const { rows } = await client.query('select * from pawl.jobs order by id')
    expect(rows.map(({ input: _, output: __, ...row }) => row)).toEqual(jobs.map(rowOf))
    const { items } = await store.load(jobs.map(({ id }) => ({ id, bodies: ['input', 'output'] })))
    for (const [n, item] of items.entries()) {
      const { input, output } = item?.bodies ?? {}
      expect([rows[n].input, rows[n].output]).toEqual([textOf(input), textOf(output)])
    }
    const told = await client.query('select job, type from pawl.events order by job, rev, place')
    const typesOf = Map.groupBy(told.rows, ({ job }) => Number(job))
    for (const { id } of jobs) {
      const { events } = await store.events({ by: 'job', id, afterRev: 0, limit: 10_000 })
      const types = events.map(({ type }) => type).filter((type) => type !== 'heartbeat')
      const shown = typesOf.get(idNumber(id) ?? 0)?.map(({ type }) => type)
      expect(
        shown?.filter((type) => type !== 'heartbeat'),
        id,
      ).toEqual(types)
    }
    expect(typesOf.size).toBe(jobs.length)
  } finally {
    await client.end()
  }
}

async function allJobs(store: Store): Promise<readonly Job[]> {
  const jobs: Job[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.find({ order: 'oldest', limit: 500, cursor })
    jobs.push(...page.jobs)
    cursor = page.cursor
    if (cursor === undefined) return jobs
  }
}

const textOf = (body: string | undefined): string | null => (body === undefined ? null : storable(body))
const timeOf = (at: number | undefined): Date | null => (at === undefined ? null : new Date(at))

const rowOf = (job: Job) => ({
  id: String(idNumber(job.id)),
  tenant: storable(job.spec.kind.tenant),
  queue: storable(job.spec.kind.queue),
  type: storable(job.spec.kind.type),
  state: job.state,
  generation: job.generation,
  attempt: String(job.attempt),
  rev: job.rev,
  priority: job.priority,
  created_at: timeOf(job.spec.createdAt),
  ready_at: timeOf(job.readyAt),
  worker: job.owner === undefined ? null : storable(job.owner.workerId),
  lease_expires_at: timeOf(job.lease?.expiresAt),
  ended_at: timeOf(job.endedAt),
  correlation: job.spec.correlationId === job.id ? null : storable(job.spec.correlationId),
})
