import type { Job, Time } from '../../core/job.ts'
import type { Agenda } from '../agenda.ts'
import { HANDED_OUT_MS } from '../handed-out.ts'
import type { Shelf, Shelves } from './shelves.ts'

export function due(shelves: Shelves, limit: number, now: Time, agenda: Agenda): readonly Job[] {
  const jobs: Job[] = []
  const times = shelves[agenda]
  for (let next = times.first(); next !== undefined && jobs.length < limit; next = times.first()) {
    if (next.at > now) break
    const { job, number } = shelves.jobs.get(next.name) as Shelf
    times.set(job.id, now + HANDED_OUT_MS, number)
    jobs.push(job)
  }
  return jobs
}
