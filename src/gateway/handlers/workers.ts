/** Workers: each tells that it is there; who has been silent for long is not listed as present. */
import type { z } from 'zod'
import type { SeenWorker } from '../../engine/workers.ts'
import { type Handler, json } from '../call.ts'
import { beyond } from '../caps.ts'
import type { pageQuery } from '../contract/queries.ts'
import type { worker } from '../contract/schemas.ts'
import { Objected, objection } from '../problem.ts'

export const listWorkers: Handler = async (call, { workers }) => {
  const { limit, cursor } = call.query as z.output<typeof pageQuery>
  const page = await workers.page(call.token.tenant, cursor, limit)
  return json(200, { workers: page.workers.map(workerToWire), cursor: page.cursor })
}

const workerToWire = ({ workerId, about, seenAt, present }: SeenWorker): object => ({
  workerId,
  ...about,
  seenAt: new Date(seenAt).toISOString(),
  present,
})

/** While a worker is present, its record is its token's: nobody speaks for somebody else's. */
export const reportWorker: Handler = async (call, { workers, workerCount, caps }) => {
  const workerId = call.params['worker'] ?? ''
  const { tenant, id } = call.token
  const there = await workers.find(tenant, workerId)
  if (there?.present === true && there.token !== id)
    throw new Objected(objection('FORBIDDEN', 'Somebody else works under this name: choose another.'))
  if (there === undefined && !(await workerCount.letsIn(tenant))) throw beyond('workersPerTenant', caps)
  const seenAt = await workers.report(tenant, workerId, id, call.body as z.output<typeof worker>)
  return json(200, { workerId, seenAt: new Date(seenAt).toISOString() })
}
