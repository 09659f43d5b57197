import type { ContenderName } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'

/** As many bytes in all as are worth a few seconds: of big ones there are fewer. */
export const payload8k = payload('payload-8k', '8 KB', 8 * 1_024, 4, ['bullmq-redis', 'bullmq-postgres'])
export const payload1m = payload('payload-1m', '1 MB', 2 ** 20, 1_000, ['bullmq-redis'])

function payload(
  name: string,
  words: string,
  bytes: number,
  fewer: number,
  others: readonly ContenderName[],
): Scenario {
  return {
    name,
    title: `drain, ${words} payloads`,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders: ['pawl', 'graphile-worker', 'pg-boss', ...others],
    note: `text that nobody can compress; a ${fewer.toLocaleString('en')}th of the jobs`,
    async run(stage, size) {
      const few = { warm: size.warm / (4 * fewer), jobs: size.jobs / fewer }
      return stage.fillAndDrain(few, { bulk: { bytes }, least: Math.min(20, stage.bounds.least) })
    },
  }
}
