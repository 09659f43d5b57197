import type { ContenderName } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import type { Size } from '../size.ts'
import type { Stage } from '../stage.ts'

const FAR_MS = 30 * 86_400_000

export const besideFinished = beside('finished', ['pawl', 'graphile-worker', 'pg-boss'], async (stage, size) => {
  await stage.fill(size.beside)
  await stage.analyze()
  await stage.drain(size.beside)
})

export const besideDelayed = beside('delayed', ['pawl', 'graphile-worker', 'pg-boss'], (stage, size) =>
  stage.fill(size.beside, FAR_MS),
)

/** Waiting for a signal, holding no worker. The peers have no such thing. */
export const besideParked = beside('parked', ['pawl'], async (stage, { beside }) => {
  await stage.actor().ask({ op: 'park', url: stage.url, count: beside })
})

export const besideQueued: Scenario = {
  ...beside('queued', ['pawl', 'graphile-worker', 'pg-boss'], (stage, size) => stage.fill(size.beside)),
  run: (stage, { jobs, beside }) => stage.drain(Math.min(jobs, beside), { endless: true, pages: true }),
}

function beside(
  what: string,
  contenders: readonly ContenderName[],
  fill: (stage: Stage, size: Size) => Promise<unknown>,
): Scenario {
  return {
    name: `beside-${what}`,
    title: `drain beside 1,000,000 ${what}`,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders,
    async fill(stage, size) {
      await fill(stage, size)
    },
    async run(stage, { jobs }) {
      const count = stage.jobs(jobs)
      await stage.fill(count)
      await stage.analyze()
      return stage.drain(count, { pages: true })
    },
  }
}
