import type { ContenderName } from '../contenders.ts'
import { type Scenario, withPlain } from '../scenario.ts'

const KEYS = 1_000
/** Of as many jobs as are drained, so many more wait in front of them, for a key that lets nobody in. */
const IN_FRONT = 0.25
const NOTE = `half of the jobs, in turns of ${KEYS.toLocaleString('en')} keys, each of which may have as many at once as a worker`

/** pg-boss has groups with a concurrency; BullMQ has groups only in its commercial edition. */
export const limited = among('limited', 'drain, 1,000 limit keys', ['pawl', 'pg-boss'], 0, NOTE)
/** Nobody else has a group that is shut while others run. */
export const limitedFull = among(
  'limited-full',
  'drain, 1,000 limit keys and one that is full',
  ['pawl'],
  IN_FRONT,
  `${NOTE}; a quarter as many more stand in front of them, of one more key, whose rate is used up`,
)

function among(
  name: string,
  title: string,
  contenders: readonly ContenderName[],
  inFront: number,
  note: string,
): Scenario {
  return {
    name,
    title,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders,
    note: `${note}. Right before, the same jobs without keys`,
    async run(stage, { warm, jobs }) {
      const size = { warm: warm / 4, jobs: jobs / 2 }
      return withPlain(
        stage,
        (empty) => empty.fillAndDrain(size),
        async () => {
          if (inFront > 0) await stage.fill(Math.ceil(size.jobs * inFront), { limitKeys: 0 })
          return stage.fillAndDrain(size, {
            bulk: { limitKeys: KEYS },
            work: { limited: true },
            endless: inFront > 0,
          })
        },
      )
    },
  }
}
