import type { Scenario } from '../scenario.ts'

export const embedded: Scenario = {
  name: 'embedded',
  title: 'drain, embedded (SQLite)',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl-sqlite'],
  note: 'no server: all CPU is in the worker process',
  async run(stage, { jobs }) {
    const count = stage.jobs(jobs)
    await stage.fill(count)
    const figures = await stage.drain(count)
    return { ...figures, diskBytes: (await stage.meter.diskBytes()) / count }
  },
}
