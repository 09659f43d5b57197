import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Assignment, Word } from '../../../src/engine/engine.ts'
import { defineJob, open, type Pawl } from '../../../src/index.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'

let database: FreshDatabase
let pawl: Pawl

beforeAll(async () => {
  database = await freshDatabase()
  pawl = await open(database.url, { migrate: true, ticker: false, retention: false })
})

afterAll(async () => {
  await pawl.close()
  await database.drop()
})

const job = defineJob({ type: 'told', queue: 'told', run: () => {} })

/** The start, so many words of progress and the success, all in one commit. */
function words({ job: { id }, fence }: Assignment, progressed: number): Word[] {
  const owner = { actor: 'worker:w', fence }
  const told = Array.from(
    { length: progressed },
    (_, i): Word => ({
      id,
      command: { ...owner, type: 'progress', requestId: `${fence}/progress/${i}`, counters: { pages: 1 } },
    }),
  )
  const start: Word = { id, command: { ...owner, type: 'start', requestId: `${fence}/start` } }
  return [
    ...(progressed > 0 ? [start] : []),
    ...told,
    { id, command: { ...owner, type: 'complete', requestId: `${fence}/complete` } },
  ]
}

describe('events that were told together with a success', () => {
  it('are found by their type, each of them, and a plain success is not in the way', async () => {
    await pawl.enqueueMany(
      job,
      Array.from({ length: 3 }, (_, i) => i),
    )
    const from = pawl.engine.now() - 60_000
    const lanes = [{ tenant: 'default', queue: 'told', priority: 5 }]
    const claimed = await pawl.engine.claim({ requestId: 'w/1', workerId: 'w', lanes, limit: 3 })
    expect(claimed.length).toBe(3)
    const [plain, one, four] = claimed as [Assignment, Assignment, Assignment]
    const answers = await pawl.engine.settle([...words(plain, 0), ...words(one, 1), ...words(four, 4)])
    expect(answers.every(({ ok }) => ok)).toBe(true)
    const to = pawl.engine.now() + 60_000
    const { events } = await pawl.engine.events({ by: 'type', types: ['progressed'], from, to, limit: 100 })
    const ids = events.map(({ jobId }) => jobId).sort()
    expect(ids).toEqual([one.job.id, ...Array.from({ length: 4 }, () => four.job.id)].sort())
    const ended = await pawl.engine.events({ by: 'type', types: ['succeeded'], from, to, limit: 100 })
    expect(ended.events.map(({ jobId }) => jobId).sort()).toEqual(claimed.map(({ job: { id } }) => id).sort())
  })
})
