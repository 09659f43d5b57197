import type { Scenario } from '../scenario.ts'

export const embedded: Scenario = {
  name: 'embedded',
  title: 'drain, embedded (SQLite)',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl-sqlite'],
  note: 'no server: all CPU is in the worker process',
  async run(stage, size) {
    const figures = await stage.fillAndDrain(size)
    return { ...figures, diskBytes: (await stage.meter.diskBytes()) / (stage.jobs(size.warm) + stage.jobs(size.jobs)) }
  },
}
