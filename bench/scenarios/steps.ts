import type { Scenario } from '../scenario.ts'

const STEPS = 3

/** A handler goes on when its step is durable: what counts is how many jobs' steps share a commit. */
export const steps: Scenario = {
  name: 'steps',
  title: `durable steps, ${STEPS} per job`,
  figure: 'perSecond',
  unit: 'steps/s',
  better: 'more',
  contenders: ['pawl', 'dbos', 'openworkflow'],
  note: `costs are those of a job with its ${STEPS} steps`,
  async run(stage, size) {
    // A step costs more than a no-op job: a tenth of the jobs takes as long.
    const few = { warm: size.warm / 10, jobs: size.jobs / 10 }
    const figures = await stage.fillAndDrain(few, { work: { steps: STEPS } })
    return { ...figures, perSecond: STEPS * (figures['perSecond'] ?? 0) }
  },
}
