import type { Chapter } from '../program.ts'
import { ended, owned } from './settles.ts'

export const reads: Chapter = async (fixture) => {
  const { store, tenant } = fixture
  const [parent] = await fixture.insert({
    correlationId: 'trace',
    labels: { site: 'x' },
    workflowId: 'w',
    alias: 'named',
  })
  if (parent === undefined) throw new Error('one is inserted')
  await fixture.insert({ parentId: parent.id, correlationId: 'trace', dedupeKey: 'd' })
  const jobs = await owned(fixture, 3, 'read')
  await store.commit(jobs.map((job) => ended(fixture, job, '"out"')))
  const failed = await fixture.claimed({ queue: 'failed', type: 'failing' })
  const fence = failed.lease?.fence ?? ''
  const fault = { code: 'bad_request', message: 'no' }
  await fixture.say(failed, { type: 'fail', fence, fault, requestId: 'asked', correlationId: 'elsewhere' })

  const [first] = jobs
  const id = first?.id ?? ''
  await store.load([{ id, bodies: ['input', 'output'], log: 50, check: true }])
  await store.load([
    { id: failed.id, requestId: 'asked', bodies: ['error/'] },
    { id: 'named', tenant },
  ])
  await store.load([{ id, log: 1 }, { id: fixture.id() }])

  const page = { order: 'newest', limit: 5 } as const
  await store.find({ ...page, tenant })
  await store.find({ ...page, tenant, order: 'oldest', limit: 1 })
  await store.find({ ...page, tenant, states: ['succeeded', 'failed'], queues: ['read', 'failed'] })
  await store.find({ ...page, tenant, types: ['failing'], code: 'bad_request' })
  await store.find({ ...page, tenant, labels: { site: 'x' }, workflowId: 'w' })
  await store.find({ ...page, tenant, parentId: parent.id })
  await store.find({ ...page, correlationId: 'trace' })
  await store.find({ ...page, tenant, dedupeKey: 'd' })
  await store.find({ ...page, endedBefore: fixture.begin + 1, roughlyBornBefore: fixture.begin + 1 })
  await store.find({ ...page, longEnded: { from: 0, to: fixture.begin + 1 } })

  const span = { from: fixture.begin, to: fixture.begin + 1, limit: 50 } as const
  await store.events({ by: 'type', tenant, types: ['enqueued', 'claimed'], ...span })
  await store.events({ by: 'type', types: ['succeeded'], ...span, limit: 2 })
  await store.events({ by: 'type', tenant, types: ['failed', 'cancelled'], ...span })
  await store.events({ by: 'correlation', tenant, correlationId: 'trace', limit: 50 })
  await store.events({ by: 'correlation', correlationId: 'elsewhere', limit: 50 })
  await store.events({ by: 'job', id, afterRev: 1, limit: 2 })
  await fixture.feed()
  await store.events({ by: 'feed', after: undefined, limit: 1 })
  await store.events({ by: 'tally' })
  await store.events({ by: 'tally', tenant })
  await store.events({ by: 'tally', tenant, queue: 'q' })
  await store.events({ by: 'backlog', lanes: 5 })
}
