/** `GET /dead-letters:causes`: what was put aside, by what it has in common, with samples. The newest so many are read. */
import type { z } from 'zod'
import { type Cause, causeOf } from '../../core/cause.ts'
import { deadLetterStates, type Job, type Time } from '../../core/job.ts'
import { type Handler, json } from '../call.ts'
import type { CauseAnswer, CausesAnswer } from '../contract/answers.ts'
import type { causesQuery } from '../contract/queries.ts'
import { timeToWire } from '../contract/wire.ts'
import { foundJobs } from './jobs.ts'

const SAMPLES = 5
const TYPES_TOLD = 10
const HOURS_TOLD = 12
const HOUR_MS = 60 * 60_000

interface Group {
  readonly cause: Cause
  /** Newest first. */
  readonly jobs: Job[]
}

export const listCauses: Handler = async (call, { engine }) => {
  const { limit, cursor, failed } = call.query as z.output<typeof causesQuery>
  const states = deadLetterStates(failed === 'true')
  const found = await foundJobs(engine, { tenant: call.token.tenant, states, order: 'newest', limit, cursor })
  const groups = new Map<string, Group>()
  for (const job of found.items) {
    const cause = causeOf(job)
    if (cause === undefined) continue
    const group = groups.get(cause.fingerprint) ?? { cause, jobs: [] }
    group.jobs.push(job)
    groups.set(cause.fingerprint, group)
  }
  const causes = [...groups.values()].sort((a, b) => b.jobs.length - a.jobs.length)
  const now = engine.now()
  return json(200, {
    causes: causes.map((group) => told(group, now)),
    read: found.items.length,
    ...(found.cursor && { cursor: found.cursor }),
  } satisfies CausesAnswer)
}

function told({ cause, jobs }: Group, now: Time): CauseAnswer {
  const ends = jobs.map(({ endedAt, updatedAt }) => endedAt ?? updatedAt)
  const types = [...new Set(jobs.map(({ spec }) => spec.kind.type))]
  const { reason, ...rest } = cause
  return {
    ...rest,
    ...(reason && { reason }),
    count: jobs.length,
    firstAt: timeToWire(Math.min(...ends)),
    lastAt: timeToWire(Math.max(...ends)),
    types: types.slice(0, TYPES_TOLD),
    hours: byHour(ends, now),
    ids: jobs.map(({ id }) => id),
    samples: jobs.slice(0, SAMPLES).map((job) => ({
      id: job.id,
      type: job.spec.kind.type,
      failures: job.failures,
      endedAt: timeToWire(job.endedAt ?? job.updatedAt),
      message: job.error?.message ?? '',
    })),
  }
}

/** The oldest first. */
function byHour(ends: readonly Time[], now: Time): readonly number[] {
  const hours = Array.from({ length: HOURS_TOLD }, () => 0)
  for (const end of ends) {
    const at = HOURS_TOLD - 1 - Math.floor(Math.max(0, now - end) / HOUR_MS)
    if (at >= 0) hours[at] = (hours[at] ?? 0) + 1
  }
  return hours
}
