/** What a scheduler spends on judging, and what it may. */
import { cpuUsage } from 'node:process'
import type { Workload } from './workload.ts'

export const JUDGING_BARS = [
  { rules: 100, mostUs: 10 },
  { rules: 10_000, mostUs: 1_000 },
] as const

const ROUNDS = 5

/** Microseconds of CPU for a job, the median of some rounds. */
export function judgingCost({ jobs, judge }: Workload, count: number): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = cpuUsage()
    for (let done = 0; done < count; )
      for (const job of jobs.slice(0, count - done)) {
        judge(job)
        done += 1
      }
    const { user, system } = cpuUsage(before)
    return (user + system) / count
  }).sort((a, b) => a - b)
  return rounds[Math.floor(ROUNDS / 2)] ?? Number.NaN
}
