/** What judging costs: as many rules are looked at as concern a job, however many there are for others; and, where nothing else runs, what that takes. */
import { expect, it } from 'vitest'
import { JUDGING_BARS, judgingCost } from '../../bench/judging/cost.ts'
import { workload } from '../../bench/judging/workload.ts'
import { byTheClock } from '../support/scale.ts'

it.each(JUDGING_BARS)(
  'of $rules rules those are looked at that concern a job, within $mostUs µs of CPU',
  ({ rules, mostUs }) => {
    let looked = 0
    const work = workload(rules, () => {
      looked += 1
    })
    const { judge, concerning } = work
    const jobs = work.jobs.slice(0, 200)
    // A route is looked at besides, of each of two policies at most two.
    const most = jobs.map((job) => concerning(job) + 4)
    for (const again of [false, true])
      for (const [i, job] of jobs.entries()) {
        looked = 0
        judge(job)
        expect(looked, `${job.id}${again ? ', again' : ''}`).toBeLessThanOrEqual(most[i] ?? 0)
      }
    expect(Math.max(...most), 'most rules concern nobody else’s jobs').toBeLessThan(rules / 4 + 20)
    if (byTheClock) expect(judgingCost(workload(rules), 20_000)).toBeLessThanOrEqual(mostUs)
  },
)
