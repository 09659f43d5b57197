/**
 * What judging a job by a policy costs the scheduler: `node bench/judging.ts [jobs]`. Promised are 10 µs of CPU for each job at 100 rules, and
 * 1 ms at 10,000.
 */
import { JUDGING_BARS, judgingCost } from './judging/cost.ts'
import { workload } from './judging/workload.ts'

const jobs = Number(process.argv[2] ?? 100_000)

for (const { rules, mostUs } of JUDGING_BARS) {
  const work = workload(rules)
  const concerned = work.jobs.reduce((sum, job) => sum + work.concerning(job), 0) / work.jobs.length
  const us = judgingCost(work, jobs)
  console.log(
    `${rules} rules, ${concerned.toFixed(1)} concern a job: ${us.toFixed(2)} µs of CPU each; at most ${mostUs} are promised`,
  )
}
