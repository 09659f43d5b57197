import type { ContenderName } from '../contenders.ts'
import { type Figures, type Scenario, withPlain } from '../scenario.ts'
import type { Size } from '../size.ts'
import type { Stage } from '../stage.ts'
import { parkMany } from './parked.ts'

const FAR_MS = 30 * 86_400_000

export const besideFinished = beside('finished', ['pawl', 'graphile-worker', 'pg-boss'], async (stage, size) => {
  await stage.fill(size.beside)
  await stage.drain(size.beside)
})

export const besideDelayed = beside('delayed', ['pawl', 'graphile-worker', 'pg-boss'], (stage, size) =>
  stage.fill(size.beside, { delayMs: FAR_MS }),
)

/** Waiting for a signal, holding no worker. The peers have no such thing. */
export const besideParked = beside('parked', ['pawl'], parkMany)

/** Of those that are queued, some are drained: none are added. */
export const besideQueued = beside(
  'queued',
  ['pawl', 'graphile-worker', 'pg-boss'],
  (stage, size) => stage.fill(size.beside),
  (stage, { warm, jobs, beside }) =>
    stage.drain(Math.min(jobs, beside / 2), { warm: Math.min(warm, beside / 4), endless: true, pages: true }),
)

function beside(
  what: string,
  contenders: readonly ContenderName[],
  fill: (stage: Stage, size: Size) => Promise<unknown>,
  drain: (stage: Stage, size: Size) => Promise<Figures> = (stage, size) => stage.fillAndDrain(size, { pages: true }),
): Scenario {
  return {
    name: `beside-${what}`,
    title: `drain beside many ${what}`,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders,
    note: 'pawl drains an empty store right before, too',
    fill,
    run: (stage, size) =>
      withPlain(
        stage,
        (empty) => empty.fillAndDrain(size, { pages: true }),
        async () => ({ ...(await drain(stage, size)), depth: await stage.meter.depth() }),
      ),
  }
}
