import type { Job, Time } from '../../core/job.ts'
import { HANDED_OUT_MS } from '../handed-out.ts'
import type { Shelf, Shelves } from './shelves.ts'

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
