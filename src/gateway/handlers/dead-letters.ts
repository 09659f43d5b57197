/** Dead letters: the list of them, and one with its input and last error. */

import type { z } from 'zod'
import { forwardsFailed } from '../../core/dialects/bond.ts'
import { deadLetterStates } from '../../core/job.ts'
import { refuse } from '../../core/refuse.ts'
import { type Handler, json } from '../call.ts'
import type { deadLettersQuery } from '../contract/queries.ts'
import { jobToWire } from '../contract/wire.ts'
import { isMasked, jobFor } from '../masking.ts'
import { Objected, problemOf } from '../problem.ts'
import { foundJobs, loaded, nameOf, shown } from './jobs.ts'

export const listDeadLetters: Handler = async (call, { engine }) => {
  const { failed, limit, cursor, dialect } = call.query as z.output<typeof deadLettersQuery>
  const isForwarded = dialect !== undefined && forwardsFailed(nameOf(dialect))
  const states = deadLetterStates(failed === undefined ? isForwarded : failed === 'true')
  const query = { tenant: call.token.tenant, states, order: 'newest', limit, cursor } as const
  const found = await foundJobs(engine, query)
  return json(200, { jobs: found.items.map((job) => shown(call, job, dialect)), cursor: found.cursor })
}

export const showDeadLetter: Handler = async (call, parts) => {
  const { job } = await loaded(call, parts, [])
  if (job.error === undefined)
    throw new Objected(problemOf(refuse('NOT_FOUND', { job, message: 'The job is not among the dead letters.' })))
  const masked = isMasked(call)
  // The last error and no other: a job may have had thousands.
  const wanted = ['input', ...(job.error.body === undefined ? [] : [job.error.body.name])]
  const { bodies } = await loaded(call, parts, masked ? [] : wanted)
  return json(200, { ...jobToWire(jobFor(call, job), true), bodies, masked })
}
