import type { Job, Time } from '../../core/job.ts'
import type { Shelf, Shelves } from './shelves.ts'

/** How long a ticker may take before its jobs are handed to another one. */
const HANDED_OUT_MS = 5_000

export function due(shelves: Shelves, limit: number, now: Time): readonly Job[] {
  const jobs: Job[] = []
  for (let next = shelves.ticks.first(); next !== undefined && jobs.length < limit; next = shelves.ticks.first()) {
    if (next.at > now) break
    const { job, number } = shelves.jobs.get(next.name) as Shelf
    shelves.ticks.set(job.id, now + HANDED_OUT_MS, number)
    jobs.push(job)
  }
  return jobs
}
